#pragma once
#include <string>
#include <vector>

#include "sagips/analysis/figure.hpp"
#include "sagips/record/event.hpp"
#include "sagips/record/results.hpp"

namespace sagips::analysis {

/// One run as a curve among others.
struct RunCourse {
  std::string name;
  std::vector<record::Event> metrics;
};

/// One panel for each free parameter of the first run, one curve a run, against accumulated training
/// time: the residual of eq. (6) in per cent where the truth is known, else the value.
/// Runs without evaluations are left out. references: of the floor, matched by name; may be empty
Figure runs_over_time(const std::vector<RunCourse>& runs,
                      const std::vector<record::ParameterResult>& references);

}  // namespace sagips::analysis

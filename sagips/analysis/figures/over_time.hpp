#pragma once
#include <string>
#include <vector>

#include "sagips/analysis/figure.hpp"
#include "sagips/record/event.hpp"
#include "sagips/record/results.hpp"

namespace sagips::analysis {

/// One panel for each free parameter against accumulated training time.
///
/// With a known truth: the residual of eq. (6) in per cent, and the Cramer-Rao floor when
/// `references` has it. Without: the value in its unit, and the fit with its error when
/// `references` has it. The band is the spread over noise vectors, which is no error.
/// metrics: as `record::read_metrics` gives them; references: matched by name, may be empty
Figure residuals_over_time(const std::vector<record::Event>& metrics,
                           const std::vector<record::ParameterResult>& references);

/// One run as a curve among others.
struct RunLearningCurve {
  std::string name;
  std::vector<record::Event> metrics;
  std::string variant{};  ///< what it has in common with others
};

/// One panel for each free parameter of the first run, one curve a run, against accumulated training
/// time: the residual of eq. (6) in per cent where the truth is known, else the value.
/// Runs without evaluations are left out. references: of the floor, matched by name; may be empty
Figure runs_over_time(const std::vector<RunLearningCurve>& runs,
                      const std::vector<record::ParameterResult>& references);

/// Losses in units of their equilibrium against accumulated training time on a logarithmic axis.
/// Where epochs lie closer than the eye can tell: their mean, and a band from smallest to largest.
Figure losses_over_time(const std::vector<record::Event>& metrics);

/// Distances between held-out and synthetic events against accumulated training time.
Figure distances_over_time(const std::vector<record::Event>& metrics);

}  // namespace sagips::analysis

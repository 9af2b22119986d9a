#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sagips/record/event.hpp"
#include "sagips/record/results.hpp"

namespace sagips::analysis {

/// How far the parameter that moved most still went in the last fifth of the training time.
struct Settling {
  std::string parameter;
  double move = 0;   ///< |last - then| in the unit below
  std::string unit;  ///< "error", "Cramér-Rao floor" or "spread", whichever is known first
  double from_s = 0, to_s = 0;
};

/// Empty when there are too few evaluations (less than three after the first), or no unit.
/// metrics: as `record::read_metrics` gives them; references: matched by name, may be empty
std::optional<Settling> largest_move(const std::vector<record::Event>& metrics,
                                     const std::vector<record::ParameterResult>& references);

}  // namespace sagips::analysis

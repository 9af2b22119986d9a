#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sagips/record/event.hpp"
#include "sagips/record/results.hpp"

namespace sagips::analysis {

/// How far the parameter that moved most still went in the last fifth of the epochs. No clock takes
/// part: a training that is repeated on a busier machine gets the same answer.
struct Settling {
  std::string parameter;
  double move = 0;   ///< |last - then| in the unit below
  std::string unit;  ///< "error", "Cramér-Rao floor" or "spread", whichever is known first
  std::int64_t from_epoch = 0, to_epoch = 0;
};

/// Empty when there are too few evaluations (fewer than three after the first), or no unit.
/// metrics: as `record::read_metrics` gives them; references: matched by name, may be empty
std::optional<Settling> largest_move(const std::vector<record::Event>& metrics,
                                     const std::vector<record::ParameterResult>& references);

}  // namespace sagips::analysis

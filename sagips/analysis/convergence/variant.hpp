#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sagips/analysis/convergence/learning_curve.hpp"

namespace sagips::analysis {

/// One way of training that is compared with others, and what the members of its ensemble did.
struct ConvergenceVariant {
  std::string label;                          ///< as tables and keys show it
  std::string exchange;                       ///< empty: one rank has nobody to exchange with
  std::int64_t ranks = 1;                     ///< of each member
  bool divided = false;                       ///< batch divided among ranks, eq. (10)
  std::optional<std::int64_t> outer_every{};  ///< where the outer period is scanned
  EnsembleLearningCurve curve{};
  std::vector<double> time_s{};             ///< of each member's whole training
  std::vector<double> events_per_second{};  ///< of each member, all ranks together, eq. (9)

  std::size_t members() const { return curve.member_residuals.size(); }
};

}  // namespace sagips::analysis

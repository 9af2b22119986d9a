#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "sagips/simulate/cluster.hpp"

namespace sagips::simulate {

/// The gradients that a rank brings to an epoch: uniform in (-0.5, 0.5), different on every rank.
void fill_gradients(std::span<float> gradients, int rank, std::int64_t epoch);

/// Whether all ranks hold the mean of what they brought. One for all ranks of a simulation.
///
/// A sum of n numbers below 1/2, in float and in any order, is off by less than n * n / 2 rounding
/// errors of 2^-24, so the mean by n / 2 of them; source: Higham, Accuracy and Stability of Numerical
/// Algorithms, 2nd ed., eq. (4.4)
class MeanCheck {
 public:
  /// What a rank holds after `fill_gradients` and an exchange. collective
  void look(Cluster& cluster, std::span<const float> result, int rank, int ranks,
            std::int64_t epoch);
  bool passed() const { return looked_ && equal_ && largest_error_ <= bound_; }
  double largest_error() const { return largest_error_; }

 private:
  void compare_with_mean(int ranks, std::int64_t epoch);

  std::vector<float> first_;  ///< what rank 0 holds
  bool looked_ = false, equal_ = true;
  double largest_error_ = 0, bound_ = 0;
};

}  // namespace sagips::simulate

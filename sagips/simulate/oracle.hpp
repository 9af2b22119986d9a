#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "sagips/simulate/cluster.hpp"

namespace sagips::simulate {

/// The gradients that a rank brings to an epoch: multiples of 2^-10 in [-0.5, 0.5), different on
/// every rank. Sums of up to 32,768 of them are exact in float, in any order.
void fill_gradients(std::span<float> gradients, int rank, std::int64_t epoch);

/// Whether all ranks hold the mean of what they brought. One for all ranks of a simulation.
///
/// Sums are exact, so only scaling rounds: a mean below 1/2 is off by no more than 2^-24, while the
/// smallest number that is left out of n shows as 2^-10 / n.
class MeanCheck {
 public:
  /// epochs: those whose gradients the result is the mean of. collective
  void look(Cluster& cluster, std::span<const float> result, int rank, int ranks,
            std::span<const std::int64_t> epochs);

  /// The two parts of it, on one rank.
  void compare_with_mean(std::span<const float> result, int ranks,
                         std::span<const std::int64_t> epochs);
  void compare_with_first(std::span<const float> result);

  bool passed() const { return looked_ && equal_ && largest_error_ <= bound; }
  double largest_error() const { return largest_error_; }  ///< infinity for NaN

 private:
  static constexpr double bound = 0x1p-24;

  std::vector<float> first_;  ///< what rank 0 holds
  bool looked_ = false, equal_ = true;
  double largest_error_ = 0;
};

}  // namespace sagips::simulate

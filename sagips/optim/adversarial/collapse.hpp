#pragma once
#include <cstdint>
#include <string>

#include "sagips/data/torch.hpp"
#include "sagips/nn/state.hpp"

namespace sagips::optim {

/// What tells of a batch whether it is empty, or all alike: the standard deviation of each number of an example
/// over the batch (root mean square over all numbers), and the mean of the absolute values.
/// shape: [rows, ...] -> [2] float64, where the examples are
torch::Tensor spread_of(const torch::Tensor& examples);

/// Notices that a generator makes nothing any more, the same whatever it is given, or ever larger numbers.
///
/// Collapsed is a step whose made examples spread no more than `share` of the real ones, and of the most that
/// made ones have spread so far: a network that has learned nothing yet spreads little, too, and is left
/// time to. So is one whose made examples are as small beside real ones. Diverged is a step whose made examples
/// spread as many times more than the real ones, and than the least so far. The run ends behind ten such steps in
/// a row, or where a percentage of the made examples' measure says behind ten steps that all of them are empty (it
/// is 100 exactly).
class Collapse {
 public:
  explicit Collapse(double share, const torch::Device& device = torch::kCPU);

  /// made, real: spreads of a step's examples; is_empty: all percentages of a measure are 100. Nothing is read
  /// from the device.
  void see(const torch::Tensor& made, const torch::Tensor& real, const torch::Tensor& is_empty);
  /// Why the run ends, by the first step that says so; empty: it goes on.
  std::string reason() const;
  void state(nn::StateList& list);

 private:
  double share_;
  torch::Tensor largest_;  ///< spread of made examples so far. [2] float64
  torch::Tensor
      smallest_;  ///< deviation above 0 of made examples so far; infinity: none. [] float64
  /// Steps seen, the last in a row that collapsed, that diverged, and whether the last was empty. [4] int64
  torch::Tensor counts_;
};

}  // namespace sagips::optim

#pragma once
#include <cstdint>
#include <string>

#include "sagips/data/torch.hpp"
#include "sagips/nn/state.hpp"

namespace sagips::optim {

/// What tells of a batch whether it is empty, or all alike.
struct Spread {
  /// Standard deviation of each number of an example over the batch, root mean square over all numbers.
  double deviation = 0;
  double size = 0;  ///< mean of the absolute values
};
/// shape: [rows, ...]
Spread spread_of(const torch::Tensor& examples);

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
  explicit Collapse(double share) : share_(share) {}

  /// made, real: spreads of a step's examples; is_empty: all percentages of a measure are 100
  void see(const Spread& made, const Spread& real, bool is_empty);
  std::string reason() const;  ///< empty: there is none to end
  void state(nn::StateList& list);

 private:
  double share_;
  Spread largest_;       ///< of made examples so far
  double smallest_ = 0;  ///< deviation above 0 of made examples so far; 0: none
  std::int64_t steps_ = 0, alike_ = 0,
               far_ = 0;  ///< seen; the last in a row that collapsed, diverged
  bool is_empty_ = false;
};

}  // namespace sagips::optim

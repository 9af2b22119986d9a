#pragma once
#include "sagips/comm/exchange.hpp"

namespace sagips::comm {

/// Leaves each rank alone: an ensemble of independent runs.
///
/// cost:    nothing
/// source:  SAGIPS paper, Sec. VI-A ("ensemble analysis")
class None final : public Exchange {
 public:
  Task gradients(ReplicaView, Step) override { co_return; }
  Cost cost(std::size_t, Step) const override { return {}; }
  Promise promise() const override { return {.exact = false, .waits = false, .repeats = true}; }
  std::vector<int> partners(Step) const override { return {}; }
  std::string description() const override { return "none"; }
};

}  // namespace sagips::comm

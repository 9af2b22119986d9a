#pragma once
#include "sagips/comm/group.hpp"

namespace sagips::comm {

/// Averages by passing whole arrays around a ring, as the SAGIPS paper does.
///
/// Each rank forwards what came last, so after n - 1 hops every rank has seen all arrays. They are
/// kept and added in rank order, which makes the result bit-equal on all ranks and takes n - 1
/// arrays of memory. `chunked_ring` sends less from three ranks on.
///
/// cost:    n - 1 messages, (n - 1) * 4 * shared bytes
/// source:  SAGIPS paper, Sec. IV-B2, pseudo code 1
class Ring final : public Exchange {
 public:
  Ring(const Site& site, std::vector<int> ranks);

  Task gradients(ReplicaView replica, Step step) override;
  Cost cost(std::size_t floats, Step step) const override;
  Promise promise() const override { return {.exact = true, .waits = true, .repeats = true}; }
  std::vector<int> partners(Step) const override { return group_.ranks(); }
  std::string description() const override;

 private:
  Group group_;
  std::vector<float> mine_;
  std::vector<float> others_;  ///< [n - 1][floats]; arrays in the order in which they arrive
};

}  // namespace sagips::comm

#pragma once
#include "sagips/comm/group.hpp"

namespace sagips::comm {

/// Averages by passing whole arrays around a ring, as the SAGIPS paper does.
///
/// Each rank forwards what came last, so after n - 1 hops every rank has seen all arrays. All ranks
/// add them in one order, which makes the result bit-equal: up to 32 ranks keep all arrays, more keep
/// those of their block of 32 ranks and the sum of each other block. `chunked_ring` sends less from
/// three ranks on.
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
  Task keep_all(std::span<float> own);
  Task add_blocks(std::span<float> own);
  void add_to_sum(int rank, std::span<const float> values);

  Group group_;
  std::vector<float> mine_;
  std::vector<float>
      others_;               ///< [arrays][floats]: all in the order of arrival, or the own block's
  std::vector<float> sums_;  ///< [blocks][floats]
};

}  // namespace sagips::comm

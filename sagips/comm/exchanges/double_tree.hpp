#pragma once
#include <deque>

#include "sagips/comm/group.hpp"
#include "sagips/comm/topology.hpp"
#include "sagips/core/config/config.hpp"

namespace sagips::comm {

/// Reduces and broadcasts one half of the array over each of two binary trees, in segments.
///
/// A rank that forwards in one tree is a leaf of the other, so all links carry data; segments on
/// their way up and down overlap. Good for long arrays over many ranks, whatever their number.
///
/// cost:    for each segment of each half: one message to the parent, one to each child
/// source:  Sanders, Speck, Traeff, Parallel Computing 35 (2009) 581
class DoubleTree final : public Exchange {
 public:
  struct Config {
    std::int64_t segment_floats = 16384;
    void fields(core::FieldList& list);
  };
  DoubleTree(const Config& config, const Site& site, std::vector<int> ranks);

  Task gradients(ReplicaView replica, Step step) override;
  Cost cost(std::size_t floats, Step step) const override;
  Promise promise() const override { return {.exact = true, .waits = true, .repeats = true}; }
  std::vector<int> partners(Step) const override { return group_.ranks(); }
  std::string description() const override;

 private:
  /// What the two directions of one tree share.
  struct Half {
    TreePlace place;
    std::span<float> values;
    std::vector<float> buffer;
    std::deque<Request> handed_up;  // awaited one by one while others are added
    int summed = 0;                 ///< segments that hold the sum of this rank's subtree
  };
  Task reduce(int tree);
  Task broadcast(int tree);
  int segments(std::size_t floats) const;

  Config config_;
  Group group_;
  std::array<Half, 2> halves_;
};

}  // namespace sagips::comm

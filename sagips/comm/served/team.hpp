#pragma once
#include <memory>
#include <span>
#include <vector>

#include "sagips/comm/group.hpp"

namespace sagips::comm {

/// The ranks that work as one, a batch each: they average gradients by an exact exchange, the first one
/// speaks with owners for all, and tells the others what has become of their weights.
class Team {
 public:
  /// tag: the group's, for weights; ranks: with this one; inner: none where it is alone
  Team(const Group& group, int tag, std::vector<int> ranks, std::unique_ptr<Exchange> inner)
      : group_(group), tag_(tag), ranks_(std::move(ranks)), inner_(std::move(inner)) {}

  bool is_alone() const { return ranks_.size() == 1; }
  bool leads() const { return ranks_.front() == group_.communicator().rank(); }
  /// The exchange of gradients. none: this rank is alone
  Exchange* inner() const { return inner_.get(); }
  /// The first rank's weights on all. collective over the team
  Task share(std::span<float> weights) const;
  /// Of one exchange, besides what `inner` costs: `share` where this rank leads.
  Cost cost(std::size_t floats) const;

 private:
  const Group& group_;
  int tag_;
  std::vector<int> ranks_;
  std::unique_ptr<Exchange> inner_;
};

}  // namespace sagips::comm

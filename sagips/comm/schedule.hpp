#pragma once
#include <functional>
#include <string>
#include <vector>

#include "sagips/comm/group.hpp"

namespace sagips::comm {

/// One round of an all-reduce that works by messages: send a piece, receive a piece, add it or put
/// it in place, and divide a piece that is complete by the number of ranks.
struct Hop {
  enum class Action { add, replace };
  int to = -1, from = -1;  ///< places in the group; -1: nothing is sent, nothing received
  Piece send{}, receive{};
  Action action = Action::add;
  Piece finished{};  ///< holds the sum of all after this hop
};

/// All hops of one rank, in order.
using Schedule = std::vector<Hop>;

Cost cost_of(const Schedule& schedule);

/// An exchange that is a schedule.
class ScheduledExchange final : public Exchange {
 public:
  /// What this rank of the group does for an array of that length.
  using Plan = std::function<Schedule(const Group& group, std::size_t floats)>;
  ScheduledExchange(Group group, std::string description, Plan plan)
      : group_(std::move(group)), description_(std::move(description)), plan_(std::move(plan)) {}

  Task gradients(ReplicaView replica, Step step) override;
  Cost cost(std::size_t floats, Step step) const override;
  Promise promise() const override { return {.exact = true, .waits = true, .repeats = true}; }
  std::vector<int> partners(Step) const override { return group_.ranks(); }
  std::string description() const override { return description_; }

 private:
  const Group group_;
  std::string description_;
  Plan plan_;
  Schedule schedule_;  ///< of the length seen last
  std::size_t floats_ = 0;
  std::vector<float> buffer_;
};

}  // namespace sagips::comm

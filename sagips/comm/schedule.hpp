#pragma once
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

/// Runs a schedule: the mean of `values` over the group. `buffer` is grown as needed and must stay.
Task run_schedule(const Group& group, const Schedule& schedule, std::span<float> values,
                  std::vector<float>& buffer);

/// Base of the exchanges that are a schedule.
class ScheduledExchange : public Exchange {
 public:
  Task gradients(ReplicaView replica, Step step) final;
  Cost cost(std::size_t floats, Step step) const final;
  Promise promise() const final { return {.exact = true, .waits = true, .repeats = true}; }
  std::vector<int> partners(Step) const final { return group_.ranks(); }

 protected:
  explicit ScheduledExchange(Group group) : group_(std::move(group)) {}
  /// What this rank does for an array of that length.
  virtual Schedule schedule(std::size_t floats) const = 0;

  const Group group_;

 private:
  Schedule schedule_;  ///< of the length seen last
  std::size_t floats_ = 0;
  std::vector<float> buffer_;
};

}  // namespace sagips::comm

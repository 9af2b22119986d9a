#include "sagips/comm/schedule.hpp"

#include "sagips/comm/arithmetic.hpp"

namespace sagips::comm {

Cost cost_of(const Schedule& schedule) {
  Cost cost;
  for (const Hop& hop : schedule)
    if (hop.to >= 0) cost += Cost{1, hop.send.size * sizeof(float)};
  return cost;
}

namespace {

// Leaves the mean of `values` over the group. `buffer` is grown as needed and must stay.
Task run_schedule(const Group& group, const Schedule& schedule, std::span<float> values,
                  std::vector<float>& buffer) {
  for (const Hop& hop : schedule) {
    const bool adds = hop.action == Hop::Action::add;
    if (adds && buffer.size() < hop.receive.size) buffer.resize(hop.receive.size);
    const std::span<float> into =
        adds ? std::span(buffer).first(hop.receive.size) : part(values, hop.receive);
    Request received, sent;
    if (hop.from >= 0) received = group.receive(hop.from, into);
    if (hop.to >= 0) sent = group.send(hop.to, part(values, hop.send));
    co_await received;
    co_await sent;  // before its piece is changed
    if (hop.from >= 0 && adds) {
      add(part(values, hop.receive), into);
      group.communicator().touched(into.size_bytes());
    }
    if (hop.finished.size > 0)
      scale(part(values, hop.finished), 1.0F / static_cast<float>(group.size()));
  }
}

}  // namespace

Task ScheduledExchange::gradients(ReplicaView replica, Step) {
  if (group_.index() < 0 || group_.size() == 1) co_return;
  if (schedule_.empty() || floats_ != replica.gradients.size()) {
    floats_ = replica.gradients.size();
    schedule_ = plan_(group_, floats_);
  }
  co_await run_schedule(group_, schedule_, replica.gradients, buffer_);
}

Cost ScheduledExchange::cost(std::size_t floats, Step) const {
  if (group_.index() < 0 || group_.size() == 1) return {};
  return cost_of(plan_(group_, floats));
}

}  // namespace sagips::comm

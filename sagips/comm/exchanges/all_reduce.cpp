#include "sagips/comm/exchanges/all_reduce.hpp"

#include <algorithm>

#include "sagips/comm/arithmetic.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::comm {

void AllReduce::Config::fields(core::FieldList& list) {
  list.add("backward_passes", backward_passes,
           "epochs whose gradients are averaged before they are exchanged and used",
           core::Range::between(1, 1000000));
}

AllReduce::AllReduce(const Config& config, const Site& site, std::vector<int> ranks)
    : config_(config), group_(site, std::move(ranks)) {
  if (group_.size() != site.communicator->size())
    throw core::ConfigError("exchange",
                            core::text("all_reduce works over all ", site.communicator->size(),
                                       " ranks, not within a group of ", group_.size(),
                                       ". Use rabenseifner or recursive_doubling there."));
}

bool AllReduce::updates(Step step) const { return step.update % config_.backward_passes == 0; }

Task AllReduce::gradients(ReplicaView replica, Step step) {
  if (group_.size() == 1 && config_.backward_passes == 1) co_return;
  if (collected_.size() != replica.gradients.size()) collected_.assign(replica.gradients.size(), 0);
  add(collected_, replica.gradients);
  if (!updates(step)) co_return;
  group_.count(1, replica.gradients.size_bytes());
  Request sum = group_.communicator().all_reduce(collected_, replica.gradients);
  co_await sum;
  scale(replica.gradients, 1.0F / static_cast<float>(group_.size() * config_.backward_passes));
  std::fill(collected_.begin(), collected_.end(), 0.0F);
}

Cost AllReduce::cost(std::size_t floats, Step step) const {
  if ((group_.size() == 1 && config_.backward_passes == 1) || !updates(step)) return {};
  return {1, floats * sizeof(float)};
}

std::vector<int> AllReduce::partners(Step step) const {
  return updates(step) ? group_.ranks() : std::vector<int>{};
}

std::string AllReduce::description() const {
  return core::text("the library's all-reduce over ", group_.size(), " ranks");
}

void AllReduce::state(StateList& list) {
  if (!list.gives()) collected_.resize(list.count("all_reduce.collected"));
  list.field("all_reduce.collected", collected_);
}

}  // namespace sagips::comm

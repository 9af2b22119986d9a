#include "sagips/comm/exchanges/all_reduce.hpp"

#include "sagips/comm/arithmetic.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::comm {

AllReduce::AllReduce(const Site& site, std::vector<int> ranks) : group_(site, std::move(ranks)) {
  if (group_.size() != site.communicator->size())
    throw core::ConfigError("exchange",
                            core::text("all_reduce works over all ", site.communicator->size(),
                                       " ranks, not within a group of ", group_.size(),
                                       ". Use rabenseifner or recursive_doubling there."));
}

Task AllReduce::gradients(ReplicaView replica, Step) {
  if (group_.size() == 1) co_return;
  own_.assign(replica.gradients.begin(), replica.gradients.end());
  group_.count(1, replica.gradients.size_bytes());
  Request sum = group_.communicator().all_reduce(own_, replica.gradients);
  co_await sum;
  scale(replica.gradients, 1.0F / static_cast<float>(group_.size()));
}

Cost AllReduce::cost(std::size_t floats, Step) const {
  if (group_.size() == 1) return {};
  return {1, floats * sizeof(float)};
}

std::string AllReduce::description() const {
  return core::text("the library's all-reduce over ", group_.size(), " ranks");
}

}  // namespace sagips::comm

#include "sagips/comm/served/team.hpp"

namespace sagips::comm {

Task Team::share(std::span<float> weights) const {
  if (!leads()) {
    Request received = group_.receive(ranks_.front(), weights, tag_);
    co_await received;
    co_return;
  }
  std::vector<Request> sent;
  for (std::size_t k = 1; k < ranks_.size(); ++k)
    sent.push_back(group_.send(ranks_[k], weights, tag_));
  for (Request& request : sent) co_await request;
}

Cost Team::cost(std::size_t floats) const {
  if (!leads()) return {};
  const auto others = static_cast<std::uint64_t>(ranks_.size() - 1);
  return {others, others * floats * sizeof(float)};
}

}  // namespace sagips::comm

#include "sagips/comm/exchanges/ring.hpp"

#include "sagips/comm/arithmetic.hpp"
#include "sagips/core/text.hpp"

namespace sagips::comm {

Ring::Ring(const Site& site, std::vector<int> ranks) : group_(site, std::move(ranks)) {}

Task Ring::gradients(ReplicaView replica, Step) {
  const int n = group_.size(), i = group_.index();
  if (i < 0 || n == 1) co_return;
  const std::span<float> own = replica.gradients;
  others_.resize(static_cast<std::size_t>(n - 1) * own.size());
  const int left = (i + n - 1) % n, right = (i + 1) % n;
  // sent from a copy: another core has then not just read what the mean is written to
  mine_.assign(own.begin(), own.end());
  std::vector<Request> sent;
  std::vector<const float*> in_rank_order(static_cast<std::size_t>(n), own.data());
  std::span<float> latest = mine_;
  for (int hop = 1; hop < n; ++hop) {
    const std::span<float> next =
        std::span(others_).subspan(static_cast<std::size_t>(hop - 1) * own.size(), own.size());
    Request received = group_.receive(left, next);
    sent.push_back(group_.send(right, latest));
    co_await received;
    in_rank_order[static_cast<std::size_t>((i - hop + n) % n)] = next.data();
    latest = next;
  }
  for (Request& request : sent) co_await request;
  mean_of(in_rank_order, own);
}

Cost Ring::cost(std::size_t floats, Step) const {
  if (group_.index() < 0) return {};
  const auto hops = static_cast<std::uint64_t>(group_.size() - 1);
  return {hops, hops * floats * sizeof(float)};
}

std::string Ring::description() const { return core::text("ring over ", group_.size(), " ranks"); }

}  // namespace sagips::comm

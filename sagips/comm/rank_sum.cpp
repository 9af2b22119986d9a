#include "sagips/comm/rank_sum.hpp"

#include <algorithm>

#include "sagips/comm/all_to_all.hpp"

namespace sagips::comm {

RankSum::RankSum(const Site& site, int index, std::string what)
    : group_(site, site.all_ranks()),
      timeout_(site.timeout),
      whom_{.partners = group_.ranks(), .exchange = index, .what = std::move(what)} {}

void RankSum::operator()(std::span<double> numbers) {
  RankStatus& status = timeout_->status();
  const std::int64_t now = group_.communicator().now_ns();
  status.begin_call(whom_.exchange, ++whom_.call, now);
  Flow flow(add_up(numbers));
  if (flow.over()) return;
  timeout_->wait(flow, whom_);
  const std::int64_t last = status.last_began(whom_.partners, whom_.exchange, whom_.call, now);
  waited_s_ += static_cast<double>(std::min(group_.communicator().now_ns(), last) - now) * 1e-9;
}

Task RankSum::add_up(std::span<double> numbers) {
  all_.resize(static_cast<std::size_t>(group_.size()) * numbers.size());
  const auto of = [&](int rank) {
    return std::span(all_).subspan(static_cast<std::size_t>(rank) * numbers.size(), numbers.size());
  };
  const auto received = [&](int rank) { return std::as_writable_bytes(of(rank)); };
  const auto own = [&](int) { return received(group_.index()); };
  std::copy(numbers.begin(), numbers.end(), of(group_.index()).begin());
  co_await all_to_all(group_, own, received);
  std::fill(numbers.begin(), numbers.end(), 0.0);
  for (int rank = 0; rank < group_.size(); ++rank)
    std::transform(numbers.begin(), numbers.end(), of(rank).begin(), numbers.begin(),
                   std::plus<>());
}

}  // namespace sagips::comm

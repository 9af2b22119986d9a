#include "sagips/comm/exchanges/rma_ring.hpp"

#include "sagips/comm/arithmetic.hpp"
#include "sagips/core/text.hpp"

namespace sagips::comm {

void RmaRing::Config::fields(core::FieldList& list) {
  list.add("max_age", max_age,
           "epochs of the fastest rank after which what a rank has shown is dropped",
           core::Range::between(0, 1e15));
}

RmaRing::RmaRing(const Config& config, const Site& site, std::vector<int> ranks)
    : group_(site, std::move(ranks)), window_(*site.communicator, site.floats, config.max_age) {}

Task RmaRing::gradients(ReplicaView replica, Step step) {
  const int n = group_.size(), i = group_.index();
  if (i < 0 || n == 1) co_return;
  window_.show(replica.gradients, step.epoch);
  std::vector<Window::View> views;
  std::vector<const float*> in_rank_order(static_cast<std::size_t>(n), nullptr);
  in_rank_order[static_cast<std::size_t>(i)] = replica.gradients.data();
  for (int hop = 1; hop < n; ++hop) {
    const int from = (i - hop + n) % n;
    Window::View view = window_.look(group_.rank_of(from));
    if (view.stamp() == 0) continue;
    group_.count(1, replica.gradients.size_bytes());
    in_rank_order[static_cast<std::size_t>(from)] = view.values().data();
    views.push_back(std::move(view));
  }
  window_.settle();
  std::erase(in_rank_order, nullptr);
  mean_of(in_rank_order, replica.gradients);
}

Cost RmaRing::cost(std::size_t floats, Step) const {
  if (group_.index() < 0) return {};
  const auto reads = static_cast<std::uint64_t>(group_.size() - 1);
  return {reads, reads * floats * sizeof(float)};
}

std::string RmaRing::description() const {
  return core::text("rma_ring over ", group_.size(), " ranks");
}

void RmaRing::give_state(State& state) const { window_.give_state(state, "rma_ring.clock"); }

void RmaRing::take_state(const State& state) { window_.take_state(state, "rma_ring.clock"); }

}  // namespace sagips::comm

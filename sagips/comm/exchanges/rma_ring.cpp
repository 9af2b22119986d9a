#include "sagips/comm/exchanges/rma_ring.hpp"

#include "sagips/comm/arithmetic.hpp"
#include "sagips/core/text.hpp"

namespace sagips::comm {

namespace {
constexpr int at_once = 32;  // arrays that are held
}

void RmaRing::Config::fields(core::FieldList& list) {
  list.add("max_age", max_age,
           "epochs of the fastest rank after which what a rank has shown is dropped",
           core::Range::between(0, 1e15));
}

RmaRing::RmaRing(const Config& config, const Site& site, std::vector<int> ranks)
    : group_(site, std::move(ranks)), window_(*site.communicator, site.floats, config.max_age) {}

Window::View RmaRing::look(int hop, std::size_t bytes) {
  const int n = group_.size();
  Window::View view = window_.look(group_.rank_of((group_.index() - hop + n) % n));
  if (view.stamp() != 0) group_.count(1, bytes);
  return view;
}

// One array after another, so that many ranks take no memory.
void RmaRing::add_up(std::span<float> values) {
  int used = 1;
  for (int hop = 1; hop < group_.size(); ++hop) {
    const Window::View view = look(hop, values.size_bytes());
    if (view.stamp() == 0) continue;
    add(values, view.values());
    ++used;
  }
  scale(values, 1.0F / static_cast<float>(used));
}

// In one pass, added in rank order.
void RmaRing::average(std::span<float> values) {
  const int n = group_.size(), i = group_.index();
  std::vector<Window::View> views;
  std::vector<const float*> in_rank_order(static_cast<std::size_t>(n), nullptr);
  in_rank_order[static_cast<std::size_t>(i)] = values.data();
  for (int hop = 1; hop < n; ++hop) {
    Window::View view = look(hop, values.size_bytes());
    if (view.stamp() == 0) continue;
    in_rank_order[static_cast<std::size_t>((i - hop + n) % n)] = view.values().data();
    views.push_back(std::move(view));
  }
  std::erase(in_rank_order, nullptr);
  mean_of(in_rank_order, values);
}

Task RmaRing::gradients(ReplicaView replica, Step step) {
  if (group_.index() < 0 || group_.size() == 1) co_return;
  window_.show(replica.gradients, step.update);
  if (group_.size() <= at_once)
    average(replica.gradients);
  else
    add_up(replica.gradients);
  window_.settle();
}

Cost RmaRing::cost(std::size_t floats, Step) const {
  if (group_.index() < 0) return {};
  const auto reads = static_cast<std::uint64_t>(group_.size() - 1);
  return {reads, reads * floats * sizeof(float)};
}

std::string RmaRing::description() const {
  return core::text("rma_ring over ", group_.size(), " ranks");
}

void RmaRing::state(StateList& list) { window_.state(list, "rma_ring.clock"); }

}  // namespace sagips::comm

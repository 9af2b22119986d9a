#include "sagips/comm/exchanges/gossip.hpp"

#include <array>

#include "sagips/comm/arithmetic.hpp"
#include "sagips/comm/topology.hpp"
#include "sagips/core/config/effects.hpp"
#include "sagips/core/text.hpp"

namespace sagips::comm {

void Gossip::Config::fields(core::FieldList& list) {
  list.choice("form", form, {{"synchronous", Form::synchronous}, {"one_sided", Form::one_sided}},
              "wait for the peer, or take what it has last shown");
  list.add("max_age", max_age,
           "one_sided: epochs of the fastest rank after which what a rank has shown is dropped",
           core::Range::between(0, 1e15));
  core::needs(list, form == Form::one_sided, "form=one_sided", {"max_age"});
}

Gossip::Gossip(const Config& config, const Site& site, std::vector<int> ranks)
    : config_(config), group_(site, std::move(ranks)) {
  if (one_sided()) window_.emplace(*site.communicator, site.floats, config.max_age);
}

Promise Gossip::promise() const {
  return {.exact = false,
          .waits = !one_sided(),
          .repeats = !one_sided(),
          .resumes = !one_sided(),
          .uses_weights = true};
}

Task Gossip::gradients(ReplicaView, Step) { co_return; }

void Gossip::mix_one_sided(ReplicaView replica, Step step, int from) {
  window_->show(replica.weights, step.update);
  const Window::View view = window_->look(group_.rank_of(from));
  window_->settle();
  if (view.stamp() == 0) return;
  group_.count(1, replica.weights.size_bytes());
  const std::array<const float*, 2> both{replica.weights.data(), view.values().data()};
  mean_of(both, replica.weights);
}

Task Gossip::mix_weights(ReplicaView replica, Step step) {
  const int n = group_.size(), i = group_.index();
  if (i < 0 || n == 1) co_return;
  const int offset = exponential_offset(step.update, n);
  const int to = (i + offset) % n, from = (i - offset + n) % n;
  if (one_sided()) {
    mix_one_sided(replica, step, from);
    co_return;
  }
  buffer_.resize(replica.weights.size());
  Request received = group_.receive(from, buffer_);
  Request sent = group_.send(to, replica.weights);
  co_await received;
  co_await sent;
  const std::array<const float*, 2> both{replica.weights.data(), buffer_.data()};
  mean_of(both, replica.weights);
}

Cost Gossip::cost(std::size_t floats, Step) const {
  if (group_.index() < 0 || group_.size() == 1) return {};
  return {1, floats * sizeof(float)};
}

std::vector<int> Gossip::partners(Step step) const {
  const int n = group_.size(), i = group_.index();
  if (one_sided() || i < 0 || n == 1) return {};
  const int offset = exponential_offset(step.update, n);
  return {group_.rank_of((i + offset) % n), group_.rank_of((i - offset + n) % n)};
}

std::int64_t Gossip::period() const {
  std::int64_t rounds = 1;
  while ((1 << rounds) < group_.size()) ++rounds;
  return rounds;
}

std::string Gossip::description() const {
  return core::text(one_sided() ? "one-sided gossip over " : "gossip over ", group_.size(),
                    " ranks");
}

void Gossip::state(StateList& list) {
  if (window_) window_->state(list, "gossip.clock");
}

}  // namespace sagips::comm

#include "sagips/comm/exchanges/grouped.hpp"

#include <algorithm>
#include <array>

#include "sagips/comm/arithmetic.hpp"
#include "sagips/comm/topology.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/random.hpp"
#include "sagips/core/text.hpp"

namespace sagips::comm {

void Grouped::Config::fields(core::FieldList& list) {
  list.add("inner", inner, "exchange within a group, every epoch");
  list.add("outer", outer, "exchange between the leaders of groups, every outer_every epochs");
  list.add(
      "group_size", group_size,
      "consecutive ranks of a group (the last may be smaller), for lanes as well; 0: the ranks of "
      "each node",
      core::Range::at_least(0));
  list.add("outer_every", outer_every, "epochs from one outer exchange to the next",
           core::Range::between(1, 4294967295.0));
  list.choice("leader", leader, {{"fixed", Leader::fixed}, {"drawn", Leader::drawn}},
              "who speaks for a group: its first rank, or one drawn anew for each outer epoch");
  list.choice("rule", rule,
              {{"inner_then_outer_then_broadcast", Rule::inner_then_outer_then_broadcast},
               {"inner_then_outer", Rule::inner_then_outer},
               {"outer_only", Rule::outer_only}},
              "what happens on an outer epoch");
}

Grouped::Grouped(const Config& config, const Site& site, const Maker& make)
    : config_(config),
      seed_(site.seed),
      groups_(make_groups(site.communicator->nodes(), config.group_size)),
      group_(site, groups_[group_of(groups_, site.communicator->rank())]) {
  inner_ = make(config_.inner, site, group_.ranks());
  std::size_t turns = 1;
  if (config_.leader == Leader::drawn)
    for (const auto& group : groups_) turns = std::max(turns, group.size());
  for (std::size_t turn = 0; turn < turns; ++turn) {
    std::vector<int> leaders;
    for (const auto& group : groups_) leaders.push_back(group[turn % group.size()]);
    outer_.push_back(make(config_.outer, site, leaders));
  }
  if (outer_.front()->promise().exact)  // else some may be missing: no mean of weighted ones
    weight_ = static_cast<float>(group_.size() * static_cast<int>(groups_.size())) /
              static_cast<float>(site.communicator->size());
}

std::size_t Grouped::turn(Step step) const {
  if (outer_.size() == 1) return 0;
  std::array<std::int64_t, 1> drawn{};
  core::RandomStream(seed_, "leader", static_cast<std::uint32_t>(step.number()))
      .integers(0, 0, outer_.size(), drawn);
  return static_cast<std::size_t>(drawn[0]);
}

int Grouped::leader(std::size_t turn) const {
  return static_cast<int>(turn % static_cast<std::size_t>(group_.size()));
}

Task Grouped::broadcast(std::span<float> values, int leader) {
  if (group_.index() != leader) {
    Request received = group_.receive(leader, values);
    co_await received;
    co_return;
  }
  std::vector<Request> sent;
  for (int k = 0; k < group_.size(); ++k)
    if (k != leader) sent.push_back(group_.send(k, values));
  for (Request& request : sent) co_await request;
}

Task Grouped::gradients(ReplicaView replica, Step step) {
  if (!is_outer(step)) {
    co_await inner_->gradients(replica, step);
    co_return;
  }
  const std::size_t now = turn(step);
  if (config_.rule != Rule::outer_only) co_await inner_->gradients(replica, step);
  if (leads(now)) {
    if (config_.rule != Rule::outer_only && weight_ != 1) scale(replica.gradients, weight_);
    co_await outer_[now]->gradients(replica, step);
  }
  if (broadcasts()) co_await broadcast(replica.gradients, leader(now));
}

Cost Grouped::cost(std::size_t floats, Step step) const {
  if (!is_outer(step)) return inner_->cost(floats, step);
  const std::size_t now = turn(step);
  Cost cost;
  if (config_.rule != Rule::outer_only) cost += inner_->cost(floats, step);
  if (!leads(now)) return cost;
  cost += outer_[now]->cost(floats, step);
  const auto others = static_cast<std::uint64_t>(group_.size() - 1);
  if (broadcasts()) cost += Cost{others, others * floats * sizeof(float)};
  return cost;
}

Promise Grouped::promise() const {
  const Promise inner = inner_->promise(), outer = outer_.front()->promise();
  const bool broadcasts = config_.rule == Rule::inner_then_outer_then_broadcast;
  return {.exact = config_.outer_every == 1 && broadcasts && inner.exact && outer.exact,
          .waits = inner.waits || outer.waits || broadcasts,
          .repeats = inner.repeats && outer.repeats,
          .resumes = inner.resumes && outer.resumes,
          .rounds = inner.rounds || outer.rounds};
}

std::vector<int> Grouped::partners(Step step) const {
  std::vector<int> all = inner_->partners(step);
  if (!is_outer(step)) return all;
  if (config_.rule == Rule::outer_only) all.clear();
  const std::size_t now = turn(step);
  if (leads(now) || broadcasts()) {
    const std::vector<int> outer = outer_[now]->partners(step);
    all.insert(all.end(), outer.begin(), outer.end());
  }
  if (broadcasts()) all.push_back(group_.rank_of(leader(now)));
  return all;
}

// Every turn of leading counts: which one is drawn when, a period does not show.
bool Grouped::ever_waits(int rank) const {
  bool waits = broadcasts() || inner_->ever_waits(rank);
  for (std::size_t turn = 0; turn < outer_.size(); ++turn)
    waits = waits || (leads(turn) && outer_[turn]->ever_waits(rank));
  return waits;
}

Freshness Grouped::freshness() const {
  Freshness all = inner_->freshness();
  for (const auto& outer : outer_) all += outer->freshness();
  return all;
}

std::string Grouped::description() const {
  return core::text(groups_.size(), groups_.size() == 1 ? " group" : " groups",
                    ", inside: ", inner_->description(), "; every ", config_.outer_every,
                    " epochs: ", outer_.front()->description());
}

void Grouped::state(StateList& list) {
  list.part("inner", *inner_);
  for (std::size_t turn = 0; turn < outer_.size(); ++turn)
    list.part(core::text("outer", turn), *outer_[turn]);
}

}  // namespace sagips::comm

#include "sagips/comm/served/served_plan.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "sagips/core/config/effects.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::comm {

void ServedConfig::fields(core::FieldList& list) {
  using Rule = CentralRuleConfig::Rule;
  list.choice("rule", rule.rule,
              {{"downpour", Rule::downpour}, {"easgd", Rule::easgd}, {"gem", Rule::gem}},
              "gradients for the optimizer of the central weights; weights that pull at them; "
              "steps that are "
              "scaled by how far they have gone");
  list.choice("owners", owners,
              {{"all", Owners::all}, {"nodes", Owners::nodes}, {"master", Owners::master}},
              "who owns a piece of the central weights: every rank, the first of each node, or "
              "ranks that do nothing else");
  list.add("masters", masters, "owners: master: how many ranks own a piece each",
           core::Range::between(1, 1000000));
  list.add("groups", groups,
           "owners: master: sub-masters, each with central weights and workers of its own; 0: none",
           core::Range::between(0, 1000000));
  list.add("parent_every", parent_every,
           "updates of a sub-master from one exchange with rank 0 to the next",
           core::Range::between(1, 4294967295.0));
  list.add("ranks_per_worker", ranks_per_worker, "ranks that work as one, on a batch each",
           core::Range::between(1, 1000000));
  list.add("inner", inner, "exact exchange between the ranks that work as one");
  list.add("every", every, "updates from one exchange to the next",
           core::Range::between(1, 4294967295.0));
  list.add("synchronous", synchronous, "all workers come before the central weights move");
  list.add("force", rule.force,
           "easgd: how strongly all workers together pull at the central weights",
           {0.0, 1.0, true, false});
  list.group("gem", rule.gem, "rule: gem");
  core::needs(list, rule.rule == Rule::easgd, "rule=easgd", {"force"});
  core::needs(list, rule.rule == Rule::gem, "rule=gem", {"gem"});
  core::needs(list, owners == Owners::master && groups > 0, "owners=master and groups",
              {"parent_every"});
  core::needs(list, ranks_per_worker > 1, "ranks_per_worker above 1", {"inner"});
}

bool contains(const std::vector<int>& ranks, int rank) {
  return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
}

// A rank that is alone computes.
std::vector<int> ServedConfig::serving_ranks(const std::vector<int>& nodes) const {
  if (nodes.size() < 2 || owners != Owners::master) return {};
  const auto serving = static_cast<std::size_t>(masters + groups);
  if (nodes.size() <= serving)
    throw core::ConfigError("exchange", core::text("served: ", serving, " of ", nodes.size(),
                                                   " ranks would serve, and none compute. Start "
                                                   "more ranks, or set "
                                                   "exchanges.served.owners=all."));
  std::vector<int> chosen, taken(nodes.size(), 0);  // taken: of each node
  for (int round = 0; chosen.size() < serving; ++round)
    for (std::size_t rank = 0; rank < nodes.size() && chosen.size() < serving; ++rank) {
      int& of_node = taken[static_cast<std::size_t>(nodes[rank])];
      if (of_node > round || contains(chosen, static_cast<int>(rank))) continue;
      chosen.push_back(static_cast<int>(rank));
      ++of_node;
    }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

namespace {

// Consecutive ones.
std::vector<std::vector<int>> teams_of(const std::vector<int>& ranks, std::int64_t size) {
  if (static_cast<std::int64_t>(ranks.size()) % size != 0)
    throw core::ConfigError("exchanges.served.ranks_per_worker",
                            core::text("is ", size, ", and ", ranks.size(),
                                       ranks.size() == 1 ? " rank computes" : " ranks compute",
                                       ", which cannot be divided by it. Change either."));
  std::vector<std::vector<int>> teams;
  for (std::size_t first = 0; first < ranks.size(); first += static_cast<std::size_t>(size))
    teams.emplace_back(ranks.begin() + static_cast<std::ptrdiff_t>(first),
                       ranks.begin() + static_cast<std::ptrdiff_t>(first) + size);
  return teams;
}

std::vector<int> first_ranks(const std::vector<std::vector<int>>& teams) {
  std::vector<int> first;
  for (const auto& team : teams) first.push_back(team.front());
  return first;
}

void check(const ServedConfig& config) {
  const bool has_masters = config.owners == ServedConfig::Owners::master;
  if (!has_masters && config.groups > 0)
    throw core::ConfigError("exchanges.served.groups",
                            "are those of sub-masters. Set exchanges.served.owners=master.");
  if (!has_masters && config.masters > 1)
    throw core::ConfigError("exchanges.served.masters",
                            "do not compute. Set exchanges.served.owners=master.");
  if (config.groups > 0 && (config.synchronous || config.masters > 1))
    throw core::ConfigError(
        "exchanges.served.groups",
        "have one parent, which hears of sub-masters now and then. Leave masters at "
        "1 and synchronous at false.");
}

}  // namespace

ServedPlan::ServedPlan(const ServedConfig& config, const Site& site) {
  const std::vector<int>& nodes = site.communicator->nodes();
  const std::vector<int> all = site.all_ranks();
  check(config);
  serving = config.serving_ranks(nodes);
  std::vector<int> computing;
  for (const int rank : all)
    if (!contains(serving, rank)) computing.push_back(rank);
  teams = teams_of(computing, config.ranks_per_worker);
  workers = first_ranks(teams);
  if (config.groups > 0 && !serving.empty()) {
    take_group(site.communicator->rank(), config.groups);
  } else if (!serving.empty()) {
    owners = serving;
  } else {
    std::set<int> seen;
    for (const int rank : all)
      if (config.owners == ServedConfig::Owners::all ||
          seen.insert(nodes[static_cast<std::size_t>(rank)]).second)
        owners.push_back(rank);
  }
}

// Neighbours have the same sub-master; this rank sees the workers of its own.
void ServedPlan::take_group(int rank, std::int64_t groups) {
  const std::vector<int> all = std::exchange(workers, {});
  if (static_cast<std::int64_t>(all.size()) < groups)
    throw core::ConfigError("exchanges.served.groups",
                            core::text("are ", groups, ", and there are ", all.size(),
                                       " workers. Start more ranks, or make fewer groups."));
  parents = {0};
  children.assign(serving.begin() + 1, serving.end());
  for (int group = 0; group < static_cast<int>(groups); ++group) {
    const Piece own = piece(all.size(), group, static_cast<int>(groups));
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(own.first);
    const std::vector<int> members(first, first + static_cast<std::ptrdiff_t>(own.size));
    const int master = children[static_cast<std::size_t>(group)];
    if (rank != master && !contains(members, rank)) continue;
    owners = {master};
    workers = members;
  }
}

}  // namespace sagips::comm

#include "tests/comm/oracle.hpp"

#include <numeric>

#include "sagips/comm/topology.hpp"
#include "sagips/core/random.hpp"

namespace sagips::comm::testing {

namespace {

using RankList = std::vector<int>;

Doubles& at(std::vector<Doubles>& arrays, int rank) {
  return arrays[static_cast<std::size_t>(rank)];
}

Doubles weighted_mean(std::vector<Doubles>& arrays, const RankList& ranks, const Doubles& weights) {
  Doubles mean(at(arrays, ranks[0]).size(), 0.0);
  for (std::size_t k = 0; k < ranks.size(); ++k)
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += weights[k] * at(arrays, ranks[k])[i];
  return mean;
}

void average(std::vector<Doubles>& arrays, const RankList& ranks) {
  const Doubles equal(ranks.size(), 1.0 / static_cast<double>(ranks.size()));
  const Doubles mean = weighted_mean(arrays, ranks, equal);
  for (const int rank : ranks) at(arrays, rank) = mean;
}

RankList everybody(std::size_t count) {
  RankList ranks;
  for (std::size_t r = 0; r < count; ++r) ranks.push_back(static_cast<int>(r));
  return ranks;
}

void grouped_epoch(const Grouped::Config& config, const std::vector<int>& nodes, std::uint64_t seed,
                   std::int64_t epoch, std::vector<Doubles>& gradients) {
  const auto groups = make_groups(nodes, config.group_size);
  const bool outer = epoch % config.outer_every == 0;
  if (!outer || config.rule != Grouped::Rule::outer_only)
    for (const auto& group : groups) average(gradients, group);
  if (!outer) return;
  std::size_t turn = 0, turns = 1;
  for (const auto& group : groups) turns = std::max(turns, group.size());
  if (config.leader == Grouped::Leader::drawn && turns > 1) {
    std::int64_t drawn = 0;
    core::RandomStream(seed, "leader", static_cast<std::uint32_t>(epoch))
        .integers(0, 0, turns, std::span(&drawn, 1));
    turn = static_cast<std::size_t>(drawn);
  }
  RankList leaders;
  Doubles weights;
  for (const auto& group : groups) {
    leaders.push_back(group[turn % group.size()]);
    weights.push_back(config.rule == Grouped::Rule::outer_only
                          ? 1.0 / static_cast<double>(groups.size())
                          : static_cast<double>(group.size()) / static_cast<double>(nodes.size()));
  }
  const Doubles mean = weighted_mean(gradients, leaders, weights);
  for (const int rank : leaders) at(gradients, rank) = mean;
  if (config.rule == Grouped::Rule::inner_then_outer_then_broadcast)
    for (auto& gradient : gradients) gradient = mean;
}

void gossip_epoch(std::int64_t epoch, std::vector<Doubles>& weights) {
  const int n = static_cast<int>(weights.size());
  if (n == 1) return;
  const std::vector<Doubles> before = weights;
  const int offset = exponential_offset(epoch, n);
  for (int rank = 0; rank < n; ++rank) {
    const Doubles& peer = before[static_cast<std::size_t>((rank - offset + n) % n)];
    for (std::size_t i = 0; i < peer.size(); ++i)
      at(weights, rank)[i] = (at(weights, rank)[i] + peer[i]) / 2;
  }
}

double product(const Doubles& a, const Doubles& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

// Of the whole array, in pairs at distance 1, 2, 4, ...
Doubles adasum(const Doubles& a, const Doubles& b) {
  const double both = product(a, b), of_a = product(a, a), of_b = product(b, b);
  Doubles sum(a.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    sum[i] = (of_a > 0 ? 1 - both / (2 * of_a) : 1) * a[i] +
             (of_b > 0 ? 1 - both / (2 * of_b) : 1) * b[i];
  return sum;
}

void adasum_epoch(const std::vector<Doubles>& before, std::vector<Doubles>& weights) {
  std::vector<Doubles> changes = weights;
  for (std::size_t r = 0; r < changes.size(); ++r)
    for (std::size_t i = 0; i < before[r].size(); ++i) changes[r][i] -= before[r][i];
  while (changes.size() > 1) {
    std::vector<Doubles> pairs;
    for (std::size_t r = 0; r < changes.size(); r += 2)
      pairs.push_back(adasum(changes[r], changes[r + 1]));
    changes = std::move(pairs);
  }
  for (std::size_t r = 0; r < weights.size(); ++r)
    for (std::size_t i = 0; i < before[r].size(); ++i) weights[r][i] = before[r][i] + changes[0][i];
}

void update(Replicas& replicas) {
  for (std::size_t r = 0; r < replicas.weights.size(); ++r)
    for (std::size_t i = 0; i < replicas.weights[r].size(); ++i)
      replicas.weights[r][i] -= 0.1 * replicas.gradients[r][i];
}

}  // namespace

std::vector<float> gradient_of(int rank, std::int64_t epoch, std::size_t floats) {
  std::vector<float> values(floats);
  core::RandomStream(7, "gradient", static_cast<std::uint32_t>(epoch))
      .uniform(static_cast<std::uint32_t>(rank), 0, values);
  for (float& value : values) value = 2 * value - 1;
  return values;
}

void serial_epoch(const std::string& name, const ExchangesConfig& config,
                  const std::vector<int>& nodes, std::uint64_t seed, std::int64_t epoch,
                  Replicas& replicas) {
  const RankList all = everybody(nodes.size());
  if (name ==
      "served") {  // synchronous Downpour: the central weights, which all hold, take the mean
    std::vector<Doubles> own = replicas.gradients;
    average(replicas.gradients, all);
    update(replicas);
    replicas.gradients = std::move(own);
    return;
  }
  Grouped::Config grouped = config.grouped;
  if (name == "averaged") {
    serial_epoch(config.averaged.inner, config, nodes, seed, epoch, replicas);
    if (epoch % config.averaged.every == 0) average(replicas.weights, all);
    return;
  }
  if (name == "grouped" || name == "arar_arar")
    grouped_epoch(grouped, nodes, seed, epoch, replicas.gradients);
  else if (name != "none" && name != "ensemble" && name != "gossip" && name != "adasum")
    average(replicas.gradients, all);
  const std::vector<Doubles> before = replicas.weights;
  update(replicas);
  if (name == "adasum") adasum_epoch(before, replicas.weights);
  if (name == "gossip") gossip_epoch(epoch, replicas.weights);
}

}  // namespace sagips::comm::testing

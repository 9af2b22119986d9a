#include "tests/comm/conformance.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "sagips/comm/exchange_driver.hpp"
#include "tests/comm/oracle.hpp"
#include "tests/comm/served_player.hpp"

namespace sagips::comm::testing {

namespace {

constexpr std::int64_t epochs = 6;
constexpr std::uint64_t seed = 5;

/// One rank's replica, driven as the training loop does.
struct Player {
  Player(Kit& kit, const std::string& name, const ExchangesConfig& config, std::size_t floats)
      : site(with_update(kit.site(floats, seed))),
        driver(make_exchange(name, config, site), site, 0, "test"),
        rank(kit.communicator.rank()),
        weights(floats, 1.0F) {}

  static Site with_update(Site site) {
    site.update = plain_update(0.1F);
    return site;
  }

  void epoch(std::int64_t number) { epoch(number, gradient_of(rank, number, weights.size())); }

  void epoch(std::int64_t number, std::vector<float> gradient) {
    gradients = std::move(gradient);
    cost += driver.exchange().cost(weights.size(), {number});
    driver.start({weights, gradients}, {number});
    for (int k = 0; k < 3; ++k) driver.progress();
    driver.finish();
    if (driver.exchange().updates({number}))
      for (std::size_t i = 0; i < weights.size(); ++i) weights[i] -= 0.1F * gradients[i];
    driver.after_update({weights, gradients}, {number});
  }

  Site site;
  ExchangeDriver driver;
  int rank;
  std::vector<float> weights, gradients;
  Cost cost;
};

std::uint64_t bits_of(std::span<const float> values) {
  std::uint64_t hash = 14695981039346656037U;
  for (const float value : values)
    hash = (hash ^ std::bit_cast<std::uint32_t>(value)) * 1099511628211U;
  return hash;
}

// A rank rounds what it sends to 11 bits and who adds up rounds the mean, of gradients below 1 and what the epoch
// before has left of them; what is left never grows.
double rounding_of(const Promise& promise) { return promise.rounds ? 4 * 0x1p-12 : 0; }

// Each of at most `terms` additions rounds by half a unit in the last place of a sum below `terms`.
void expect_near(std::span<const float> found, const Doubles& wanted, int terms, double rounding,
                 const std::string& what) {
  const double bound = 2.0 * terms * std::numeric_limits<float>::epsilon() + rounding;
  double worst = 0;
  for (std::size_t i = 0; i < found.size(); ++i)
    worst = std::max(worst, std::abs(static_cast<double>(found[i]) - wanted[i]));
  EXPECT_LE(worst, bound) << what;
}

Replicas first_replicas(int ranks, std::size_t floats) {
  Replicas replicas;
  replicas.weights.assign(static_cast<std::size_t>(ranks), Doubles(floats, 1.0));
  replicas.gradients.resize(static_cast<std::size_t>(ranks));
  return replicas;
}

void bring_gradients(Replicas& replicas, std::int64_t epoch, std::size_t floats) {
  for (std::size_t r = 0; r < replicas.gradients.size(); ++r) {
    const auto gradient = gradient_of(static_cast<int>(r), epoch, floats);
    replicas.gradients[r].assign(gradient.begin(), gradient.end());
  }
}

}  // namespace

std::vector<std::string> exchange_names() { return known_exchanges().names(); }

bool works_on(const std::string& name, int ranks) {
  return name != "adasum" || std::has_single_bit(static_cast<unsigned>(ranks));
}

ExchangesConfig busy_config(int ranks) {
  ExchangesConfig config;
  config.double_tree.segment_floats = 100;
  config.grouped.group_size = std::min(ranks, 3);
  config.grouped.outer_every = 2;
  config.grouped.rule = Grouped::Rule::inner_then_outer_then_broadcast;
  config.averaged.every = 3;
  config.automatic.repeats = 2;
  config.served.synchronous = true;  // served_checks.hpp has what others promise
  return config;
}

void check_values(Kit& kit, const std::string& name, const ExchangesConfig& config,
                  std::size_t floats) {
  if (!works_on(name, kit.communicator.size())) return;
  Player player(kit, name, config, floats);
  const Promise promise = player.driver.exchange().promise();
  // of few ranks others are exact as well
  if (known_exchanges().get(name, "test").is_exact) {
    EXPECT_TRUE(promise.exact) << name;
  }
  if (!promise.resumes) return;  // check_one_sided
  const double rounding = rounding_of(promise);
  const int ranks = kit.communicator.size();
  const auto rank = static_cast<std::size_t>(kit.communicator.rank());
  Replicas replicas = first_replicas(ranks, floats);
  for (std::int64_t epoch = 1; epoch <= epochs; ++epoch) {
    const std::string what = name + ", " + std::to_string(floats) + " floats, rank " +
                             std::to_string(rank) + " of " + std::to_string(ranks) + ", epoch " +
                             std::to_string(epoch);
    player.epoch(epoch);
    bring_gradients(replicas, epoch, floats);
    serial_epoch(name, config, kit.communicator.nodes(), seed, epoch, replicas);
    expect_near(player.gradients, replicas.gradients[rank], ranks + 2, rounding,
                "gradients of " + what);
    expect_near(player.weights, replicas.weights[rank], (ranks + 2) * static_cast<int>(epoch),
                rounding, "weights of " + what);
    if (promise.exact) {
      const auto all = kit.gather(bits_of(player.gradients));
      for (const auto bits : all) EXPECT_EQ(bits, all[0]) << "bit-equal gradients of " << what;
    }
  }
  const Cost traffic = player.driver.totals().traffic;
  player.driver.close();
  EXPECT_EQ(traffic.messages, player.cost.messages) << name << " " << ranks << " ranks " << floats;
  EXPECT_EQ(traffic.bytes, player.cost.bytes) << name << " " << ranks << " ranks " << floats;
}

void check_resumes(Kit& kit, const std::string& name, const ExchangesConfig& config) {
  constexpr std::size_t floats = 257;
  if (!works_on(name, kit.communicator.size())) return;
  Player whole(kit, name, config, floats);
  const Promise promise = whole.driver.exchange().promise();
  if (!promise.resumes) return;
  Player first(kit, name, config, floats);
  if (!promise.repeats) {  // two runs are alike only when they begin with the same state
    State beginning;
    whole.driver.exchange().give_state(beginning);
    first.driver.exchange().take_state(beginning);
  }
  for (std::int64_t epoch = 1; epoch <= epochs; ++epoch) whole.epoch(epoch);
  for (std::int64_t epoch = 1; epoch <= 3; ++epoch) first.epoch(epoch);
  State state;
  first.driver.exchange().give_state(state);
  whole.driver.close();
  first.driver.close();
  Player second(kit, name, config, floats);
  second.driver.exchange().take_state(state);
  second.weights = first.weights;
  for (std::int64_t epoch = 4; epoch <= epochs; ++epoch) second.epoch(epoch);
  second.driver.close();
  EXPECT_EQ(bits_of(second.weights), bits_of(whole.weights)) << name;
}

void check_one_sided(Kit& kit, const std::string& name, const ExchangesConfig& config,
                     std::size_t floats) {
  if (!works_on(name, kit.communicator.size())) return;
  Player player(kit, name, config, floats);
  if (player.driver.exchange().promise().resumes) return;
  const int rank = kit.communicator.rank();
  kit.barrier();
  constexpr std::int64_t many = 200;
  for (std::int64_t epoch = 1; epoch <= many; ++epoch) {
    // one number a rank and epoch, so that a mixture of two writings shows
    const auto number = static_cast<float>(rank + 1) + static_cast<float>(epoch) / 256.0F;
    player.epoch(epoch, std::vector<float>(floats, number));
    for (const float value : player.gradients) ASSERT_EQ(value, player.gradients[0]) << name;
    for (const float value : player.weights) ASSERT_EQ(value, player.weights[0]) << name;
  }
  const ExchangeTotals totals = player.driver.totals();
  const Freshness& fresh = totals.freshness;
  const std::uint64_t looked = fresh.used + fresh.dropped + fresh.missing;
  EXPECT_LE(totals.traffic.messages, player.cost.messages) << name;
  EXPECT_LE(totals.traffic.bytes, player.cost.bytes) << name;
  if (fresh.dropped + fresh.missing == 0) {
    EXPECT_EQ(totals.traffic.messages, player.cost.messages) << name;
    EXPECT_EQ(totals.traffic.bytes, player.cost.bytes) << name;
  }
  EXPECT_LE(looked, player.cost.messages) << name;
  EXPECT_LE(fresh.age_maximum,
            static_cast<double>(std::max(config.rma_ring.max_age, config.gossip.max_age)));
  kit.barrier();
}

std::uint64_t fingerprint(Kit& kit, const std::string& name, const ExchangesConfig& config) {
  Player player(kit, name, config, 300);
  for (std::int64_t epoch = 1; epoch <= epochs; ++epoch) player.epoch(epoch);
  player.driver.close();
  return bits_of(player.weights);
}

}  // namespace sagips::comm::testing

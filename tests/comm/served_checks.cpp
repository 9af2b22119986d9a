#include "tests/comm/served_checks.hpp"

#include <gtest/gtest.h>

#include <bit>

#include "sagips/comm/exchange_driver.hpp"
#include "tests/comm/served_player.hpp"

namespace sagips::comm::testing {

std::vector<ServedForm> served_forms() {
  std::vector<ServedForm> forms;
  const auto add = [&](const std::string& what, int ranks, auto change) {
    forms.push_back({what, ranks, {}});
    change(forms.back().config);
  };
  using Owners = Served::Owners;
  add("All", 1, [](auto&) {});
  add("AllEveryThird", 1, [](auto& c) { c.every = 3; });
  add("Nodes", 1, [](auto& c) { c.owners = Owners::nodes; });
  add("Master", 2, [](auto& c) { c.owners = Owners::master; });
  add("TwoMasters", 3, [](auto& c) { c.owners = Owners::master, c.masters = 2; });
  add("SubMasters", 5,
      [](auto& c) { c.owners = Owners::master, c.groups = 2, c.parent_every = 3; });
  add("Teams", 2, [](auto& c) { c.ranks_per_worker = 2; });
  add("SynchronousAll", 1, [](auto& c) { c.synchronous = true; });
  add("SynchronousNodes", 1, [](auto& c) { c.synchronous = true, c.owners = Owners::nodes; });
  add("SynchronousMaster", 2, [](auto& c) { c.synchronous = true, c.owners = Owners::master; });
  add("SynchronousMasters", 3,
      [](auto& c) { c.synchronous = true, c.owners = Owners::master, c.masters = 2, c.every = 2; });
  return forms;
}

// The gradient of a step is a single 1 at a place of its own, so a mean of several shows which are in
// it, and the rule of the test counts them.
void check_applied_once(Kit& kit, const Served::Config& config, std::int64_t steps) {
  const int ranks = kit.communicator.size(), rank = kit.communicator.rank();
  const auto floats = static_cast<std::size_t>(ranks * steps);
  ServedPlayer player(kit, config, std::vector<float>(floats, 0.0F), [](std::span<float> weights) {
    return [weights](std::span<const float> gradients, double) {
      for (std::size_t k = 0; k < weights.size(); ++k)
        weights[k] += gradients[k] != 0 ? 1.0F : 0.0F;
    };
  });
  const bool computes = player.served().computes();
  for (std::int64_t step = 1; step <= steps; ++step) {
    if (!computes) {
      player.serve(step);
      continue;
    }
    std::vector<float> gradient(floats, 0.0F);
    gradient[static_cast<std::size_t>(rank * steps + step - 1)] = 1.0F;
    player.step(step, gradient);
  }
  player.close();
  const auto computing = kit.gather(computes ? 1 : 0);
  for (int r = 0; r < ranks; ++r)
    for (std::int64_t step = 0; step < steps; ++step) {
      const float count = player.weights[static_cast<std::size_t>(r * steps + step)];
      ASSERT_EQ(count, computing[static_cast<std::size_t>(r)] != 0 ? 1.0F : 0.0F)
          << "gradient of rank " << r << " in step " << step + 1 << ", seen by rank " << rank;
    }
  const std::uint64_t workers = player.served().workers();
  if (player.served().steps_applied() > 0 && config.groups == 0) {
    EXPECT_EQ(player.served().steps_applied(), workers * static_cast<std::uint64_t>(steps));
  }
}

void check_settles(Kit& kit, const Served::Config& config, std::int64_t steps) {
  constexpr std::size_t floats = 11;
  constexpr float target = 1;
  ServedPlayer player(kit, config, std::vector<float>(floats, 0.0F), plain_update(0.05F));
  for (std::int64_t step = 1; step <= steps; ++step) {
    if (!player.served().computes()) {
      player.serve(step);
      continue;
    }
    std::vector<float> gradient(player.weights);
    for (float& value : gradient) value -= target;
    player.step(step, gradient);
    // without it, threads that wait for their turn as owners would answer when all is over
    if (config.owners != Served::Owners::master) kit.barrier();
  }
  player.close();
  // how often a sub-master meets its parent before all have ended is a matter of chance
  const bool hears_often = config.groups == 0;
  for (const float weight : player.weights) {
    EXPECT_NEAR(weight, target, hears_often ? 0.1 : 1.0);
    const auto all = kit.gather(std::bit_cast<std::uint32_t>(weight));
    for (const auto bits : all) EXPECT_EQ(bits, all.front());
  }
}

}  // namespace sagips::comm::testing

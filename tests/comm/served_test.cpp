#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <condition_variable>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "sagips/comm/served/weight_server.hpp"
#include "sagips/core/error.hpp"
#include "tests/comm/lockstep.hpp"
#include "tests/comm/oracle.hpp"
#include "tests/comm/served_checks.hpp"
#include "tests/comm/served_player.hpp"

namespace sagips::comm::testing {
namespace {

using Rule = CentralRuleConfig::Rule;
using Owners = Served::Owners;

bool fits(const ServedForm& form, int ranks) {
  return ranks >= form.ranks && ranks % static_cast<int>(form.config.ranks_per_worker) == 0;
}

class EveryForm : public ::testing::TestWithParam<ServedForm> {};

INSTANTIATE_TEST_SUITE_P(Known, EveryForm, ::testing::ValuesIn(served_forms()),
                         [](const auto& form) { return form.param.what; });

TEST_P(EveryForm, AppliesEveryGradientOnce) {
  for (int ranks = 1; ranks <= 16; ranks += ranks < 6 ? 1 : 5)
    if (fits(GetParam(), ranks))
      on_threads({.ranks = ranks},
                 [&](Kit& kit) { check_applied_once(kit, GetParam().config, 9); });
}

// The long tests (make test-long) run a thousand.
TEST_P(EveryForm, AppliesEveryGradientOnceWheneverMessagesArrive) {
  const std::uint64_t runs = std::getenv("SAGIPS_LONG_TESTS") != nullptr ? 1000 : 20;
  for (std::uint64_t run = 1; run <= runs; ++run) {
    const ThreadTeamConfig team{
        .ranks = 6, .nodes = {0, 0, 1, 1, 2, 2}, .delay_seed = run, .maximum_delay_us = 200};
    on_threads(team, [&](Kit& kit) { check_applied_once(kit, GetParam().config, 8); });
  }
}

TEST_P(EveryForm, SettlesByEachRule) {
  for (const Rule rule : {Rule::downpour, Rule::easgd, Rule::gem}) {
    Served::Config config = GetParam().config;
    config.rule.rule = rule;
    on_threads({.ranks = 6}, [&](Kit& kit) { check_settles(kit, config, 600); });
  }
}

// --- one worker is the serial optimizer ---------------------------------------------------------

// SGD with momentum, which remembers.
MakeUpdate momentum_update() {
  return [](std::span<float> weights) {
    auto velocity = std::make_shared<std::vector<float>>(weights.size());
    return [=](std::span<const float> gradients, double) {
      for (std::size_t k = 0; k < weights.size(); ++k) {
        (*velocity)[k] = 0.9F * (*velocity)[k] + gradients[k];
        weights[k] -= 0.1F * (*velocity)[k];
      }
    };
  };
}

TEST(Downpour, IsTheSerialOptimizerForOneWorker) {
  constexpr std::size_t floats = 100;
  std::vector<float> serial(floats, 1.0F), gradient(floats);
  const auto update = momentum_update()(serial);
  for (std::int64_t step = 1; step <= 50; ++step) {
    std::ranges::copy(gradient_of(1, step, floats), gradient.begin());
    update(gradient, 0);
  }
  for (const Owners owners : {Owners::all, Owners::master})
    on_threads({.ranks = owners == Owners::all ? 1 : 2}, [&](Kit& kit) {
      Served::Config config;
      config.owners = owners;
      ServedPlayer player(kit, config, std::vector<float>(floats, 1.0F), momentum_update());
      for (std::int64_t step = 1; step <= 50; ++step)
        if (player.served().computes())
          player.step(step, gradient_of(1, step, floats));
        else
          player.serve(step);
      EXPECT_EQ(player.weights, serial);
      player.close();
      EXPECT_EQ(player.weights, serial);
    });
}

// --- synchronous forms are their equations -------------------------------------------------------

TEST(Downpour, SynchronousIsTheSumInRankOrder) {
  constexpr std::size_t floats = 103;
  for (const Owners owners : {Owners::all, Owners::nodes})
    on_threads({.ranks = 4, .nodes = {0, 0, 1, 1}}, [&](Kit& kit) {
      Served::Config config;
      config.owners = owners;
      config.synchronous = true;
      ServedPlayer player(kit, config, std::vector<float>(floats, 1.0F), plain_update(0.1F));
      std::vector<float> serial(floats, 1.0F);
      for (std::int64_t step = 1; step <= 20; ++step) {
        player.step(step, gradient_of(kit.communicator.rank(), step, floats));
        std::vector<float> sum(floats, 0.0F);
        for (int rank = 0; rank < 4; ++rank) {
          const auto one = gradient_of(rank, step, floats);
          for (std::size_t k = 0; k < floats; ++k) sum[k] += one[k];
        }
        for (std::size_t k = 0; k < floats; ++k) serial[k] -= 0.1F * (sum[k] * 0.25F);
      }
      EXPECT_EQ(player.weights, serial);
      player.close();
    });
}

using Floats = std::vector<float>;

/// EASGD and GEM as published, one worker after another or all at once, by the numbers of float32.
/// source: the equations that central_rule.hpp names
struct Published {
  Published(Served::Config chosen, std::size_t workers, std::size_t floats, float start)
      : config(std::move(chosen)), central(floats, start), weights(workers, Floats(floats, start)) {
    momentum.assign(workers, Floats(floats, 0.0F));
    seen.assign(workers, central);
  }

  void meet(std::span<const std::size_t> round, const std::vector<Floats>& gradients) {
    const Floats before = central;
    for (const std::size_t w : round)
      config.rule.rule == Rule::easgd ? pull(w, before, gradients[w])
                                      : step(w, before, gradients[w]);
  }

  void pull(std::size_t w, const Floats& before, const Floats& gradient) {
    const float alpha = static_cast<float>(config.rule.force) / static_cast<float>(weights.size());
    for (std::size_t k = 0; k < central.size(); ++k) {
      float& x = weights[w][k];
      x -= 0.05F * gradient[k];
      const float force = alpha * (x - before[k]);
      x -= force;
      central[k] += force;
    }
  }

  void step(std::size_t w, const Floats& before, const Floats& gradient) {
    const auto& gem = config.rule.gem;
    for (std::size_t k = 0; k < central.size(); ++k) {
      const float d = -static_cast<float>(gem.learning_rate) * gradient[k];
      momentum[w][k] = static_cast<float>(gem.momentum) * momentum[w][k] + d;
      const float v = before[k] - seen[w][k];
      seen[w][k] = before[k];
      const float room = (static_cast<float>(gem.kappa) * std::abs(momentum[w][k]) - std::abs(v)) /
                         (std::abs(d) + 1e-12F);
      const float u = d * std::clamp(room, 0.0F, static_cast<float>(gem.clamp));
      central[k] += u;
      weights[w][k] = before[k] + u;
    }
  }

  Served::Config config;
  Floats central;
  std::vector<Floats> weights, momentum, seen;
};

void expect_like(const std::vector<float>& found, const Floats& wanted, const char* what) {
  double difference = 0, size = 0;
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    difference += (found[k] - wanted[k]) * (found[k] - wanted[k]);
    size += wanted[k] * wanted[k];
  }
  EXPECT_LE(std::sqrt(difference / size), 1e-6) << what;
}

constexpr std::int64_t many_steps = 200;
constexpr std::size_t some_floats = 51;

// Far from the weights' own size, so that float's rounding stays below the bound.
std::vector<float> small_gradient(int worker, std::int64_t step) {
  auto gradient = gradient_of(worker, step, some_floats);
  for (float& value : gradient) value *= 0.1F;
  return gradient;
}

TEST(Published, SynchronousFormsAreTheirEquations) {
  for (const Rule rule : {Rule::easgd, Rule::gem})
    for (const Owners owners : {Owners::all, Owners::nodes, Owners::master}) {
      Served::Config config;
      config.rule.rule = rule;
      config.owners = owners;
      config.synchronous = true;
      const int first = owners == Owners::master ? 1 : 0;
      on_threads({.ranks = 3 + first}, [&](Kit& kit) {
        ServedPlayer player(kit, config, std::vector<float>(some_floats, 1.0F), plain_update(1));
        Published published(config, 3, some_floats, 1.0F);
        for (std::int64_t step = 1; step <= many_steps; ++step) {
          const std::vector<std::size_t> everybody{0, 1, 2};
          std::vector<Floats> gradients;
          for (int worker = 0; worker < 3; ++worker)
            gradients.push_back(small_gradient(worker, step));
          published.meet(everybody, gradients);
          if (player.served().computes())
            player.step(step, small_gradient(kit.communicator.rank() - first, step));
          else
            player.serve(step);
        }
        if (player.served().computes())
          expect_like(player.weights,
                      published.weights[static_cast<std::size_t>(kit.communicator.rank() - first)],
                      "weights");
        player.close();
        expect_like(player.weights, published.central, "central weights");
      });
    }
}

// Workers take turns, so the order in which the master meets them is known.
TEST(Published, AsynchronousFormsAreTheirEquationsOneWorkerAfterAnother) {
  for (const Rule rule : {Rule::easgd, Rule::gem}) {
    Served::Config config;
    config.rule.rule = rule;
    config.owners = Owners::master;
    std::mutex mutex;
    std::condition_variable turned;
    std::int64_t turn = 0;
    on_threads({.ranks = 4}, [&](Kit& kit) {
      ServedPlayer player(kit, config, std::vector<float>(some_floats, 1.0F), plain_update(1));
      Published published(config, 3, some_floats, 1.0F);
      for (std::int64_t step = 1; step <= many_steps; ++step) {
        std::vector<Floats> gradients;
        for (int worker = 0; worker < 3; ++worker)
          gradients.push_back(small_gradient(worker, step));
        for (std::size_t worker = 0; worker < 3; ++worker)
          published.meet(std::span(&worker, 1), gradients);
        if (!player.served().computes()) {
          player.serve(step);
          continue;
        }
        const int worker = kit.communicator.rank() - 1;
        std::unique_lock lock(mutex);
        turned.wait(lock, [&] { return turn == 3 * (step - 1) + worker; });
        player.step(step, small_gradient(worker, step));
        ++turn;
        turned.notify_all();
      }
      if (player.served().computes())
        expect_like(player.weights,
                    published.weights[static_cast<std::size_t>(kit.communicator.rank() - 1)],
                    "weights");
      player.close();
      expect_like(player.weights, published.central, "central weights");
    });
  }
}

// --- nobody waits for a slow worker --------------------------------------------------------------

// The last rank makes one step, and only when all others have made theirs.
TEST_P(EveryForm, DoesNotWaitForASlowWorker) {
  const Served::Config& config = GetParam().config;
  if (config.synchronous) GTEST_SKIP() << "synchronous workers wait by intention";
  if (config.ranks_per_worker > 1) GTEST_SKIP() << "ranks that work as one wait for each other";
  constexpr int ranks = 6;
  std::atomic<int> done = 0;
  on_threads({.ranks = ranks}, [&](Kit& kit) {
    ServedPlayer player(kit, config, std::vector<float>(20, 0.0F), plain_update(0.1F));
    const int workers = static_cast<int>(player.served().workers());
    const bool is_last = kit.communicator.rank() == ranks - 1;
    if (!player.served().computes()) {
      player.serve(1'000'000);  // until all have left
    } else if (is_last) {
      while (done < workers - 1) std::this_thread::yield();
      player.step(1, std::vector<float>(20, 1.0F));
    } else {
      for (std::int64_t step = 1; step <= 30; ++step)
        player.step(step, std::vector<float>(20, 1.0F));
      ++done;
    }
    player.close();
  });
  SUCCEED() << "the others came to their end while it had not begun";
}

// --- owners that compute come back to their work -----------------------------------------------------

// All that the worker will ever send is there before the owner looks for the first time.
TEST(WeightServer, ServesAWorkerThatIsFasterOnceAPoll) {
  constexpr std::uint64_t shares = 5;
  std::vector<float> values(3, 1.0F);
  LockstepNode node({0, 0});
  const Group owners(node.kit(0).site(values.size()), {0, 1}, 2);
  const Group workers(node.kit(1).site(values.size()), {0, 1}, 2);
  ClientHead head{.kind = ClientHead::Kind::share, .number = 1};
  for (std::uint64_t k = 0; k < shares; ++k) {
    workers.send(0, head.as_floats(), 0);
    workers.send(0, values, 0);
  }
  ++node.team.sweep;  // all has arrived
  WeightServer owner(owners, {1}, 1, values.size(), {}, plain_update(0.1F), false);
  owner.begin(values);
  for (std::uint64_t served = 1; served <= shares; ++served) {
    EXPECT_TRUE(owner.poll()) << "who sleeps now may sleep for ever";
    EXPECT_EQ(owner.steps(), served);
  }
  EXPECT_FALSE(owner.poll());
}

// What a master has served while it judged the first weights is of this run's steps.
TEST(Served, MastersCountWhatTheyServedBeforeTheirFirstStep) {
  constexpr std::uint64_t before = 5;
  Served::Config config;
  config.owners = Owners::master;
  on_threads({.ranks = 2}, [&](Kit& kit) {
    ServedPlayer player(kit, config, std::vector<float>(4, 0.0F), plain_update(0.1F));
    Served& served = player.served();
    if (served.computes()) {
      for (std::uint64_t step = 1; step <= before; ++step)
        player.step(static_cast<std::int64_t>(step), std::vector<float>(4, 1.0F));
    } else {
      served.begin(player.weights);
      Until all([&] {
        served.poll();
        return served.steps_applied() == before;
      });
      kit.timeout.wait(all, {});
      for (std::int64_t step = 1; step <= static_cast<std::int64_t>(before); ++step)
        EXPECT_TRUE(Flow(served.serve({player.weights, player.gradients}, {step})).over())
            << "step " << step << " is over";
      EXPECT_FALSE(Flow(served.serve({player.weights, player.gradients}, {before + 1})).over());
    }
    kit.barrier();
    player.close();
  });
}

// --- who looks finds one version --------------------------------------------------------------------

// Workers go on between their looks, and come to these at different times.
TEST(Served, ShowsAllReadersTheSameWeights) {
  for (const Owners owners : {Owners::all, Owners::nodes})
    for (std::uint64_t run = 1; run <= 10; ++run) {
      const ThreadTeamConfig team{
          .ranks = 4, .nodes = {0, 0, 1, 1}, .delay_seed = run, .maximum_delay_us = 200};
      on_threads(team, [&](Kit& kit) {
        Served::Config config;
        config.owners = owners;
        constexpr std::size_t floats = 22;
        ServedPlayer player(kit, config, std::vector<float>(floats, 0.0F), plain_update(1));
        std::vector<std::vector<float>> seen;
        for (std::int64_t step = 1; step <= 12; ++step) {
          player.step(step, std::vector<float>(floats, -1.0F));
          if (step % 3 != 0) continue;
          seen.emplace_back(floats);
          player.driver->look(seen.back(), {static_cast<std::uint64_t>(step), 4});
        }
        player.close();
        EXPECT_NE(seen.front(), seen.back());
        for (const auto& weights : seen)
          for (const float weight : weights) {
            const auto all = kit.gather(std::bit_cast<std::uint32_t>(weight));
            EXPECT_EQ(std::count(all.begin(), all.end(), all.front()), 4);
          }
      });
    }
}

// --- where masters are ------------------------------------------------------------------------------

TEST(Served, PutsMastersOnDifferentNodes) {
  Served::Config config;
  config.owners = Owners::master;
  const std::vector<int> nodes{0, 0, 0, 1, 1, 1, 2, 2, 2};
  const auto serving = [&](std::int64_t masters) {
    config.masters = masters;
    return config.serving_ranks(nodes);
  };
  EXPECT_EQ(serving(1), (std::vector<int>{0}));
  EXPECT_EQ(serving(2), (std::vector<int>{0, 3}));
  EXPECT_EQ(serving(4), (std::vector<int>{0, 1, 3, 6}));
  EXPECT_EQ(serving(7), (std::vector<int>{0, 1, 2, 3, 4, 6, 7}));
  EXPECT_THROW(serving(9), core::ConfigError);
}

// --- what was not yet told is not lost ---

TEST(Served, SubMastersThatGoOnTellTheirParentWhatTheyHadHeardBefore) {
  constexpr std::int64_t steps = 6;
  constexpr std::size_t floats = 5 * steps;
  const MakeUpdate count = [](std::span<float> weights) {
    return [=](std::span<const float> gradients, double) {
      for (std::size_t k = 0; k < weights.size(); ++k)
        weights[k] += gradients[k] != 0 ? 1.0F : 0.0F;
    };
  };
  Served::Config config;
  config.owners = Owners::master;
  config.groups = 2;
  config.parent_every = 1000;  // only at the end
  on_threads({.ranks = 5}, [&](Kit& kit) {
    const int rank = kit.communicator.rank();
    const auto play = [&](ServedPlayer& player, std::int64_t first, std::int64_t last) {
      for (std::int64_t step = first; step <= last; ++step) {
        if (!player.served().computes()) {
          player.serve(step);
          continue;
        }
        std::vector<float> gradient(floats, 0.0F);
        gradient[static_cast<std::size_t>(rank * steps + step - 1)] = 1.0F;
        player.step(step, gradient);
      }
    };
    ServedPlayer first(kit, config, std::vector<float>(floats, 0.0F), count);
    play(first, 1, 3);
    State state;
    first.driver->exchange().give_state(state);
    ServedPlayer second(kit, config, first.weights, count);
    second.driver->exchange().take_state(state);
    kit.barrier();
    play(second, 4, steps);
    second.close();
    for (std::size_t k = 0; k < floats; ++k)
      EXPECT_EQ(second.weights[k], k / steps < 3 ? 0.0F : 1.0F) << "gradient " << k;
  });
}

// --- what cannot be ---------------------------------------------------------------------------------

std::string refusal(int ranks, Served::Config config) {
  std::string said;
  on_threads({.ranks = ranks}, [&](Kit& kit) {
    std::string mine = "nothing";
    try {
      ServedPlayer player(kit, config, std::vector<float>(4, 0.0F), {});
    } catch (const core::ConfigError& error) {
      mine = error.what();
    }
    if (kit.communicator.rank() == 0) said = mine;
  });
  return said;
}

TEST(Served, RefusesSettingsThatContradictEachOther) {
  const auto names = [](const std::string& said, const std::string& key) {
    return said.find(key) != std::string::npos;
  };
  Served::Config config;
  config.masters = 2;
  EXPECT_TRUE(names(refusal(2, config), "exchanges.served.masters")) << refusal(2, config);
  config = {};
  config.groups = 1;
  EXPECT_TRUE(names(refusal(2, config), "exchanges.served.groups"));
  config.owners = Owners::master;
  EXPECT_TRUE(names(refusal(2, config), "none compute")) << refusal(2, config);
  config.groups = 2;
  EXPECT_TRUE(names(refusal(4, config), "there are 1 workers"));
  config.synchronous = true;
  EXPECT_TRUE(names(refusal(6, config), "exchanges.served.groups"));
  config = {};
  config.ranks_per_worker = 2;
  EXPECT_TRUE(names(refusal(3, config), "exchanges.served.ranks_per_worker"));
  config.inner = "gossip";
  EXPECT_TRUE(names(refusal(2, config), "exchanges.served.inner"));
}

// --- owners that compute are near, or late -----------------------------------------------------------

/// Two workers that own a half each, with a clock that stands still but for what a test spends; the second
/// one answers when it is told to.
struct Halves {
  static constexpr std::int64_t step_ns = 8'000'000, look_ns = 100'000;

  explicit Halves(Rule rule) : node({0, 0}) {
    for (std::size_t rank = 0; rank < 2; ++rank) {
      Served::Config config;
      config.rule.rule = rule;
      players.push_back(std::make_unique<ServedPlayer>(
          node.kit(rank), config, std::vector<float>(8, 1.0F), plain_update(0.1F)));
      players[rank]->served().begin(players[rank]->weights);
    }
    node.communicator(0).while_waiting = [this] {
      node.team.clock_ns += look_ns;
      ++node.team.sweep;
      if (answers_after_ns <= waited_ns()) players[1]->served().poll();
    };
  }
  std::int64_t waited_ns() const { return node.team.clock_ns - went_on_ns; }
  /// Computes for a step; returns how long it then waited.
  std::int64_t step(std::int64_t number, std::int64_t answer_ns) {
    answers_after_ns = answer_ns;
    node.team.clock_ns += step_ns;
    ++node.team.sweep;
    went_on_ns = node.team.clock_ns;
    players[0]->step(number, std::vector<float>(8, 1.0F));
    return waited_ns();
  }
  LockstepNode node;
  std::vector<std::unique_ptr<ServedPlayer>> players;
  std::int64_t answers_after_ns = 0, went_on_ns = 0;
};

TEST(Served, TakesAnswersThatAreNear) {
  constexpr std::int64_t near_ns = Halves::step_ns / 10;
  for (const Rule rule : {Rule::downpour, Rule::easgd, Rule::gem}) {
    Halves halves(rule);
    for (std::int64_t step = 1; step <= 5; ++step) {
      const std::int64_t waited = halves.step(step, near_ns);
      EXPECT_GE(waited, near_ns);
      EXPECT_LE(waited, near_ns + 20 * Halves::look_ns);  // a head, a share and an answer
    }
    EXPECT_EQ(halves.players[1]->driver->totals().freshness.age_sum, 0)
        << "each share is made of the answer before";
  }
}

TEST(Served, WaitsForALateOwnerOnceAndForAQuarterOfAStep) {
  constexpr std::int64_t never = 1'000'000'000'000, quarter = Halves::step_ns / 4;
  Halves halves(Rule::downpour);
  const std::int64_t first = halves.step(1, never);
  EXPECT_GE(first, quarter);
  EXPECT_LE(first, quarter + 20 * Halves::look_ns);
  for (std::int64_t step = 2; step <= 4; ++step) EXPECT_EQ(halves.step(step, never), 0);
  halves.step(5, 0);  // back: it has answered what was sent in the first step
  for (int sweep = 0; sweep < 3; ++sweep) {
    ++halves.node.team.sweep;
    halves.players[1]->served().poll();
  }
  EXPECT_GT(halves.step(6, Halves::step_ns / 10), 0) << "waited for as before";
}

TEST(Served, DoesNotWaitForAsLongAsAnEvaluationBeforeTheStepTook) {
  constexpr std::int64_t never = 1'000'000'000'000, quarter = Halves::step_ns / 4;
  Halves halves(Rule::downpour);
  Served& waiting = halves.players[0]->served();
  waiting.pause();
  halves.node.team.clock_ns += 600'000'000'000;
  waiting.resume();
  EXPECT_LE(halves.step(1, never), quarter + 20 * Halves::look_ns);
}

// Others would miss a master whose workers always come in time: it never waits.
TEST(Served, GivesSignsOfLifeWhereItServesWithoutAWait) {
  LockstepNode node({0, 0});
  node.team.clock_ns = 1'000'000'000;
  Served::Config config;
  config.owners = Owners::master;
  config.every = 1000;  // nothing is due before
  ServedPlayer master(node.kit(0), config, std::vector<float>(8, 1.0F), plain_update(0.1F));
  for (std::int64_t step = 1; step <= 100; ++step) {
    node.team.clock_ns += 1'000'000'000;
    master.serve(step);
  }
  EXPECT_GE(node.kit(0).status.last_beat_ns(0), node.team.clock_ns - 2'000'000'000);
}

// Of another node nothing is known but what it sends.
TEST(Served, TellsOwnersOfOtherNodesThatSilenceIsExpected) {
  LockstepNode node({0, 1});
  node.team.clock_ns = 1'000'000'000;
  Served::Config config;
  config.owners = Owners::master;
  std::vector<std::unique_ptr<ServedPlayer>> players;
  for (std::size_t rank = 0; rank < 2; ++rank) {
    players.push_back(std::make_unique<ServedPlayer>(
        node.kit(rank), config, std::vector<float>(8, 1.0F), plain_update(0.1F)));
    players[rank]->served().begin(players[rank]->weights);
  }
  const auto sign_after = [&] {
    for (int sweep = 0; sweep < 3; ++sweep) {
      ++node.team.sweep;
      players[0]->served().poll();
    }
    return node.kit(0).status.last_sign_ns(1);
  };
  node.team.clock_ns += 10'000'000'000;
  players[1]->served().poll();
  EXPECT_GT(sign_after(), 0);
  players[1]->served().pause();
  EXPECT_EQ(sign_after(), 0);
  node.team.clock_ns += 10'000'000'000;
  players[1]->served().poll();
  EXPECT_GT(sign_after(), 0) << "it is back";
}

// An answer that comes during a pass is not in the gradient that this pass brings.
TEST(WeightClient, SaysWhatItsGradientsWereMadeOf) {
  constexpr int shares = 10;
  std::vector<float> weights(3, 1.0F);
  const std::vector<float> gradients(3, 1.0F);
  LockstepNode node({0, 0});
  const Group owners(node.kit(0).site(weights.size()), {0, 1}, 2);
  const Group workers(node.kit(1).site(weights.size()), {0, 1}, 2);
  WeightServer owner(owners, {1}, 1, weights.size(), {}, plain_update(0.1F), false);
  owner.begin(weights);
  WeightClient worker(workers, {{0, {0, weights.size()}}}, weights.size(), {true, false}, nullptr);
  for (int share = 0; share < shares; ++share) {
    worker.send_gradients(gradients, 0);
    worker.take_central(weights);
    for (int sweep = 0; sweep < 2; ++sweep) {
      ++node.team.sweep;
      owner.poll();
    }
  }
  EXPECT_EQ(owner.staleness().used, shares);
  EXPECT_EQ(owner.staleness().age_sum, shares - 1) << "all but the first miss the last update";
  EXPECT_EQ(owner.staleness().age_maximum, 1);
}

TEST(Served, CountsHowOldSharesAre) {
  on_threads({.ranks = 3}, [&](Kit& kit) {
    Served::Config config;
    config.owners = Owners::master;
    ServedPlayer player(kit, config, std::vector<float>(6, 0.0F), plain_update(0.1F));
    for (std::int64_t step = 1; step <= 40; ++step)
      if (player.served().computes())
        player.step(step, std::vector<float>(6, 1.0F));
      else
        player.serve(step);
    player.close();
    const Freshness fresh = player.driver->totals().freshness;
    if (player.served().computes()) return;
    EXPECT_EQ(fresh.used, 80U);   // each share once
    EXPECT_GT(fresh.age_sum, 0);  // two workers come between each other
    EXPECT_LE(fresh.age_maximum, 40);
  });
}

}  // namespace
}  // namespace sagips::comm::testing

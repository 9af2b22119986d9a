#include "sagips/comm/exchange_driver.hpp"

#include <gtest/gtest.h>

#include "sagips/core/text.hpp"
#include "tests/comm/lockstep.hpp"
#include "tests/core/message_of.hpp"

namespace sagips::comm::testing {
namespace {

using sagips::testing::message_of;

/// A replica and the driver of its exchange.
struct Driven {
  Driven(const Site& site, const std::string& name, const ExchangesConfig& config = {},
         int index = 0)
      : weights(site.floats, 1.0F),
        gradients(site.floats, static_cast<float>(site.communicator->rank())),
        driver(make_exchange(name, config, site), site, index, "the generator's gradients") {}

  void start(std::int64_t epoch = 1) { driver.start({weights, gradients}, {epoch}); }
  void after_update(std::int64_t epoch = 1) { driver.after_update({weights, gradients}, {epoch}); }

  std::vector<float> weights, gradients;
  ExchangeDriver driver;
};

/// Two ranks of a node, polled by the test, which also sets their clock.
struct TwoRanks {
  explicit TwoRanks(const std::string& exchange)
      : first(node.kit(0).site(1000), exchange), second(node.kit(1).site(1000), exchange) {
    node.team.clock_ns = 1'000'000'000;
  }
  void pass_ms(std::int64_t milliseconds) { node.team.clock_ns += milliseconds * 1'000'000; }
  void deliver() { ++node.team.sweep; }

  LockstepNode node{{0, 0}};
  Driven first, second;
};

TEST(ExchangeDriver, KeepsWaitingForALateRankApartFromItsOwnTime) {
  TwoRanks ranks("ring");
  ranks.first.start();
  int looks = 0;
  ranks.node.communicator(0).while_waiting = [&] {
    ++looks;
    if (looks == 1) ranks.pass_ms(50);
    if (looks == 1) ranks.second.start();
    if (looks == 2) ranks.pass_ms(2);
    if (looks == 2) ranks.deliver();
  };
  ranks.first.driver.finish();
  ranks.second.driver.finish();
  const ExchangeTotals prompt = ranks.first.driver.totals(), late = ranks.second.driver.totals();
  EXPECT_DOUBLE_EQ(prompt.waiting_s, 0.050) << "until the other one has begun";
  EXPECT_DOUBLE_EQ(prompt.exposed_s, 0.002) << "what its message took";
  EXPECT_EQ(prompt.hidden_s, 0);
  EXPECT_EQ(late.waiting_s, 0);
  EXPECT_EQ(late.exposed_s, 0);
  EXPECT_EQ(ranks.first.gradients, std::vector<float>(1000, 0.5F));
  EXPECT_EQ(ranks.second.gradients, ranks.first.gradients);
}

TEST(ExchangeDriver, CountsAsHiddenWhatCameWhileTheRankComputed) {
  TwoRanks ranks("ring");
  ranks.first.start();
  ranks.second.start();
  ranks.first.driver.progress();
  EXPECT_TRUE(ranks.first.driver.in_flight());
  ranks.pass_ms(4);
  ranks.deliver();
  ranks.first.driver.progress();
  EXPECT_FALSE(ranks.first.driver.in_flight()) << "progress alone brings it home";
  ranks.pass_ms(5);
  ranks.first.driver.finish();
  const ExchangeTotals totals = ranks.first.driver.totals();
  EXPECT_DOUBLE_EQ(totals.hidden_s, 0.004) << "until it had come, not until it was asked for";
  EXPECT_EQ(totals.waiting_s, 0);
  EXPECT_EQ(totals.exposed_s, 0);
}

TEST(ExchangeDriver, HidesNothingAfterTheExchangeIsOver) {
  TwoRanks ranks("none");
  ranks.first.start();
  ranks.pass_ms(20);
  ranks.first.driver.finish();
  EXPECT_EQ(ranks.first.driver.totals().hidden_s, 0) << "nothing was under way";
}

TEST(ExchangeDriver, TimesTheMixingOfWeights) {
  TwoRanks ranks("gossip");
  for (Driven* driven : {&ranks.first, &ranks.second}) {
    driven->weights.assign(1000, driven == &ranks.first ? 0.0F : 1.0F);
    driven->start();
    driven->driver.finish();
  }
  int looks = 0;
  ranks.node.communicator(0).while_waiting = [&] {
    if (++looks > 1) return;
    ranks.pass_ms(20);
    ranks.deliver();
    ranks.second.after_update();
    ranks.deliver();
  };
  ranks.first.after_update();
  const ExchangeTotals totals = ranks.first.driver.totals();
  EXPECT_EQ(ranks.first.weights, std::vector<float>(1000, 0.5F));
  EXPECT_EQ(ranks.second.weights, ranks.first.weights);
  EXPECT_DOUBLE_EQ(totals.exposed_s + totals.waiting_s, 0.020);
  EXPECT_EQ(ranks.second.driver.totals().exposed_s, 0);
}

// Both are under way at once and advance in different orders on different ranks.
TEST(ExchangeDriver, DoesNotMixTwoExchangesThatAreUnderWay) {
  for (const std::uint64_t seed : {1U, 2U, 3U})
    on_threads({.ranks = 4, .delay_seed = seed, .maximum_delay_us = 500}, [](Kit& kit) {
      const Site site = kit.site(500);
      Site other = site;  // counts for itself, but shares the tags
      other.traffic = std::make_shared<Cost>();
      Driven first(site, "chunked_ring"), second(other, "chunked_ring", {}, 1);
      for (std::int64_t epoch = 1; epoch <= 5; ++epoch) {
        const auto rank = static_cast<float>(kit.communicator.rank());
        first.gradients.assign(500, rank);
        second.gradients.assign(500, 100 + rank);
        first.start(epoch);
        second.start(epoch);
        const bool even = kit.communicator.rank() % 2 == 0;
        for (const auto end = now_ns() + 5'000'000; now_ns() < end;)
          (even ? first : second).driver.progress();
        first.driver.finish();
        second.driver.finish();
        EXPECT_EQ(first.gradients, std::vector<float>(500, 1.5F));
        EXPECT_EQ(second.gradients, std::vector<float>(500, 101.5F));
      }
      EXPECT_EQ(first.driver.totals().traffic, second.driver.totals().traffic);
    });
}

TEST(ExchangeDriver, NamesThePartnerThatDoesNotCome) {
  run_ranks({.ranks = 2}, [](Communicator& communicator) {
    Kit kit(communicator, {.timeout_s = 0.2, .alarmed = {}});
    Driven driven(kit.site(10), "ring");
    kit.barrier();  // rank 1 has shown its process
    if (communicator.rank() == 0) {
      driven.start();
      const std::string message = message_of<CommError>([&] { driven.driver.finish(); });
      EXPECT_EQ(message.rfind(core::text("rank 1 (process ", getpid(),
                                         ") has not come to the exchange of the generator's "
                                         "gradients within 0.2 s"),
                              0),
                0U)
          << message;
    }
    kit.barrier();
  });
}

TEST(ExchangeDriver, RefusesAReplicaOfAnotherLength) {
  on_threads({.ranks = 1}, [](Kit& kit) {
    Driven driven(kit.site(10), "none");
    driven.gradients.resize(11);
    EXPECT_EQ(message_of<core::Error>([&] { driven.start(); }),
              "a replica of 11 floats came to the exchange of the generator's gradients, which was "
              "made for 10.");
  });
}

TEST(ExchangeTotals, AddUpButForTheOldestAndComeBackFromACheckpoint) {
  const std::vector<double> before{7, 6, 500, 0.5, 0.25, 2, 4, 1, 2, 10, 5, 0.5};
  const std::vector<double> now{3, 2, 100, 0.125, 0.5, 1, 2, 0, 1, 8, 4, 0.25};
  ExchangeTotals totals = ExchangeTotals::of(before);
  EXPECT_EQ(totals.numbers(), before);
  EXPECT_EQ(totals.traffic, (Cost{6, 500}));
  EXPECT_EQ(totals.age_mean(), 2.5);
  totals += ExchangeTotals::of(now);
  EXPECT_EQ(totals.numbers(),
            (std::vector<double>{10, 8, 600, 0.625, 0.75, 3, 6, 1, 3, 18, 5, 0.75}));
  totals -= ExchangeTotals::of(now);
  EXPECT_EQ(totals.numbers(), before) << "the oldest stays";
  EXPECT_EQ(ExchangeTotals::of({7}).numbers(),
            (std::vector<double>{7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}))
      << "of an earlier version";
  EXPECT_EQ(ExchangeTotals().age_mean(), 0);
}

}  // namespace
}  // namespace sagips::comm::testing

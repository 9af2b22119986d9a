#include "sagips/comm/exchange_driver.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <thread>

#include "sagips/core/text.hpp"
#include "tests/comm/kit.hpp"
#include "tests/core/message_of.hpp"

namespace sagips::comm::testing {
namespace {

using sagips::testing::message_of;

void sleep_ms(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

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

/// Both ranks' reports of one call of a ring, to which the second comes 50 ms late.
std::array<ExchangeReport, 2> reports_of_a_late_rank() {
  std::array<ExchangeReport, 2> reports;
  on_threads({.ranks = 2}, [&](Kit& kit) {
    Driven driven(kit.site(1000), "ring");
    kit.barrier();
    if (kit.communicator.rank() == 1) sleep_ms(50);
    driven.start();
    driven.driver.finish();
    EXPECT_EQ(driven.gradients, std::vector<float>(1000, 0.5F));
    reports[static_cast<std::size_t>(kit.communicator.rank())] = driven.driver.report();
  });
  return reports;
}

/// Times hold when the machine is not busy with others: one of 20 attempts is enough.
template <class Holds>
bool holds_once(Holds holds) {
  for (int attempt = 0; attempt < 20; ++attempt)
    if (holds()) return true;
  return false;
}

TEST(ExchangeDriver, KeepsWaitingForALateRankApartFromItsOwnTime) {
  EXPECT_TRUE(holds_once([] {
    const auto [prompt, late] = reports_of_a_late_rank();
    EXPECT_GT(prompt.waiting_s, 0.03);
    return late.waiting_s < 0.005 && prompt.waiting_s < 0.06 && prompt.exposed_s < 0.01;
  }));
}

TEST(ExchangeDriver, CountsAsHiddenWhatCameWhileTheRankComputed) {
  EXPECT_TRUE(holds_once([] {
    bool holds = false;
    on_threads({.ranks = 2, .delay_seed = 2, .maximum_delay_us = 20000}, [&](Kit& kit) {
      Driven driven(kit.site(1000), "ring");
      kit.barrier();
      driven.start();
      for (int k = 0; k < 1000 && driven.driver.in_flight(); ++k) {
        sleep_ms(5);
        driven.driver.progress();
      }
      EXPECT_FALSE(driven.driver.in_flight()) << "progress alone brings it home";
      driven.driver.finish();
      const ExchangeReport report = driven.driver.report();
      if (kit.communicator.rank() == 0)
        holds = report.hidden_s > 0.003 && report.waiting_s + report.exposed_s < 0.001;
    });
    return holds;
  }));
}

TEST(ExchangeDriver, HidesNothingAfterTheExchangeIsOver) {
  on_threads({.ranks = 1}, [](Kit& kit) {
    Driven driven(kit.site(10), "none");
    driven.start();
    sleep_ms(20);
    driven.driver.finish();
    EXPECT_EQ(driven.driver.report().hidden_s, 0) << "nothing was under way";
  });
}

TEST(ExchangeDriver, TimesTheMixingOfWeights) {
  on_threads({.ranks = 2}, [](Kit& kit) {
    Driven driven(kit.site(10), "gossip");
    kit.barrier();
    driven.weights.assign(10, static_cast<float>(kit.communicator.rank()));
    driven.start();
    driven.driver.finish();
    const double before = driven.driver.report().exposed_s + driven.driver.report().waiting_s;
    if (kit.communicator.rank() == 1) sleep_ms(20);
    driven.after_update();
    const double after = driven.driver.report().exposed_s + driven.driver.report().waiting_s;
    EXPECT_EQ(driven.weights, std::vector<float>(10, 0.5F));
    if (kit.communicator.rank() == 0) {
      EXPECT_GT(after - before, 0.015);
    }
  });
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
      EXPECT_EQ(first.driver.report().traffic, second.driver.report().traffic);
    });
}

TEST(ExchangeDriver, NamesThePartnerThatDoesNotCome) {
  run_ranks({.ranks = 2}, [](Communicator& communicator) {
    Kit kit(communicator, {.timeout_s = 0.2, .alarmed = {}});
    Driven driven(kit.site(10), "ring");
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

TEST(ExchangeDriver, ReportsWhatCameSinceAnEarlierReport) {
  on_threads({.ranks = 2}, [](Kit& kit) {
    Driven driven(kit.site(10), "ring");
    driven.start(1);
    driven.driver.finish();
    const ExchangeReport before = driven.driver.report();
    for (std::int64_t epoch = 2; epoch <= 4; ++epoch) {
      driven.start(epoch);
      driven.driver.finish();
    }
    const ExchangeReport since = driven.driver.report() - before;
    EXPECT_EQ(since.calls, 3U);
    EXPECT_EQ(since.traffic, (Cost{3, 120}));
    EXPECT_NEAR(since.exposed_s, driven.driver.report().exposed_s - before.exposed_s, 1e-12);
    EXPECT_GE(since.exposed_s, 0);
  });
}

}  // namespace
}  // namespace sagips::comm::testing

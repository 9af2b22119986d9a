#include "sagips/comm/ranks.hpp"

#include <gtest/gtest.h>

#include "sagips/comm/exchange_driver.hpp"
#include "sagips/comm/exchanges.hpp"
#include "tests/comm/thread_communicator.hpp"

namespace sagips::comm {
namespace {

void on_ranks(const ThreadTeamConfig& team, const std::function<void(Ranks&)>& body) {
  run_ranks(team, [&](Communicator& communicator) {
    Ranks ranks(communicator);
    body(ranks);
    ranks.gather(0);  // nobody's memory goes while others look
  });
}

TEST(Ranks, TellsEverybodyTheBytesOfTheFirst) {
  for (int n = 1; n <= 9; ++n)
    on_ranks({.ranks = n, .delay_seed = 4, .maximum_delay_us = 100}, [](Ranks& ranks) {
      for (const std::size_t length : {0U, 1U, 10000U}) {
        const std::vector<std::byte> told(length, std::byte{42});
        std::vector<std::byte> bytes = ranks.is_first() ? told : std::vector<std::byte>(3);
        ranks.broadcast(bytes);
        EXPECT_EQ(bytes, told) << "rank " << ranks.rank() << " of " << ranks.size();
      }
    });
}

TEST(Ranks, GathersAValueOfEach) {
  on_ranks({.ranks = 3}, [](Ranks& ranks) {
    EXPECT_EQ(ranks.gather(static_cast<std::uint64_t>(10 + ranks.rank())),
              (std::vector<std::uint64_t>{10, 11, 12}));
  });
}

// The generator's is under way while the discriminator's begins, and ranks advance them in different
// orders.
TEST(Ranks, DoesNotMixTheExchangesOfARun) {
  on_ranks({.ranks = 4, .delay_seed = 1, .maximum_delay_us = 500}, [](Ranks& ranks) {
    ranks.timeout().set_config({.timeout_s = 60, .alarmed = {}});
    const Site sites[] = {ranks.site(500, 1), ranks.site(500, 1)};
    ExchangeDriver first(make_exchange("chunked_ring", {}, sites[0]), sites[0], 0, "first");
    ExchangeDriver second(make_exchange("chunked_ring", {}, sites[1]), sites[1], 1, "second");
    for (std::int64_t epoch = 1; epoch <= 10; ++epoch) {
      std::vector<float> weights(500), low(500, static_cast<float>(ranks.rank()));
      std::vector<float> high(500, static_cast<float>(100 + ranks.rank()));
      first.start({weights, low}, {epoch});
      second.start({weights, high}, {epoch});
      const bool even = ranks.rank() % 2 == 0;
      for (const auto end = now_ns() + 5'000'000; now_ns() < end;)
        (even ? first : second).progress();
      first.finish();
      second.finish();
      EXPECT_EQ(low, std::vector<float>(500, 1.5F));
      EXPECT_EQ(high, std::vector<float>(500, 101.5F));
    }
  });
}

}  // namespace
}  // namespace sagips::comm

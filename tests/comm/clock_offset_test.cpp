// Clocks of other nodes that go wrong by a known amount.
#include "sagips/comm/clock_offset.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/comm/kit.hpp"

namespace sagips::comm::testing {
namespace {

/// A rank whose clock is behind by so much; all else is the other communicator's.
class WrongClock final : public Communicator {
 public:
  WrongClock(Communicator& right, std::int64_t behind_ns)
      : Communicator(right.rank(), right.size()), right_(right), behind_ns_(behind_ns) {
    nodes_ = right.nodes();
  }
  Request send(int to, int tag, std::span<const std::byte> message) override {
    return right_.send(to, tag, message);
  }
  Request receive(int from, int tag, std::span<std::byte> message) override {
    return right_.receive(from, tag, message);
  }
  Request all_reduce(std::span<const float> values, std::span<float> sum) override {
    return right_.all_reduce(values, sum);
  }
  void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) override {
    right_.all_gather(mine, all);
  }
  std::unique_ptr<Memory> share(std::size_t bytes) override { return right_.share(bytes); }
  std::int64_t now_ns() const override { return right_.now_ns() - behind_ns_; }
  void abort(int exit_code) override { right_.abort(exit_code); }
  std::string description() const override { return right_.description(); }

 private:
  bool test(std::uint64_t) override { return true; }  // requests are the other one's
  void forget(std::uint64_t) noexcept override {}
  Communicator& right_;
  std::int64_t behind_ns_;
};

constexpr std::int64_t day_ns = 86'400'000'000'000;

TEST(ClockOffset, IsRightWithinItsUncertainty) {
  on_threads({.ranks = 4, .nodes = {0, 0, 1, 2}}, [](Kit& kit) {
    const std::int64_t behind_ns = (kit.communicator.rank() - 1) * day_ns;
    WrongClock communicator(kit.communicator, kit.communicator.rank() < 2 ? 0 : behind_ns);
    Ranks ranks(communicator);
    const ClockOffset found = clock_offset(ranks);
    if (communicator.rank() < 2) {
      EXPECT_EQ(found.offset_ns, 0) << "one node, one clock";
      EXPECT_EQ(found.uncertainty_ns, 0);
      return;
    }
    EXPECT_GT(found.uncertainty_ns, 0);
    EXPECT_LE(std::abs(found.offset_ns - behind_ns), found.uncertainty_ns);
  });
}

TEST(ClockOffset, TakesTheShortestOfItsRounds) {
  on_threads({.ranks = 2, .nodes = {0, 1}, .delay_seed = 1, .maximum_delay_us = 2000},
             [](Kit& kit) {
               WrongClock communicator(kit.communicator, kit.communicator.rank() * day_ns);
               Ranks ranks(communicator);
               const ClockOffset few = clock_offset(ranks, 1), many = clock_offset(ranks, 200);
               if (communicator.rank() == 0) return;
               EXPECT_LE(std::abs(few.offset_ns - day_ns), few.uncertainty_ns);
               EXPECT_LE(std::abs(many.offset_ns - day_ns), many.uncertainty_ns);
               EXPECT_LT(many.uncertainty_ns, few.uncertainty_ns)
                   << "messages are up to 2 ms late, each as chance has it";
             });
}

}  // namespace
}  // namespace sagips::comm::testing

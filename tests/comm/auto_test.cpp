#include "sagips/comm/exchanges/auto.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "sagips/core/error.hpp"
#include "tests/comm/hand_driven.hpp"
#include "tests/comm/lockstep.hpp"
#include "tests/core/message_of.hpp"

namespace sagips::comm::testing {
namespace {

ExchangesConfig quick() {
  ExchangesConfig config;
  config.automatic.repeats = 3;
  return config;
}

TEST(Auto, SaysWhatItMeasuredAndChooses) {
  on_threads({.ranks = 3}, [](Kit& kit) {
    HandDriven driven(kit, "auto", quick(), 1000);
    const std::string description = driven.exchange().description();
    for (const char* name : {"recursive_doubling", "rabenseifner", "chunked_ring", "ring",
                             "double_tree", "all_reduce", "lanes", "shared_node"})
      EXPECT_NE(description.find(std::string(name) + " "), std::string::npos) << description;
    EXPECT_EQ(driven.driver.totals().traffic, Cost{}) << "measuring is not part of the run";
    const auto choices =
        kit.gather(std::hash<std::string>()(dynamic_cast<const Auto&>(driven.exchange()).choice()));
    for (const auto choice : choices) EXPECT_EQ(choice, choices[0]) << "all ranks agree";
  });
}

/// Takes a known time.
class Timed final : public Exchange {
 public:
  Timed(LockstepTeam& team, std::int64_t call_ns) : team_(team), call_ns_(call_ns) {}
  Task gradients(ReplicaView, Step) override {
    team_.clock_ns += call_ns_;
    co_return;
  }
  Cost cost(std::size_t, Step) const override { return {}; }
  Promise promise() const override { return {.exact = true}; }
  std::vector<int> partners(Step) const override { return {}; }
  std::string description() const override { return "timed"; }

 private:
  LockstepTeam& team_;
  std::int64_t call_ns_;
};

/// An `auto` of two, on one rank with a clock of its own.
struct Race {
  explicit Race(std::int64_t first_ns, std::int64_t second_ns) {
    std::vector<Auto::Candidate> candidates;
    candidates.push_back({"first", std::make_unique<Timed>(team, first_ns)});
    candidates.push_back({"second", std::make_unique<Timed>(team, second_ns)});
    measured = std::make_unique<Auto>(quick().automatic, kit.site(5), std::move(candidates));
  }
  LockstepTeam team{{0}};
  LockstepCommunicator communicator{team, 0};
  Kit kit{communicator};
  std::unique_ptr<Auto> measured;
};

TEST(Auto, LetsTheClockChooseAndASavedChoiceStay) {
  const Race one(3000, 5000);
  Race other(3000, 2000);
  EXPECT_EQ(one.measured->description(), "auto: timed, of first 3 us, second 5 us");
  EXPECT_EQ(one.measured->choice(), "first");
  EXPECT_EQ(other.measured->choice(), "second");
  EXPECT_FALSE(other.measured->promise().repeats) << "two runs may choose differently";
  EXPECT_TRUE(other.measured->promise().resumes);
  State state;
  one.measured->give_state(state);
  other.measured->take_state(state);
  EXPECT_EQ(other.measured->choice(), "first");
}

TEST(Auto, LeavesSharedMemoryOutWhereThereAreSeveralNodes) {
  on_threads({.ranks = 3, .nodes = {0, 1, 1}}, [](Kit& kit) {
    HandDriven driven(kit, "auto", quick());
    EXPECT_EQ(driven.exchange().description().find("shared_node"), std::string::npos);
  });
}

// Name of the choice that a state stands for, on ranks that sit so.
std::vector<std::string> choices_on(const std::vector<int>& nodes) {
  std::vector<std::string> names;
  on_threads({.ranks = 2, .nodes = nodes}, [&](Kit& kit) {
    HandDriven driven(kit, "auto", quick());
    for (int k = 0; k < 7; ++k) {
      driven.exchange().take_state({{"auto.choice", {static_cast<double>(k)}}});
      if (kit.communicator.rank() == 0)
        names.push_back(dynamic_cast<const Auto&>(driven.exchange()).choice());
      EXPECT_EQ(driven.state().at("auto.choice"), std::vector<double>{static_cast<double>(k)});
      EXPECT_EQ(driven.call(k + 1, static_cast<float>(kit.communicator.rank())), 0.5F);
    }
  });
  return names;
}

TEST(Auto, KeepsASavedChoiceAlsoOnOtherNodes) { EXPECT_EQ(choices_on({0, 0}), choices_on({0, 1})); }

TEST(Auto, RefusesAChoiceThatIsNotKnownHere) {
  on_threads({.ranks = 1}, [](Kit& kit) {
    HandDriven driven(kit, "auto", quick());
    const double not_a_number = std::numeric_limits<double>::quiet_NaN();
    for (const State& state : {State{}, State{{"auto.choice", {}}}, State{{"auto.choice", {-1}}},
                               State{{"auto.choice", {8}}}, State{{"auto.choice", {not_a_number}}}})
      EXPECT_EQ(sagips::testing::message_of<core::StateError>(
                    [&] { driven.exchange().take_state(state); }),
                "the state of exchange 'auto' holds no choice that is known here.");
  });
}

}  // namespace
}  // namespace sagips::comm::testing

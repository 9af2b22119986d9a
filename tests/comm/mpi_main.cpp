// The conformance checks with MPI carrying the messages: `mpirun -n N comm_mpi_test`.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>

#include "sagips/comm/mpi_communicator.hpp"
#include "sagips/comm/ranks.hpp"
#include "tests/comm/conformance.hpp"
#include "tests/comm/served_checks.hpp"

namespace sagips::comm::testing {
namespace {

Communicator* world = nullptr;

std::unique_ptr<Kit> only_kit;

Kit& kit() { return *only_kit; }

// Whether an exchange needs one node where there are several.
bool cannot_run(const std::string& name) {
  return name == "shared_node" && world->ranks_on_node() < world->size();
}

class EveryExchange : public ::testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Known, EveryExchange, ::testing::ValuesIn(exchange_names()),
                         [](const auto& name) { return name.param; });

TEST_P(EveryExchange, EqualsTheSerialModelUnderMpi) {
  if (cannot_run(GetParam())) GTEST_SKIP() << "needs one node";
  for (const std::size_t floats : {0U, 1U, 3U, 1000U, 51206U})
    check_values(kit(), GetParam(), busy_config(world->size()), floats);
}

TEST_P(EveryExchange, GoesOnWhereItWasSavedUnderMpi) {
  if (cannot_run(GetParam())) GTEST_SKIP() << "needs one node";
  check_resumes(kit(), GetParam(), busy_config(world->size()));
}

TEST_P(EveryExchange, OneSidedOnesNeverShowHalfAnArrayUnderMpi) {
  if (cannot_run(GetParam())) GTEST_SKIP() << "needs one node";
  check_one_sided(kit(), GetParam(), busy_config(world->size()), 51206);
}

// The others would wait for it for ever, each time.
TEST(Memory, IsNotFreedWithoutTheRankThatFailed) {
  for (int time = 0; time < 3; ++time) {
    const auto group = world->split(0);
    group->keep_memory();
    try {
      const auto part = group->split(world->rank() / 2);
      // of parts that span nodes none can be had (Communicator::split)
      const bool one_node = part->ranks_on_node() == part->size();
      const auto in_group = group->share(64), in_part = one_node ? part->share(64) : nullptr;
      const auto later = in_group->block(world->rank()) != nullptr ? group->share(8) : nullptr;
      if (world->rank() == world->size() - 1) throw CommError("on fire");
    } catch (const CommError&) {
      EXPECT_EQ(world->rank(), world->size() - 1);
    }
    kit().barrier();
    if (time < 2) group->leave_memory();
  }
}

TEST(Variants, EqualTheSerialModelUnderMpi) {
  ExchangesConfig config = busy_config(world->size());
  config.grouped.leader = Grouped::Leader::drawn;
  config.grouped.rule = Grouped::Rule::inner_then_outer;
  config.gossip.form = Gossip::Form::one_sided;
  check_values(kit(), "arar_arar", config, 1000);
  check_one_sided(kit(), "rma_arar_arar", config, 1000);
  check_one_sided(kit(), "gossip", config, 1000);
  config.grouped.inner = config.grouped.outer = "rma_ring";
  check_one_sided(kit(), "grouped", config, 51206);
}

class EveryForm : public ::testing::TestWithParam<ServedForm> {};

INSTANTIATE_TEST_SUITE_P(Known, EveryForm, ::testing::ValuesIn(served_forms()),
                         [](const auto& form) { return form.param.what; });

TEST_P(EveryForm, ServesUnderMpi) {
  const int ranks = world->size();
  if (ranks < GetParam().ranks || ranks % GetParam().config.ranks_per_worker != 0)
    GTEST_SKIP() << "needs another number of ranks";
  check_applied_once(kit(), GetParam().config, 10);
  // ranks that spin on a processor that they share take seconds for what others do at once
  const std::string& form = GetParam().what;
  if (std::getenv("SAGIPS_LONG_TESTS") == nullptr && form != "All" && form != "Master") return;
  for (const auto rule : {CentralRuleConfig::Rule::easgd, CentralRuleConfig::Rule::gem}) {
    Served::Config config = GetParam().config;
    config.rule.rule = rule;
    check_settles(kit(), config, 150);
  }
}

TEST(Split, GivesPartsWithMessagesAndMemoryOfTheirOwnUnderMpi) {
  if (world->ranks_on_node() < world->size())
    GTEST_SKIP() << "Open MPI 4 confuses windows over nodes of parts that share a node (#9492)";
  const int colour = world->rank() % 2;
  for (int repeat = 0; repeat < 2; ++repeat) {
    const auto part = world->split(colour);
    ASSERT_EQ(part->size(), (world->size() + 1 - colour) / 2);
    EXPECT_EQ(part->rank(), world->rank() / 2);
    Ranks ranks(*part);
    const auto all = ranks.gather(static_cast<std::uint64_t>(world->rank()));
    for (std::size_t r = 0; r < all.size(); ++r) EXPECT_EQ(all[r], 2 * r + colour);
    std::vector<std::byte> bytes(ranks.is_first() ? 5 : 0, static_cast<std::byte>(colour + 1));
    ranks.broadcast(bytes);
    EXPECT_EQ(bytes, std::vector<std::byte>(5, static_cast<std::byte>(colour + 1)));
    EXPECT_FALSE(ranks.status().failure_claimed());
  }
}

TEST(Memory, BeginsWithACacheLineOnEveryRankUnderMpi) {
  std::array<std::byte, 100> mine{}, theirs{};
  mine.fill(static_cast<std::byte>(world->rank() + 1));
  const auto memory = world->share(mine.size());
  memory->store(0, mine);
  kit().gather(0);
  for (int rank = 0; rank < world->size(); ++rank) {
    if (const std::byte* block = memory->block(rank)) {
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % 64, 0U) << "of rank " << rank;
      std::copy_n(block, theirs.size(), theirs.begin());
    } else {
      memory->fetch(rank, 0, theirs);
    }
    EXPECT_EQ(theirs.front(), static_cast<std::byte>(rank + 1));
    EXPECT_EQ(theirs.back(), static_cast<std::byte>(rank + 1));
  }
  kit().gather(0);  // nobody frees what another reads
}

}  // namespace
}  // namespace sagips::comm::testing

int main(int argc, char** argv) {
  using namespace sagips::comm;
  ::testing::InitGoogleTest(&argc, argv);
  // "--fetched": windows through the network layer; "--nodes K": as if K ranks shared a node
  MpiConfig config;
  for (int i = 1; i < argc; ++i) {
    if (std::string(argv[i]) == "--fetched") config.windows = SharedWindows::avoid;
    if (std::string(argv[i]) == "--nodes" && i + 1 < argc)
      config.pretended_node_size = std::atoi(argv[i + 1]);
  }
  const auto communicator = make_mpi_communicator(config);
  sagips::comm::testing::world = communicator.get();
  if (communicator->rank() > 0)
    delete ::testing::UnitTest::GetInstance()->listeners().Release(
        ::testing::UnitTest::GetInstance()->listeners().default_result_printer());
  using sagips::comm::testing::only_kit;
  only_kit = std::make_unique<sagips::comm::testing::Kit>(*communicator);
  int failed = RUN_ALL_TESTS();
  // a failure on any rank is a failure; rank 0 tells which
  const auto all = only_kit->gather(static_cast<std::uint64_t>(failed));
  for (std::size_t rank = 0; rank < all.size(); ++rank)
    if (all[rank] != 0 && communicator->rank() == 0) {
      std::cout << "rank " << rank << " has failures" << std::endl;
      failed = 1;
    }
  only_kit.reset();  // its memory is MPI's
  return failed;
}

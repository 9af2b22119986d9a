// The law of restarts, through the files: 20 epochs = 10 + restore + 10, bit for bit.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "sagips/core/error.hpp"
#include "sagips/train/checkpoint/checkpoint_file.hpp"
#include "sagips/train/checkpoint/checkpoints.hpp"
#include "sagips/train/checkpoint/restore.hpp"
#include "tests/core/temporary_folder.hpp"
#include "tests/record/full_disk.hpp"
#include "tests/train/shelf.hpp"
#include "tests/train/small_ranks.hpp"

namespace sagips::train {
namespace {

using namespace sagips::testing;

void no_warning(const std::string& line) { ADD_FAILURE() << line; }

TEST(CheckpointFile, KeepsEveryBitOfAState) {
  const float quiet = std::numeric_limits<float>::quiet_NaN();
  const nn::State state{{"floats", torch::tensor({quiet, -0.0F, 1e-42F}).reshape({1, 3})},
                        {"doubles", torch::tensor({0.1, 1e300}, torch::kFloat64)},
                        {"count", torch::full({}, (std::int64_t{1} << 62) + 1, torch::kInt64)},
                        {"letters", torch::tensor({1, 255}, torch::kUInt8)},
                        {"nothing", torch::empty({0}, torch::kFloat64)}};
  const nn::State back =
      to_state(record::parse_tensor_file(record::tensor_file_bytes(to_file(state)), "memory"));
  ASSERT_EQ(back.size(), state.size());
  for (const auto& [name, value] : state) {
    EXPECT_EQ(back.at(name).sizes(), value.sizes()) << name;
    EXPECT_EQ(back.at(name).scalar_type(), value.scalar_type()) << name;
    EXPECT_TRUE(value.numel() == 0 ||
                std::memcmp(back.at(name).data_ptr(), value.data_ptr(), value.nbytes()) == 0)
        << name;
  }
  EXPECT_THROW(to_file({{"flags", torch::zeros({2}, torch::kBool)}}), core::StateError);
}

/// The weights of both networks of every rank after 20 epochs, undisturbed or in two parts with
/// files between them.
void expect_law(int count, const optim::GanConfig& config, const ExchangeChoice& choice,
                const std::string& what) {
  const TemporaryFolder folder;
  on_ranks(count, [&](comm::Ranks& ranks) {
    const std::string place = what + ", rank " + std::to_string(ranks.rank());
    SmallTraining whole(ranks, config, choice);
    whole.loop.run_epochs(20);
    SmallTraining first(ranks, config, choice);
    first.loop.run_epochs(10);
    Shelf shelf(ranks, folder.file("checkpoints"));
    shelf.checkpoints.write(Checkpoints::last, 10, 1.5, nn::give_state(first));
    shelf.checkpoints.settle();
    SmallTraining second(ranks, config, choice);
    const auto restored = restore(ranks, shelf.store, no_warning);
    ASSERT_TRUE(restored) << place;
    EXPECT_EQ(restored->epoch, 10);
    EXPECT_EQ(restored->time_s, 1.5);
    nn::take_state(second, restored->state);
    EXPECT_FALSE(torch::equal(second.weights(), whole.weights())) << place << ": ten are to come";
    second.loop.run_epochs(20);
    EXPECT_TRUE(torch::equal(second.weights(), whole.weights())) << place;
    EXPECT_TRUE(torch::equal(second.gan.predicting_weights(), whole.gan.predicting_weights()))
        << place;
    EXPECT_TRUE(
        torch::equal(second.gan.discriminator(0).weights(), whole.gan.discriminator(0).weights()))
        << place;
  });
}

ExchangeChoice exchange_named(const std::string& name) {
  ExchangeChoice choice{.primary = name};
  choice.config.grouped.group_size = 2;
  choice.config.grouped.outer_every = 3;
  choice.config.averaged.every = 4;
  return choice;
}

bool repeats(const std::string& name) {
  bool promised = false;
  on_ranks(4, [&](comm::Ranks& ranks) {
    const auto exchange = comm::make_exchange(name, exchange_named(name).config, ranks.site(10, 1));
    if (ranks.is_first()) promised = exchange->promise().repeats;
  });
  return promised;
}

TEST(Checkpoints, LetEveryExchangeThatRepeatsGoOnBitForBit) {
  int checked = 0;
  for (const std::string& name : comm::known_exchanges().names()) {
    if (!repeats(name)) continue;
    expect_law(4, small_gan(), exchange_named(name), name);
    ++checked;
  }
  EXPECT_GE(checked, 10) << "exchanges promise to repeat";
}

/// As if the clock had let `auto` choose this candidate.
void choose(SmallTraining& training, double candidate) {
  nn::State state = nn::give_state(training);
  state.at("ranks.exchange.generator.auto.choice").fill_(candidate);
  nn::take_state(training, state);
}

// At the restart the clock says something else: it must not count.
TEST(Checkpoints, KeepTheExchangeThatAutoChose) {
  constexpr double recursive_doubling = 0, ring = 3;  // places in the list of candidates
  std::vector<torch::Tensor> ends;
  for (const double choice : {recursive_doubling, ring}) {
    const TemporaryFolder folder;
    on_ranks(4, [&](comm::Ranks& ranks) {
      const ExchangeChoice by_clock = exchange_named("auto");
      SmallTraining whole(ranks, small_gan(), by_clock);
      choose(whole, choice);
      whole.loop.run_epochs(10);
      Shelf shelf(ranks, folder.file("checkpoints"));
      shelf.checkpoints.write(Checkpoints::last, 10, 1, nn::give_state(whole));
      shelf.checkpoints.settle();
      whole.loop.run_epochs(20);
      SmallTraining second(ranks, small_gan(), by_clock);
      choose(second, ring - choice);
      const auto restored = restore(ranks, shelf.store, no_warning);
      ASSERT_TRUE(restored);
      nn::take_state(second, restored->state);
      second.loop.run_epochs(20);
      EXPECT_TRUE(torch::equal(second.weights(), whole.weights())) << "rank " << ranks.rank();
      if (ranks.is_first()) ends.push_back(whole.weights());
    });
  }
  EXPECT_FALSE(torch::equal(ends[0], ends[1])) << "it would not matter who chose what";
}

TEST(Checkpoints, LetEveryWayToTrainGoOnBitForBit) {
  using Config = optim::GanConfig;
  const std::pair<std::string, void (*)(Config&)> ways[] = {
      {"as in the paper", [](Config&) {}},
      {"generator first",
       [](Config& gan) { gan.optimizer.order = optim::UpdateOrder::generator_first; }},
      {"running mean", [](Config& gan) { gan.generator.average = 0.9; }},
      {"simultaneous", [](Config& gan) { gan.optimizer.update = optim::UpdateMode::simultaneous; }},
      {"one update late",
       [](Config& gan) { gan.optimizer.overlap = optim::Overlap::one_update_late; }},
      {"several steps", [](Config& gan) { gan.optimizer.discriminator_steps = 3; }},
      {"spectral norm", [](Config& gan) { gan.discriminator.spectral_norm = true; }}};
  for (const auto& [what, change] : ways) {
    Config config = small_gan();
    change(config);
    for (const int ranks : {1, 2}) expect_law(ranks, config, {.primary = "ring"}, what);
  }
}

TEST(Checkpoints, AreReadByAnotherNumberOfRanks) {
  const TemporaryFolder folder;
  std::vector<torch::Tensor> written(2);
  on_ranks(2, [&](comm::Ranks& ranks) {
    SmallTraining training(ranks, small_gan(), {.primary = "gossip"});
    training.loop.run_epochs(5);
    written[static_cast<std::size_t>(ranks.rank())] = training.weights();
    Shelf shelf(ranks, folder.file("checkpoints"));
    shelf.checkpoints.write(Checkpoints::last, 5, 1, nn::give_state(training));
    shelf.checkpoints.settle();
  });
  EXPECT_FALSE(torch::equal(written[0], written[1]));
  on_ranks(3, [&](comm::Ranks& ranks) {
    SmallTraining training(ranks, small_gan(), {.primary = "ring"});
    auto restored = restore(ranks, {folder.file("checkpoints"), "run", 2}, no_warning);
    ASSERT_TRUE(restored);
    EXPECT_EQ(restored->ranks, 2);
    forget(restored->state, "ranks.");
    auto list = nn::StateList::taking(restored->state);
    list.part("loop", training.loop);
    EXPECT_TRUE(
        torch::equal(training.weights(), written[static_cast<std::size_t>(ranks.rank() % 2)]));
    training.loop.run_epochs(8);
  });
}

// Two data sets, divided among ranks: nobody takes the discriminator of the other one.
TEST(Checkpoints, GoToRanksThatDoTheSameWork) {
  const auto sources = [](int now, int before, int kinds) {
    std::vector<int> all;
    for (int rank = 0; rank < now; ++rank) all.push_back(source_rank(rank, before, kinds));
    return all;
  };
  EXPECT_EQ(sources(5, 3, 1), (std::vector<int>{0, 1, 2, 0, 1}));
  EXPECT_EQ(sources(7, 3, 2), (std::vector<int>{0, 1, 2, 1, 0, 1, 2}));
  EXPECT_EQ(sources(2, 5, 2), (std::vector<int>{0, 1}));
  for (const int kinds : {1, 2, 3})
    EXPECT_EQ(sources(5, 5, kinds), (std::vector<int>{0, 1, 2, 3, 4})) << "nothing moves";
}

TEST(Checkpoints, GiveWayToTheOneBeforeWhenARankCannotReadItsPart) {
  const TemporaryFolder folder;
  on_ranks(3, [&](comm::Ranks& ranks) {
    Shelf shelf(ranks, folder.file("checkpoints"));
    for (const std::int64_t epoch : {5, 10}) {
      const nn::State state{{"epoch", torch::full({}, epoch, torch::kInt64)}};
      shelf.checkpoints.write(epoch == 10 ? Checkpoints::last : 1, epoch, 1, state);
    }
    shelf.checkpoints.settle();
    EXPECT_EQ(shelf.said.size(), ranks.is_first() ? 2U : 0U);
    ranks.gather(0);
    const std::string part = folder.file("checkpoints/000002_epoch_10/rank_0001.safetensors");
    if (ranks.is_first()) std::filesystem::resize_file(part, 20);
    ranks.gather(0);
    Lines warnings;
    const auto restored =
        restore(ranks, shelf.store, [&](const std::string& line) { warnings.push_back(line); });
    ASSERT_TRUE(restored);
    EXPECT_EQ(restored->epoch, 5);
    EXPECT_EQ(restored->state.at("epoch").item<std::int64_t>(), 5);
    if (!ranks.is_first()) return;
    ASSERT_EQ(warnings.size(), 1U);
    EXPECT_NE(warnings[0].find("rank 1 cannot read its part"), std::string::npos) << warnings[0];
    EXPECT_EQ(shelf.store.names(), Lines{"000001_epoch_5"}) << "the damaged one is set aside";
  });
}

TEST(Checkpoints, RefuseToBeginAnewInSilence) {
  const TemporaryFolder folder;
  on_ranks(1, [&](comm::Ranks& ranks) {
    Shelf shelf(ranks, folder.file("checkpoints"));
    EXPECT_FALSE(restore(ranks, shelf.store, no_warning)) << "none has been written yet";
    shelf.checkpoints.write(Checkpoints::last, 5, 1, {{"x", torch::zeros({3})}});
    std::filesystem::remove(folder.file("checkpoints/000001_epoch_5/manifest.json"));
    int warnings = 0;
    EXPECT_THROW(restore(ranks, shelf.store, [&](const std::string&) { ++warnings; }),
                 core::DataError);
    EXPECT_THROW(restore(ranks, shelf.store, [&](const std::string&) { ++warnings; }),
                 core::DataError)
        << "and the next time again";
    EXPECT_EQ(warnings, 2);
  });
}

TEST(Checkpoints, WarnOnceOfAFullDiskAndSayWhenItIsOver) {
  const TemporaryFolder folder;
  on_ranks(1, [&](comm::Ranks& ranks) {
    Shelf shelf(ranks, folder.file("checkpoints"));
    const auto write = [&](std::int64_t number) {
      shelf.checkpoints.write(number, 10 * number, 1, {{"x", torch::zeros({3})}});
    };
    write(1);
    {
      const FullDisk full;
      write(2);
      write(3);
    }
    EXPECT_EQ(shelf.store.names(), Lines{"000001_epoch_10"});
    ASSERT_EQ(shelf.warned.size(), 1U);
    EXPECT_NE(shelf.warned[0].find("The run goes on"), std::string::npos) << shelf.warned[0];
    write(4);
    write(5);
    EXPECT_EQ(shelf.warned.size(), 1U);
    EXPECT_EQ(shelf.said, (Lines{"checkpoint of epoch 10 written",
                                 "checkpoint of epoch 40 written: there is space again",
                                 "checkpoint of epoch 50 written"}));
  });
}

TEST(Checkpoints, ComeToNothingWhenARankLeavesOneOut) {
  const TemporaryFolder folder;
  on_ranks(2, [&](comm::Ranks& ranks) {
    Shelf shelf(ranks, folder.file("checkpoints"));
    const nn::State state{{"x", torch::zeros({3})}};
    if (ranks.is_first()) shelf.checkpoints.write(1, 5, 1, state);
    shelf.checkpoints.write(2, 7, 1, state);
    shelf.checkpoints.write(Checkpoints::last, 10, 1, state);
    shelf.checkpoints.settle();
    if (!ranks.is_first()) return;
    EXPECT_EQ(shelf.store.names(), (Lines{"000002_epoch_10", "000001_epoch_7"}));
    EXPECT_FALSE(std::filesystem::exists(folder.file("checkpoints/writing_1")));
  });
}

}  // namespace
}  // namespace sagips::train

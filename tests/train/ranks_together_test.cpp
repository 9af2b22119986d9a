// What rank 0 hears, when all stop, and who gets which data.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "sagips/problem/loaded_data.hpp"
#include "sagips/train/checkpoint/stop_agreement.hpp"
#include "sagips/train/collectives.hpp"
#include "sagips/train/distribute.hpp"
#include "sagips/train/rank_reports.hpp"
#include "tests/train/small_ranks.hpp"

namespace sagips::train {
namespace {

using namespace sagips::testing;

using StopKind = record::StopReason::Kind;

record::StopReason reason_where(bool wanted) {
  return wanted ? record::StopReason(StopKind::time_limit) : record::StopReason();
}

TEST(StopAgreement, RanksThatWaitStopAfterTheSameEpoch) {
  std::array<std::int64_t, 3> stopped{};
  on_ranks(3, [&](comm::Ranks& ranks) {
    StopAgreement agreement(ranks, true);
    std::int64_t epoch = 0;
    for (;; ++epoch) {
      const bool wants_stop = ranks.is_first() && epoch >= 40;
      const record::StopReason reason =
          agreement(epoch, {.stop = {StopKind::caller, wants_stop ? "good enough" : ""}}).stop;
      if (!reason) continue;
      EXPECT_EQ(reason.kind, StopKind::caller);
      EXPECT_EQ(reason.text, "good enough");
      break;
    }
    stopped[static_cast<std::size_t>(ranks.rank())] = epoch;
    agreement.part();
  });
  EXPECT_GE(stopped[0], 40);
  EXPECT_EQ(stopped[1], stopped[0]);
  EXPECT_EQ(stopped[2], stopped[0]);
}

// However far the run had come before: the next meeting is as near as in a new run.
TEST(StopAgreement, RanksOfARunThatGoesOnStopAsSoon) {
  on_ranks(2, [&](comm::Ranks& ranks) {
    StopAgreement agreement(ranks, true);
    std::int64_t epoch = 100'000;
    while (!agreement(epoch, {.stop = reason_where(ranks.is_first() && epoch >= 100'010)}).stop)
      ++epoch;
    EXPECT_LE(epoch, 100'030);  // meetings are at most twice as far apart each time
    agreement.part();
  });
}

TEST(StopAgreement, WhatOtherRanksRequestCountsForNothing) {
  on_ranks(2, [&](comm::Ranks& ranks) {
    StopAgreement agreement(ranks, true);
    for (std::int64_t epoch = 0; epoch < 50; ++epoch)
      EXPECT_FALSE(agreement(epoch, {.stop = reason_where(ranks.rank() == 1)}).stop);
    agreement.part();
  });
}

TEST(StopAgreement, RanksThatNeverWaitAreToldAndLeaveWithTheOthers) {
  on_ranks(3, [&](comm::Ranks& ranks) {
    StopAgreement agreement(ranks, false);
    std::int64_t epoch = 0;
    record::StopReason reason;
    while (!reason) {
      reason = agreement(epoch, {.stop = reason_where(ranks.is_first() && epoch == 5)}).stop;
      ++epoch;
      std::this_thread::sleep_for(std::chrono::microseconds(100 * ranks.rank()));
    }
    EXPECT_EQ(reason.kind, StopKind::time_limit);
    EXPECT_EQ(reason.text, "time limit");
    agreement.part();
  });
}

TEST(StopAgreement, NobodyLeavesBeforeTheFirstRankHasFinished) {
  for (const bool waits : {true, false}) {
    std::atomic<bool> finished = false;
    on_ranks(3, [&](comm::Ranks& ranks) {
      StopAgreement agreement(ranks, waits);
      for (std::int64_t epoch = 0; epoch < 3; ++epoch) EXPECT_FALSE(agreement(epoch, {}).stop);
      if (ranks.is_first()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        finished = true;
      }
      agreement.part();
      EXPECT_TRUE(finished);
    });
  }
}

TEST(StopAgreement, RanksThatWaitHearOfACheckpointBeforeTheSameEpoch) {
  std::array<std::vector<std::pair<std::int64_t, std::int64_t>>, 3> heard;
  on_ranks(3, [&](comm::Ranks& ranks) {
    StopAgreement agreement(ranks, true);
    for (std::int64_t epoch = 0; epoch < 100; ++epoch) {
      StopAgreement::Request request;
      request.checkpoint = ranks.is_first() && epoch % 20 == 0 ? epoch + 1 : 0;
      request.meet_by = (epoch / 20 + 1) * 20;
      const StopAgreement::Decision decision = agreement(epoch, request);
      if (decision.checkpoint != 0)
        heard[static_cast<std::size_t>(ranks.rank())].emplace_back(epoch, decision.checkpoint);
    }
    agreement.part();
  });
  ASSERT_GE(heard[0].size(), 4U) << "the first meeting is before epoch 1";
  EXPECT_EQ(heard[0].back(), (std::pair<std::int64_t, std::int64_t>{80, 81}));
  EXPECT_EQ(heard[1], heard[0]);
  EXPECT_EQ(heard[2], heard[0]);
}

TEST(StopAgreement, RanksThatNeverWaitHearOfEveryCheckpointAndOfTheEnd) {
  on_ranks(2, [&](comm::Ranks& ranks) {
    StopAgreement agreement(ranks, false);
    std::vector<std::int64_t> numbers;
    StopAgreement::Decision decision;
    for (std::int64_t epoch = 0; !decision.stop; ++epoch) {
      StopAgreement::Request request;
      if (epoch < 3) request.checkpoint = epoch + 1;
      request.stop = reason_where(epoch == 50);
      decision = agreement(epoch, request);
      if (decision.checkpoint != 0) numbers.push_back(decision.checkpoint);
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    EXPECT_EQ(numbers, (std::vector<std::int64_t>{1, 2, 3}));
    agreement.part();
  });
}

TEST(RankReports, AverageOverRanksAndTellHowFarTheyAreApart) {
  on_ranks(4, [](comm::Ranks& ranks) {
    RankReports reports(ranks, true);
    const auto own = static_cast<float>(ranks.rank());
    const torch::Tensor predictions = torch::full({5, 2}, own);
    const torch::Tensor weights = torch::full({3}, 2 * own);
    for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
      const RankView view = reports.meet(predictions, weights, epoch);
      if (!ranks.is_first()) continue;
      EXPECT_EQ(view.heard, 4);
      EXPECT_NEAR(view.predictions.mean().item<double>(), 1.5, 1e-6);
      EXPECT_NEAR(view.rank_spread[0], std::sqrt(1.25), 1e-6) << "0, 1, 2, 3 around 1.5";
      EXPECT_NEAR(view.consensus_distance, 3 * 5.0, 1e-5) << "three weights 0, 2, 4, 6 around 3";
      EXPECT_EQ(view.oldest_epochs, 0);
    }
  });
}

TEST(RankReports, NobodyWaitsWhereRanksRunFreely) {
  on_ranks(2, [](comm::Ranks& ranks) {
    RankReports reports(ranks, false);
    const torch::Tensor predictions = torch::full({5, 2}, static_cast<float>(ranks.rank()));
    const torch::Tensor weights = torch::zeros({3});
    if (ranks.is_first()) {
      EXPECT_EQ(reports.meet(predictions, weights, 0).heard, 1) << "nobody else is here yet";
      ranks.gather(0);
    } else {
      ranks.gather(0);
      for (std::int64_t epoch = 0; epoch < 30; ++epoch) reports.meet(predictions, weights, epoch);
    }
    const RankView last = reports.close(predictions, weights, 30);
    if (!ranks.is_first()) return;
    EXPECT_EQ(last.heard, 2);
    EXPECT_EQ(last.oldest_epochs, 0);
    EXPECT_NEAR(last.predictions.mean().item<double>(), 0.5, 1e-6);
  });
}

TEST(Distribute, GivesEveryRankWhatTheFirstOneHas) {
  on_ranks(5, [](comm::Ranks& ranks) {
    std::vector<data::Dataset> own;
    if (ranks.is_first()) {
      data::Dataset made;
      made.values = torch::arange(12, torch::kFloat32).reshape({6, 2});
      made.weights = torch::arange(6, torch::kFloat32);
      made.observables = {"x", "y"};
      made.reference = {{"norm_1", 0.1}};
      made.origin = "here";
      data::Dataset plain;
      plain.values = torch::ones({3, 1});
      own = {made, plain};
    }
    const std::vector<data::Dataset> all = distribute(ranks, std::move(own));
    ASSERT_EQ(all.size(), 2U);
    EXPECT_TRUE(torch::equal(all[0].values, torch::arange(12, torch::kFloat32).reshape({6, 2})));
    EXPECT_TRUE(torch::equal(*all[0].weights, torch::arange(6, torch::kFloat32)));
    EXPECT_EQ(all[0].observables, (std::vector<std::string>{"x", "y"}));
    EXPECT_EQ(all[0].reference.at("norm_1"), 0.1);
    EXPECT_EQ(all[0].origin, "here");
    EXPECT_TRUE(torch::equal(all[1].values, torch::ones({3, 1})));
    EXPECT_FALSE(all[1].weights);
  });
}

TEST(DataShare, EachRankDrawsItsOwnHalfOfTheTrainingEvents) {
  const problem::WorkloadEntry entry = problem::SimpleWorkload{
      .name = "gauss",
      .summary = "",
      .parameters = {small_parameter("mean", -2, 4, 1.5), small_parameter("width", 0.1, 2, 0.5)},
      .pipeline = env::Pipeline{GaussEvents{}},
      .observables = {{"x", ""}},
      .settings = ""};
  const auto environment_of = [&](const problem::DataShare& share) {
    problem::DataSettings settings;
    settings.toy_events = 1000;
    return problem::load_data(*entry.make(), settings, 1).training(share);
  };
  const env::Environment whole = environment_of({});
  std::vector<torch::Tensor> halves;
  for (std::int64_t rank = 0; rank < 2; ++rank) {
    problem::DataShare share;
    share.place = {rank, 2};
    share.fraction = 0.5;
    const env::Environment own = environment_of(share);
    halves.push_back(own.channels[0].training.values);
    EXPECT_EQ(own.channels[0].training.size(), 450);
    EXPECT_TRUE(torch::equal(own.channels[0].held_out.values, whole.channels[0].held_out.values));
    EXPECT_TRUE(torch::equal(own.channels[0].moments_or_own().mean,
                             whole.channels[0].moments_or_own().mean))
        << "networks of all ranks look at events in the same units";
  }
  EXPECT_FALSE(torch::equal(halves[0], halves[1]));
  problem::DataShare crowd;
  crowd.place = {0, 901};
  EXPECT_THROW(environment_of(crowd), core::ConfigError) << "900 training events";
}

TEST(Gather, BringsEveryTensorToTheFirstRank) {
  on_ranks(3, [](comm::Ranks& ranks) {
    const auto all = gather(ranks, torch::full({2, 2}, static_cast<float>(ranks.rank())));
    ASSERT_EQ(all.size(), ranks.is_first() ? 3U : 0U);
    for (std::size_t rank = 0; rank < all.size(); ++rank)
      EXPECT_EQ(all[rank].sum().item<double>(), 4.0 * static_cast<double>(rank));
  });
}

}  // namespace
}  // namespace sagips::train

#include "sagips/run/many_ranks.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "tests/comm/thread_communicator.hpp"
#include "workloads/gaussians/gaussians.hpp"

namespace {

using namespace sagips;

run::Workloads workloads() {
  run::Workloads known("workload");
  known.add("gaussians", workloads::gaussians_workload());
  return known;
}

/// On four threads, two on a node: what they saw after the same epochs.
record::SimulatedLearningCurve trained(std::vector<std::string> assignments) {
  for (const char* small : {"train.epochs=6", "train.evaluate_every=3", "toy.events=2000"})
    assignments.emplace_back(small);
  const run::Job job = run::read_job(workloads(), "gaussians/many_ranks", assignments);
  run::ManyRanks ranks(job, 4);
  comm::run_ranks({.ranks = 4, .nodes = {0, 0, 1, 1}}, [&](comm::Communicator& communicator) {
    torch::set_num_threads(1);
    ranks.train(communicator, {});
  });
  return ranks.learning_curve();
}

TEST(ManyRanks, KeepTheSameWeightsWithAnExactExchange) {
  const record::SimulatedLearningCurve curve =
      trained({"exchange=rabenseifner", "generator.shared=all"});
  ASSERT_EQ(curve.points.size(), 3U);
  EXPECT_EQ(curve.points.back().epoch, 6);
  for (const auto& point : curve.points) {
    EXPECT_EQ(point.consensus_distance, 0) << point.epoch;
    for (const double spread : point.spread) EXPECT_LT(spread, 1e-12) << point.epoch;
  }
  EXPECT_NE(curve.points.front().mean, curve.points.back().mean);
}

TEST(ManyRanks, DriftApartWithoutAnExchange) {
  const record::SimulatedLearningCurve curve = trained({"exchange=none"});
  EXPECT_EQ(curve.points.front().consensus_distance, 0);  // all begin with the same weights
  EXPECT_GT(curve.points.back().consensus_distance, 0);
  for (const double spread : curve.points.back().spread) EXPECT_GT(spread, 0);
}

TEST(ManyRanks, RepeatBitForBitWhoeverIsFirst) {
  const record::SimulatedLearningCurve once = trained({"exchange=arar_arar"});
  const record::SimulatedLearningCurve again = trained({"exchange=arar_arar"});
  ASSERT_EQ(once.points.size(), again.points.size());
  for (std::size_t i = 0; i < once.points.size(); ++i) {
    EXPECT_EQ(once.points[i].first, again.points[i].first);
    EXPECT_EQ(once.points[i].mean, again.points[i].mean);
    EXPECT_EQ(once.points[i].consensus_distance, again.points[i].consensus_distance);
  }
}

TEST(ManyRanks, RefuseWhatSimulatedRanksCannotDo) {
  for (const char* assignment : {"generator.start=moments", "exchange=auto", "train.epochs=0",
                                 "train.minutes=1", "early_stop.patience=3"}) {
    const run::Job job = run::read_job(workloads(), "gaussians/many_ranks", {assignment});
    EXPECT_THROW(run::ManyRanks(job, 4), core::ConfigError) << assignment;
  }
}

}  // namespace

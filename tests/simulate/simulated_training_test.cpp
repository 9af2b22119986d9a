// The law that a simulated training runs the very code: what it learns with an exact exchange does not
// depend on where its messages travel.
#include <gtest/gtest.h>

#include "sagips/run/many_ranks.hpp"
#include "sagips/simulate/cluster.hpp"
#include "tests/comm/thread_communicator.hpp"
#include "workloads/gaussians/gaussians.hpp"

namespace {

using namespace sagips;
using simulate::Cluster;

constexpr int ranks = 8;

run::Job small_job() {
  run::Workloads known("workload");
  known.add("gaussians", workloads::gaussians_workload());
  return run::read_job(
      known, "gaussians/many_ranks",
      {"exchange=averaged", "exchanges.averaged.inner=arar_arar", "exchanges.averaged.every=4",
       "train.epochs=8", "train.evaluate_every=2", "toy.events=2000"});
}

TEST(SimulatedTraining, LearnsWhatThreadsLearnBitForBit) {
  const run::Job job = small_job();
  torch::set_num_threads(1);
  run::ManyRanks on_threads(job, ranks), simulated(job, ranks);
  comm::run_ranks({.ranks = ranks, .nodes = {0, 0, 0, 0, 1, 1, 1, 1}},
                  [&](comm::Communicator& communicator) {
                    torch::set_num_threads(1);
                    on_threads.train(communicator, {});
                  });

  Cluster cluster(simulate::read_platform("polaris"), ranks, Cluster::Turns::threads);
  cluster.run([&](comm::Communicator& communicator) {
    torch::set_num_threads(1);
    run::SimulatedClock clock;
    clock.now_s = [] { return Cluster::now_s(); };
    clock.compute = [&](std::int64_t, const std::function<void()>&) {
      Cluster::spend(1e-3 * (1 + communicator.rank()));  // every rank at a pace of its own
    };
    simulated.train(communicator, clock);
  });

  const auto expected = on_threads.learning_curve(), found = simulated.learning_curve();
  ASSERT_EQ(found.points.size(), 5U);
  ASSERT_EQ(found.points.size(), expected.points.size());
  for (std::size_t i = 0; i < found.points.size(); ++i) {
    EXPECT_EQ(found.points[i].first, expected.points[i].first);
    EXPECT_EQ(found.points[i].mean, expected.points[i].mean);
    EXPECT_EQ(found.points[i].spread, expected.points[i].spread);
    EXPECT_EQ(found.points[i].consensus_distance, expected.points[i].consensus_distance);
  }
  EXPECT_GT(found.points[1].consensus_distance, 0);      // two groups
  EXPECT_LT(found.points[2].consensus_distance, 1e-12);  // averaged after epoch 4
  EXPECT_GT(found.points.back().last_s,
            8 * ranks * 1e-3 / 2);  // the slowest computes 8 ms an epoch
}

}  // namespace

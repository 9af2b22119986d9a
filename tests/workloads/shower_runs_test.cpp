// Runs of workload calorimeter3d as its settings make them: threads, ranks, what a run goes on from, collapses.
#include <gtest/gtest.h>

#include "tests/train/small_ranks.hpp"
#include "tests/workloads/shower_learner.hpp"

namespace sagips::run {
namespace {

using core::text;
using testing::full;
using testing::judge;
using testing::laptop;
using testing::Learns;
using testing::maker;
using testing::shower_job;

train::LoopConfig many_epochs(int threads = 1) {
  train::LoopConfig config;
  config.epochs = 1000;
  config.engine.threads = threads;
  return config;
}

double apart(const torch::Tensor& found, const torch::Tensor& wanted) {
  return ((found - wanted).norm() / wanted.norm()).item<double>();
}

// LibTorch's threads share the work inside a convolution of our own, which sums in another order then. Weights are not
// compared: RMSprop makes a whole step of a gradient that is rounding alone.
TEST(ShowerRuns, HaveTheSameGradientsOnTwoThreads) {
  const Learns run(shower_job(laptop, {"batch=4", "data.rows=24"}));
  train::Loop(many_epochs(), *run.learner, {}).run_steps(2);
  const nn::State warm = nn::give_state(*run.learner);
  const auto gradients = [&](int threads) {
    nn::take_state(*run.learner, warm);
    train::Engine engine({.threads = threads});
    const auto batch = run.learner->draw(3);
    std::vector<torch::Tensor> all;
    for (const optim::Pass& pass : run.learner->passes()) {
      engine.gradients(pass, run.learner->steps(), *batch, {});
      all.push_back(run.replica(pass.steps[0]).gradients().clone());
    }
    return all;
  };
  const auto one = gradients(1), two = gradients(2);
  ASSERT_EQ(one.size(), 4U);
  for (std::size_t pass = 0; pass < 4; ++pass) EXPECT_LT(apart(two[pass], one[pass]), 1e-5) << pass;
}

// Random numbers are named by the row in the batch of all ranks, so that labels are flipped alike. A large epsilon
// lets small gradients make small steps: else rounding, of which RMSprop makes whole ones, is told apart.
TEST(ShowerRuns, LearnOnTwoRanksWhatOneLearnsOfTheWholeBatch) {
  const auto learned = [](int ranks, std::int64_t batch, std::int64_t steps) {
    std::vector<torch::Tensor> weights;
    sagips::testing::on_ranks(ranks, [&](comm::Ranks& those) {
      const Learns run(
          shower_job(laptop,
                     {text("batch=", batch), "data.rows=23", "label_flips=0.3",
                      "generator.optimizer.epsilon=1", "discriminator.optimizer.epsilon=1"},
                     {"dropout", "batch_norm"}),
          {those.rank(), those.size()});
      train::RankExchange exchange(those, *run.learner, run.job.exchange_choice(), 1);
      train::Loop::Callbacks callbacks;
      if (ranks > 1) callbacks.exchange = exchange.hooks();
      train::Loop(many_epochs(), *run.learner, callbacks).run_steps(steps);
      if (those.is_first())
        weights = {run.replica(maker).weights().clone(), run.replica(judge).weights().clone()};
    });
    return weights;
  };
  const auto start = learned(1, 8, 0), alone = learned(1, 8, 3), together = learned(2, 4, 3);
  for (const std::size_t player : {maker, judge}) {
    EXPECT_GT(apart(alone[player], start[player]), 1e-3) << player;
    EXPECT_LT(apart(together[player], alone[player]), 1e-5) << player;
  }
}

// Gradients of a step are exchanged four times, 11.6 MB in all; running statistics are not.
TEST(ShowerRuns, ExchangeEachNetworkTwiceAStep) {
  sagips::testing::on_ranks(2, [](comm::Ranks& ranks) {
    Learns run(shower_job(full, {"batch=2", "data.rows=8"}), {ranks.rank(), ranks.size()});
    train::RankExchange exchange(ranks, *run.learner, run.job.exchange_choice(), 1);
    exchange.begin();
    const train::ExchangeHooks hooks = exchange.hooks();
    for (const optim::Action& action : run.learner->schedule()) {
      if (action.kind != optim::Action::Kind::update) continue;
      optim::UpdateStep& step = run.learner->steps()[action.index];
      hooks.gradients_ready(step);
      EXPECT_TRUE(hooks.before_update(step));
      hooks.after_update(step);
    }
    std::int64_t calls = 0, bytes = 0;
    for (const record::Exchanged& report : exchange.reports(1)) {
      EXPECT_EQ(report.calls, 2) << report.subject;
      calls += report.calls, bytes += report.bytes;
    }
    EXPECT_EQ(calls, 4);
    EXPECT_EQ(bytes, 2 * 4 * 87'354 + 2 * 4 * 1'364'983);
  });
}

// Running statistics, squares of gradients, random numbers by their names, and what a collapse is known by.
TEST(ShowerRuns, GoOnBitForBit) {
  const auto run = [](const nn::State* from, std::int64_t until) {
    const Learns of(shower_job(laptop, {"batch=4", "data.rows=22"}));
    train::Loop loop(many_epochs(), *of.learner, {});
    if (from) nn::take_state(loop, *from);
    loop.run_steps(until);
    return nn::give_state(loop);
  };
  const nn::State whole = run(nullptr, 8), half = run(nullptr, 4), parts = run(&half, 8);
  ASSERT_EQ(parts.size(), whole.size());
  for (const char* name : {"collapse.largest", "collapse.counts", "generator.buffers",
                           "discriminator.buffers", "generator_update.square"})
    EXPECT_EQ(whole.count(name), 1U) << name;
  for (const auto& [name, value] : whole)
    EXPECT_TRUE(name.ends_with("_s") || torch::equal(value, parts.at(name))) << name;
}

// At the rate of the settings nothing collapses, with seeds that are fixed; at a hundred times it all cells are empty.
TEST(ShowerRuns, NameACollapseWithinFiftySteps) {
  const auto end_of = [](double rate, int seed, std::int64_t steps) {
    const Learns run(shower_job(laptop, {"batch=4", "data.rows=480", text("run.seed=", seed),
                                         text("generator.optimizer.learning_rate=", rate),
                                         text("discriminator.optimizer.learning_rate=", rate)}));
    train::Loop loop(many_epochs(), *run.learner, {});
    for (std::int64_t step = 1; step <= steps && run.learner->reason_to_stop().empty(); ++step)
      loop.run_steps(step);
    return run.learner->reason_to_stop();
  };
  for (const int seed : {1, 2, 3, 4, 5, 6})
    EXPECT_EQ(end_of(0.1, seed, 50).find("the generator has collapsed: "), 0U) << seed;
  for (const int seed : {1, 2}) EXPECT_EQ(end_of(0.001, seed, 60), "") << seed;
}

}  // namespace
}  // namespace sagips::run

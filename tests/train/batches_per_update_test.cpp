// Several batches that make one update, and what is clipped on several ranks.
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <utility>

#include "sagips/core/error.hpp"
#include "tests/core/message_of.hpp"
#include "tests/train/small_learner.hpp"

namespace sagips::train {
namespace {

using namespace sagips::testing;
using data::Examples;
using optim::Supervised;

TEST(BatchesPerUpdate, AreOneBatchOfAllTheirRows) {
  struct Case {
    std::int64_t rows, batch, whole;  // of one rank; the last batch of an epoch may be smaller
  };
  for (const Case& one : {Case{60, 10, 30}, Case{24, 10, 30}}) {
    const Examples examples = three_classes(one.rows);
    const Learned whole = learned(1, plain_steps(one.whole), dense_layers, examples, 3);
    optim::SupervisedConfig parts = plain_steps(one.batch);
    parts.optimizer.batches_per_update = 3;
    expect_alike(learned(1, parts, dense_layers, examples, 3).weights, whole.weights, 1e-5,
                 "alone");
    parts.batch /= 2;
    const Learned two = learned(2, parts, dense_layers, examples, 3);
    expect_alike(two.weights, whole.weights, 1e-5, "two ranks");
    EXPECT_EQ(two.calls, 3 * ((one.rows + one.whole - 1) / one.whole)) << "one exchange an update";
  }
}

TEST(BatchesPerUpdate, GoOnInTheMiddle) {
  optim::SupervisedConfig config = plain_steps(10);
  config.optimizer.batches_per_update = 4;
  const Examples examples = three_classes(70);
  const auto make = [&] {
    return std::make_unique<Supervised>(config, layers_of(layers_with_norm), examples, 1,
                                        torch::kCPU);
  };
  LoopConfig loop;
  loop.epochs = 6;
  const auto straight = make(), begun = make(), resumed = make();
  Loop whole(loop, *straight, {}), first(loop, *begun, {}), second(loop, *resumed, {});
  whole.run_epochs(4);
  first.run_steps(6);
  nn::take_state(second, nn::give_state(first));
  second.run_epochs(4);
  EXPECT_TRUE(torch::equal(resumed->replica().weights(), straight->replica().weights()));
}

// What ranks have collected of their rows counts in the mean of those that go on with it: here two of three, and each
// rank of two what one had alone.
TEST(BatchesPerUpdate, GoOnInTheMiddleOnOtherRanks) {
  optim::SupervisedConfig config = plain_steps(2);
  config.optimizer.batches_per_update = 4;
  const Examples examples = three_classes(60);
  const auto on = [&](int count, const std::function<void(comm::Ranks&, Supervised&, Loop&)>& use) {
    on_ranks(count, [&](comm::Ranks& ranks) {
      Supervised learner(config, layers_of(dense_layers), examples, 1, torch::kCPU,
                         {ranks.rank(), ranks.size()});
      RankExchange exchange(ranks, learner, {.primary = "all_reduce"}, 1);
      Loop::Callbacks callbacks;
      if (count > 1) callbacks.exchange = exchange.hooks();
      LoopConfig epochs;
      epochs.epochs = 6;
      Loop loop(epochs, learner, callbacks);
      use(ranks, learner, loop);
    });
  };
  for (const auto& [before, now] : {std::pair{3, 2}, std::pair{1, 2}, std::pair{2, 3}}) {
    std::vector<nn::State> states(static_cast<std::size_t>(before));
    on(before, [&](comm::Ranks& ranks, Supervised&, Loop& loop) {
      loop.run_steps(3);
      states[static_cast<std::size_t>(ranks.rank())] = nn::give_state(loop);
    });
    std::vector<torch::Tensor> moves(static_cast<std::size_t>(now));
    on(now, [&](comm::Ranks& ranks, Supervised& learner, Loop& loop) {
      nn::take_state(loop, states[static_cast<std::size_t>(ranks.rank()) % states.size()]);
      const torch::Tensor from = learner.replica().weights().clone();
      loop.run_steps(loop.step() + 1);
      moves[static_cast<std::size_t>(ranks.rank())] = learner.replica().weights() - from;
    });
    EXPECT_GT(moves[0].norm().item<double>(), 0) << before << " to " << now << ": the fourth batch";
    for (const torch::Tensor& move : moves) EXPECT_TRUE(torch::equal(move, moves[0]));
  }
}

/// Gradients of these steps are NaN.
void spoil(Supervised& learner, std::set<std::uint32_t> steps) {
  optim::Pass& pass = learner.passes()[0];
  pass.gradients = [steps = std::move(steps), inner = pass.gradients](
                       optim::Batch& batch, const optim::Tile& tile,
                       std::span<nn::Leaves* const> leaves) {
    torch::Tensor losses = inner(batch, tile, leaves);
    if (steps.contains(batch.step)) leaves[0]->gradients.fill_(NAN);
    return losses;
  };
}

TEST(BatchesPerUpdate, LeaveOutAGradientThatIsNotFinite) {
  optim::SupervisedConfig config = plain_steps(10);
  config.optimizer.batches_per_update = 3;
  Supervised learner(config, layers_of(dense_layers), three_classes(30), 1, torch::kCPU);
  spoil(learner, {2});
  LoopConfig loop;
  loop.non_finite = NonFinite::skip;
  const torch::Tensor before = learner.replica().weights().clone();
  Loop training(loop, learner, {});
  training.run_steps(2);
  EXPECT_TRUE(torch::equal(learner.replica().weights(), before)) << "collected so far";
  training.run_steps(3);
  EXPECT_FALSE(torch::equal(learner.replica().weights(), before));
  EXPECT_TRUE(torch::isfinite(learner.replica().weights()).all().item<bool>());
}

// What is left out counts nothing in the mean: two of three batches are those two, and none is no update.
TEST(BatchesPerUpdate, AreTheMeanOfThoseThatAreFinite) {
  LoopConfig loop;
  loop.non_finite = NonFinite::skip;
  const auto after = [&](std::int64_t batches, const std::set<std::uint32_t>& spoiled,
                         std::int64_t steps) {
    optim::SupervisedConfig config = plain_steps(10);
    config.optimizer.batches_per_update = batches;
    config.optimizer.rule = optim::UpdateConfig::Rule::sgd;
    config.optimizer.momentum = 0.9;
    Supervised learner(config, layers_of(dense_layers), three_classes(60), 1, torch::kCPU);
    spoil(learner, spoiled);
    Loop(loop, learner, {}).run_steps(steps);
    return learner.replica().weights().clone();
  };
  EXPECT_TRUE(torch::equal(after(3, {3}, 3), after(2, {}, 2)));
  EXPECT_TRUE(torch::equal(after(3, {4, 5, 6}, 6), after(3, {}, 3)))
      << "nor moves momentum weights";
}

TEST(BatchesPerUpdate, AreTheAffairOfCentralWeights) {
  on_ranks(2, [](comm::Ranks& ranks) {
    optim::SupervisedConfig config = plain_steps(10);
    config.optimizer.batches_per_update = 2;
    const Examples examples{.inputs = torch::zeros({20, 3}),
                            .targets = torch::zeros({20}, torch::kInt64)};
    Supervised learner(config, layers_of(dense_layers), examples, 1, torch::kCPU,
                       {ranks.rank(), 2});
    const std::string said = message_of<core::ConfigError>(
        [&] { RankExchange exchange(ranks, learner, {.primary = "served"}, 1); });
    EXPECT_EQ(said.rfind("optimizer.batches_per_update: served:", 0), 0U) << said;
    EXPECT_NE(said.find("exchanges.served.every"), std::string::npos) << said;
  });
}

// Clipping sees the mean over ranks, which is shorter than each rank's own gradient.
TEST(Clipping, IsOfTheMeanOverRanks) {
  const Examples examples = three_classes(60);
  optim::SupervisedConfig whole = plain_steps(30), part = plain_steps(15);
  whole.optimizer.clip_norm = part.optimizer.clip_norm = 0.05;
  const torch::Tensor alone = learned(1, whole, dense_layers, examples, 5).weights;
  expect_alike(learned(2, part, dense_layers, examples, 5).weights, alone, 1e-5, "two ranks");
  EXPECT_GT((learned(1, plain_steps(30), dense_layers, examples, 5).weights - alone)
                .norm()
                .item<double>(),
            0.1 * alone.norm().item<double>())
      << "it clips";
}

}  // namespace
}  // namespace sagips::train

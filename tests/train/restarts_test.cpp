// Trainings that are killed and stopped at random steps and go on, on the same ranks and on others.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "sagips/nn/layers/layer_config.hpp"
#include "sagips/optim/learn/supervised.hpp"
#include "sagips/train/checkpoint/checkpointer.hpp"
#include "sagips/train/checkpoint/restore.hpp"
#include "tests/core/temporary_folder.hpp"
#include "tests/train/shelf.hpp"
#include "tests/train/small_ranks.hpp"

namespace sagips::train {
namespace {

using namespace sagips::testing;

constexpr std::int64_t whole_run = 6, row_count = 90;  // epochs, rows

/// What ends a start of a training; nothing follows a kill, not even a last checkpoint.
enum class End { all_epochs, stop, kill };
struct Killed {};

struct Start {
  int ranks = 1;
  std::int64_t batch = 10;
  std::int64_t checkpoint_epochs = 1;
  End end = End::all_epochs;
  std::int64_t steps = 0;  ///< that it makes before its end
};

struct Outcome {
  std::int64_t began_at = 0;  ///< epochs that were over
  std::int64_t came_to = 0;   ///< the newest checkpoint's
  torch::Tensor weights;      ///< at the end; undefined where it was killed
};

data::Examples examples() {
  data::Examples made;
  const torch::Tensor angles = torch::arange(row_count) * (2 * M_PI / row_count);
  made.inputs = torch::stack({angles.cos(), angles.sin()}, 1).to(torch::kFloat32);
  made.targets = (torch::arange(row_count) * 3 / row_count).floor().to(torch::kInt64);
  return made;
}

std::shared_ptr<const nn::Network> network() {
  struct List {
    std::vector<nn::LayerConfig> layers{};
    void fields(core::FieldList& list) { list.list("layers", layers, ""); }
  };
  const List list =
      core::read_config(core::ConfigDocument::from_text(
                            "layers: [{dense: 5, activation: tanh}, {dense: 3}]\n", "layers.yaml"),
                        List{});
  return std::make_shared<nn::LayeredNetwork>(list.layers, nn::Shape{2});
}

/// One rank's part of a start.
class Training {
 public:
  Training(comm::Ranks& ranks, const Start& start, const std::string& folder)
      : start_(start),
        ranks_(ranks),
        learner_({.batch = start.batch}, network(), examples(), 1, torch::kCPU,
                 {ranks.rank(), ranks.size()}),
        exchange_(ranks, learner_, {.primary = "all_reduce"}, 1),
        shelf_(ranks, folder),
        agreement_(ranks, exchange_.waits()),
        checkpointer_(ranks, {.epochs = start.checkpoint_epochs, .minutes = 0}, exchange_.waits(),
                      agreement_, shelf_.checkpoints,
                      {.stop = [this] { return stop_; }, .checkpoint = [] { return false; }},
                      [this](nn::StateList& list) { state(list); }) {
    Loop::Callbacks callbacks;
    if (ranks.size() > 1) callbacks.exchange = exchange_.hooks();
    checkpointer_.attach_to(callbacks);
    callbacks.agree = [this, inner = callbacks.agree](std::int64_t step,
                                                      const record::StopReason& reason) {
      const bool ends = step - began_ == start_.steps;
      if (ends && start_.end == End::kill) throw Killed();
      stop_ = stop_ || (ends && start_.end == End::stop);
      return inner(step, reason);
    };
    LoopConfig config;
    config.epochs = whole_run;
    loop_.emplace(config, learner_, callbacks);
  }

  Outcome run() {
    Outcome outcome;
    auto restored = restore(ranks_, shelf_.store, [](const std::string&) {});
    if (restored) take(std::move(*restored));
    if (ranks_.size() > 1) exchange_.begin();
    checkpointer_.watch(*loop_);
    began_ = loop_->step();
    outcome.began_at = loop_->epoch();
    try {
      loop_->run();
      agreement_.part();
      outcome.weights = learner_.replica().weights().detach().clone();
    } catch (const Killed&) {
    }
    ranks_.gather(0);  // nobody reads while others write
    const auto names = shelf_.store.names();
    if (!names.empty()) outcome.came_to = shelf_.store.manifest(names.front()).epoch;
    return outcome;
  }

 private:
  void state(nn::StateList& list) {
    list.part("loop", *loop_);
    if (ranks_.size() > 1) list.part("ranks", exchange_);
  }
  void take(Restored restored) {
    if (restored.ranks != ranks_.size()) {
      forget(restored.state, "ranks.");
      nn::State now;
      auto own = nn::StateList::giving(now);
      if (ranks_.size() > 1) own.part("ranks", exchange_);
      restored.state.insert(now.begin(), now.end());
    }
    auto list = nn::StateList::taking(restored.state);
    state(list);
    nn::refuse_unclaimed(list);
  }

  Start start_;
  comm::Ranks& ranks_;
  optim::Supervised learner_;
  RankExchange exchange_;
  Shelf shelf_;
  StopAgreement agreement_;
  Checkpointer checkpointer_;
  std::optional<Loop> loop_;
  bool stop_ = false;
  std::int64_t began_ = 0;
};

Outcome run(const Start& start, const std::string& folder) {
  Outcome of_first;
  on_ranks(start.ranks, [&](comm::Ranks& ranks) {
    Training training(ranks, start, folder);
    const Outcome outcome = training.run();
    if (ranks.is_first()) of_first = outcome;
  });
  return of_first;
}

int sequences() {
  const char* is_long = std::getenv("SAGIPS_LONG_TESTS");
  return is_long != nullptr && std::string(is_long) == "1" ? 500 : 25;
}

/// Starts until the training is over, each from where the one before it was left. other: starts may have
/// other ranks and another batch than the one before
void play(std::mt19937& random, bool other, const torch::Tensor& undisturbed, const Start& first) {
  const auto up_to = [&](int most) { return std::uniform_int_distribution<int>(0, most)(random); };
  const TemporaryFolder folder;
  Start start = first;
  std::int64_t known = 0;
  for (int count = 0;; ++count) {
    ASSERT_LT(count, 60) << "it stands still";
    if (other) {
      start.ranks = 1 + up_to(3);
      start.batch = up_to(1) != 0 ? 10 : 7;
    }
    start.checkpoint_epochs = 1 + up_to(1);
    start.end = static_cast<End>(up_to(2));
    start.steps = 1 + up_to(25);
    const Outcome outcome = run(start, folder.file("checkpoints"));
    ASSERT_GE(outcome.began_at, known) << "start " << count << " on " << start.ranks;
    ASSERT_GE(outcome.came_to, known) << "start " << count << " on " << start.ranks;
    known = outcome.came_to;
    if (outcome.came_to < whole_run || !outcome.weights.defined()) continue;
    if (!other) {
      EXPECT_TRUE(torch::equal(outcome.weights, undisturbed));
    }
    return;
  }
}

TEST(Restarts, OfTheSameRanksEndAsIfNothingHadHappened) {
  std::mt19937 random(7);
  std::map<int, torch::Tensor> undisturbed;
  for (int ranks = 1; ranks <= 4; ++ranks)
    undisturbed[ranks] = run({.ranks = ranks}, TemporaryFolder().file("checkpoints")).weights;
  for (int sequence = 0; sequence < sequences(); ++sequence) {
    const int ranks = 1 + sequence % 4;
    play(random, false, undisturbed[ranks], {.ranks = ranks});
    ASSERT_FALSE(HasFatalFailure()) << "sequence " << sequence;
  }
}

TEST(Restarts, OnOtherRanksAndBatchesNeverLoseAnEpoch) {
  std::mt19937 random(11);
  for (int sequence = 0; sequence < sequences(); ++sequence) {
    play(random, true, {}, {});
    ASSERT_FALSE(HasFatalFailure()) << "sequence " << sequence;
  }
}

}  // namespace
}  // namespace sagips::train

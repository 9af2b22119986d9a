// A kind of problem that a program brings: the loop, checkpoints, run folder and report know nothing of it.
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"
#include "sagips/nn/initialise.hpp"
#include "sagips/nn/mlp.hpp"
#include "sagips/nn/module.hpp"
#include "sagips/optim/learn/losses.hpp"
#include "sagips/record/results.hpp"
#include "sagips/run/predict.hpp"
#include "sagips/run/task.hpp"
#include "sagips/run/train.hpp"
#include "tests/core/message_of.hpp"
#include "tests/core/temporary_folder.hpp"

namespace sagips::run {
namespace {

/// A network that learns to make points on a circle from noise, by the energy distance to such points.
struct CircleTask final : Task, optim::Optimizer {
  CircleTask(const Job& of, const optim::UpdateConfig& update)
      : job(of),
        network(nn::MlpConfig().network(2, 2, "generator")),
        replica(network, nn::SharedPart::all, torch::kCPU) {
    nn::initialise_uniform(replica, core::RandomStream(job.seed(), "weights"));
    rule = optim::make_update_rule(replica, update);
    all_steps.push_back({"generator", &replica, rule.get()});
    all_passes.push_back(
        {.name = "generator", .steps = {0}, .separable = false, .loss_names = {"loss"}});
    all_passes[0].gradients = [this](optim::Batch& batch, const optim::Tile& tile, auto leaves) {
      const torch::Tensor loss = distance(*leaves[0], batch.step, tile.samples);
      loss.backward({}, {}, false, leaves[0]->tensors);
      return loss.detach().to(torch::kFloat64).reshape({1});
    };
  }
  torch::Tensor distance(nn::Leaves& leaves, std::uint32_t step, std::int64_t points) const {
    const torch::Tensor numbers = torch::empty({3, points});
    const core::RandomStream random(job.seed(), "points", step);
    for (std::uint32_t i = 0; i < 3; ++i)
      random.uniform(0, i, std::span(numbers[i].data_ptr<float>(), points));
    const torch::Tensor angle = 2 * M_PI * numbers[2],
                        made = (*network)(leaves, numbers.narrow(0, 0, 2).t(), {});
    const torch::Tensor real = torch::stack({angle.cos(), angle.sin()}, 1);
    return (2 * torch::cdist(made, real) - torch::cdist(made, made) - torch::cdist(real, real))
        .mean();
  }
  std::unique_ptr<optim::Batch> draw(std::uint32_t step) const override {
    auto batch = std::make_unique<optim::Batch>();
    batch->step = step;
    batch->samples = 64;
    return batch;
  }
  std::vector<optim::UpdateStep>& steps() override { return all_steps; }
  std::vector<optim::Pass>& passes() override { return all_passes; }
  std::vector<optim::Action> schedule() const override {
    return {{optim::Action::Kind::gradients, 0}, {optim::Action::Kind::update, 0}};
  }
  void state(nn::StateList& list) override {
    list.part("generator", replica);
    list.part("rule", *rule);
  }
  optim::Optimizer& optimizer() override { return *this; }
  std::string fingerprint() const override { return "made as they are asked for"; }
  std::string description() const override { return "points on a circle"; }
  std::string share() const override { return "64 points"; }
  std::vector<std::string> metric_names() const override { return {"distance"}; }
  std::optional<record::Evaluated> evaluate(std::int64_t) override {
    const torch::NoGradGuard no_grad;
    const double found = distance(replica.leaves(), 0, 500).item<double>();
    return record::Evaluated{.parameters = {}, .metrics = {{"distance", found}}};
  }
  record::Results write(RunOutputs& outputs, const Training& training,
                        const std::vector<RankRow>& rows) override {
    record::Results results = results_of(job, training, training.record.last);
    outputs.write(results, rows, [] { return std::string(); });
    return results;
  }

  const Job& job;
  std::shared_ptr<const nn::Network> network;
  nn::Replica replica;
  std::unique_ptr<optim::UpdateRule> rule;
  std::vector<optim::UpdateStep> all_steps;
  std::vector<optim::Pass> all_passes;
};

struct Generation final : Problem {
  std::string description() const override { return "a problem of points to generate"; }
  std::string unit() const override { return "points"; }
  bool waits_for_plateau() const override { return update.waits_for_plateau(); }
  void fields(core::FieldList& list, Settings& settings) override {
    settings.first_fields(list);
    list.group("optimizer", update, "updates of the network");
    settings.training_fields(list,
                             [&](core::FieldList& ranks) { settings.ranks.timeout_field(ranks); });
  }
  std::unique_ptr<Task> task(const Job& job, comm::Ranks&, core::Log&) const override {
    return std::make_unique<CircleTask>(job, update);
  }
  optim::UpdateConfig update;
};

class Kinds : public ::testing::Test {
 protected:
  Kinds() {
    workloads_.add("circle", {"circle",
                              "points on a circle",
                              {{"default",
                                "train: {epochs: 40, "
                                "evaluate_every: 10}\noptimizer: {learning_rate: 0.02}"}},
                              [] { return std::make_unique<Generation>(); }});
  }
  Job job(const std::string& name) const {
    return read_any_job(workloads_, "circle",
                        {"run.name=" + name, "run.folder=" + folder_.path(), "threads=1"});
  }
  // Told to stop behind so many epochs; 0: it is not
  Results train(const Job& job, std::int64_t stop_after = 0) {
    TrainOptions options;
    options.start = record::Start::resume;
    std::int64_t done = 0;
    options.observers.emplace_back([&done](const record::Event& event) {
      if (const auto* epoch = std::get_if<record::EpochDone>(&event)) {
        done = epoch->epoch;
        EXPECT_EQ(epoch->unit, "points");
      }
    });
    options.requests.stop = [&] { return stop_after > 0 && done >= stop_after; };
    return run::train(job, ranks_, options, log_);
  }

  testing::TemporaryFolder folder_;
  Workloads workloads_{"workload"};
  comm::Ranks ranks_{comm::make_single_communicator()};
  core::Log log_{{.terminal = false}};
};

TEST_F(Kinds, OfAProgramAreTrainedResumedAndReported) {
  const Job whole = job("whole"), parts = job("parts");
  const Results at_once = train(whole);
  EXPECT_TRUE(at_once.complete);
  EXPECT_FALSE(train(parts, 15).complete);
  const Results resumed = train(parts);
  EXPECT_TRUE(resumed.complete);
  ASSERT_EQ(resumed.results.numbers.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i)
    EXPECT_EQ(resumed.results.numbers[i].value, at_once.results.numbers[i].value);
  EXPECT_LT(at_once.results.numbers[1].value, 0.5 * at_once.results.numbers[0].value);
  const std::string page = core::read_file(at_once.page);
  EXPECT_NE(page.find("How good is it?"), std::string::npos);
  EXPECT_NE(page.find("At the last evaluation; 0 is best."), std::string::npos);
  EXPECT_EQ(page.find("no results yet"), std::string::npos);
  EXPECT_NE(core::read_file(at_once.folder + "/metrics.jsonl").find("points_per_second"),
            std::string::npos);
}

TEST_F(Kinds, SayWhatTheyAreWhereAnotherIsAskedFor) {
  const Results trained = train(job("one"));
  EXPECT_EQ(testing::message_of<core::ConfigError>([&] { read_job(workloads_, "circle", {}); }),
            "command line: 'circle' is a problem of points to generate");
  EXPECT_EQ(testing::message_of<core::ConfigError>(
                [&] { predict(workloads_, trained.folder, {}, log_); }),
            trained.folder +
                ": holds the networks of 'circle', a problem of points to generate, which predict "
                "nothing alone.");
}

// What plug-ins add is there for all threads, whoever adds it twice.
TEST(Registries, AreFilledFromSeveralThreads) {
  const auto fill = [](int number) {
    for (int i = 0; i < 20; ++i) {
      const std::string own = core::text("own_", number, "_", i);
      for (const std::string& name : {own, std::string("shared")}) {
        optim::add_loss(
            {name, optim::Loss::Targets::values, [](const auto& a, const auto&) { return a; }});
        nn::add_module(name,
                       [](const nn::Shape&) -> nn::AnyRowsModule { throw core::Error("none"); });
      }
      EXPECT_EQ(optim::loss_named(own, "loss").name, own);
    }
  };
  std::thread other(fill, 1);
  fill(2);
  other.join();
  const std::vector<optim::Loss> all = optim::losses();
  EXPECT_EQ(std::count_if(all.begin(), all.end(),
                          [](const optim::Loss& one) { return one.name == "shared"; }),
            1);
  EXPECT_EQ(std::count_if(all.begin(), all.end(),
                          [](const optim::Loss& one) { return one.name.starts_with("own_"); }),
            40);
}

}  // namespace
}  // namespace sagips::run

// Generation as a kind of problem: from files to a folder, resumed, and asked for examples.
#include <regex>

#include <gtest/gtest.h>

#include "sagips/core/file.hpp"
#include "sagips/core/npy.hpp"
#include "sagips/record/results.hpp"
#include "sagips/record/run_status.hpp"
#include "sagips/run/predict.hpp"
#include "sagips/run/train.hpp"
#include "tests/core/message_of.hpp"
#include "tests/core/temporary_folder.hpp"
#include "workloads/calorimeter3d/calorimeter3d.hpp"
#include "workloads/generation/generation.hpp"
#include "workloads/learning/learning.hpp"
#include "workloads/proxy1d/proxy1d.hpp"

namespace sagips::run {
namespace {

using testing::message_of;

constexpr std::size_t rows = 120, side = 4;

class Generates : public ::testing::Test {
 protected:
  Generates() {
    for (const problem::Entry& entry : std::vector<problem::Entry>{
             workloads::generation_workload(), workloads::learning_workload(),
             workloads::proxy1d_workload(), workloads::calorimeter3d_workload()})
      workloads_.add(entry.name, entry);
    std::vector<float> images, classes;
    for (std::size_t i = 0; i < rows; ++i) {  // a bright row whose place is the class
      classes.push_back(static_cast<float>(i % side));
      for (std::size_t k = 0; k < side * side; ++k)
        images.push_back(k / side == i % side ? 0.8F + 0.01F * static_cast<float>(i % 7) : 0.0F);
    }
    core::write_npy(file("images.npy"), images, {rows, 1, side, side});
    core::write_npy(file("classes.npy"), classes, {rows});
    core::write_file(file("bars.yaml"), R"yaml(
workload: generation
threads: 1
data: {inputs: {file: images.npy}, targets: {file: classes.npy}, held_out: 0.2}
generator:
  noise: 4
  conditions: [bar]
  layers: [{dense: 32, activation: relu}, {dense: 16, activation: sigmoid}, {reshape: [1, 4, 4]}]
  optimizer: {learning_rate: 5e-3}
discriminator:
  layers: [{flatten: {}}, {dense: 32, activation: leaky_relu}, {dropout: 0.1}]
  heads: {bar: {layers: [{dense: 4}]}}
  optimizer: {learning_rate: 5e-3}
batch: 16
train: {epochs: 40, evaluate_every: 5}
)yaml");
  }
  std::string file(const std::string& name) const { return folder_.path() + "/" + name; }
  Job job(const std::string& name, std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"run.name=" + name, "run.folder=" + folder_.path()});
    return read_any_job(workloads_, file("bars.yaml"), more);
  }
  // Told to stop behind so many epochs; 0: it is not
  Results train(const Job& job, std::int64_t stop_after = 0) {
    TrainOptions options;
    options.start = record::Start::resume;
    std::int64_t done = 0;
    options.observers.emplace_back([&done](const record::Event& event) {
      if (const auto* epoch = std::get_if<record::EpochDone>(&event)) done = epoch->epoch;
    });
    options.requests.stop = [&] { return stop_after > 0 && done >= stop_after; };
    return run::train(job, ranks_, options, log_);
  }
  double number(const Results& results, const std::string& name) const {
    for (const auto& one : results.results.numbers)
      if (one.name == name) return one.value;
    ADD_FAILURE() << "no number " << name;
    return 0;
  }

  testing::TemporaryFolder folder_;
  Workloads workloads_{"workload"};
  comm::Ranks ranks_{comm::make_single_communicator()};
  core::Log log_{{.terminal = false}};
};

TEST_F(Generates, ExamplesForConditionsWhetherResumedOrNot) {
  const Results whole = train(job("whole"));
  EXPECT_FALSE(train(job("parts"), 13).complete);
  const Results parts = train(job("parts"));
  ASSERT_EQ(parts.results.numbers.size(), whole.results.numbers.size());
  for (const auto& one : whole.results.numbers)
    EXPECT_TRUE(one.name == "analysis_rate" || number(parts, one.name) == one.value) << one.name;
  for (const char* name : {"network.safetensors", "network_best.safetensors"})
    EXPECT_EQ(core::read_file(parts.folder + "/" + name),
              core::read_file(whole.folder + "/" + name))
        << name;
  EXPECT_LT(number(whole, "distance_best"), 0.5 * number(whole, "distance_start"));
  const std::string metrics = core::read_file(whole.folder + "/metrics.jsonl");
  for (const char* loss : {"discriminator_real.bar", "discriminator_made.real", "generator.bar"})
    EXPECT_NE(metrics.find(loss), std::string::npos) << loss;
  EXPECT_NE(core::read_file(whole.page).find("Real and made"), std::string::npos);

  core::write_npy(file("asked.npy"), std::vector<float>{0, 1, 2, 3}, {4});
  const auto made = [&](std::optional<std::int64_t> seed) {
    PredictOptions options{
        .out = file("made.npy"), .samples = 200, .inputs = {{"", file("asked.npy")}}};
    options.seed = seed;
    return predict(workloads_, whole.folder, options, log_);
  };
  const Predicted first = made(7);
  const auto in_file = [&] {
    const core::NpyArray array = core::read_npy(file("made.npy"));
    EXPECT_EQ(array.shape, (std::vector<std::size_t>{200, 1, 4, 4}));
    return torch::tensor(array.values).view({200, 1, 4, 4});
  };
  const torch::Tensor images = in_file();
  EXPECT_GT(first.per_second, 0);
  EXPECT_EQ(first.conditions, std::vector<std::string>{"bar 0 to 3"});
  const torch::Tensor brightest = images.squeeze(1).mean(2).argmax(1),
                      asked = torch::arange(200) % 4;
  EXPECT_GT(brightest.eq(asked).sum().item<std::int64_t>(), 190);
  made(7);
  EXPECT_TRUE(torch::equal(in_file(), images));
  made(8);
  EXPECT_FALSE(torch::equal(in_file(), images));
}

TEST_F(Generates, TellWhatRanksExchangeInAStep) {
  const Job asked = job("step");
  const StepOfRanks step = asked.problem->step_of_ranks(asked);
  // two updates of the discriminator (two dense layers and two heads), two of the generator
  const std::vector<std::int64_t> judge{512, 32, 32, 1, 128, 4}, maker{256, 32, 512, 16};
  std::vector<std::int64_t> all;
  for (const auto* network : {&judge, &judge, &maker, &maker})
    all.insert(all.end(), network->begin(), network->end());
  EXPECT_EQ(step.tensors, all);
  EXPECT_EQ(step.events(4), 64);
  EXPECT_EQ(step.steps(1), 6);  // 96 rows
  EXPECT_EQ(step.steps(4), 2);
}

/// Showers of the workload, with a measure that counts how often all rows kept aside are judged.
struct CountedShowers final : problem::ExampleSource {
  std::unique_ptr<problem::Generation> showers = workloads::calorimeter3d_workload().make();
  std::int64_t* times;

  explicit CountedShowers(std::int64_t& count) : times(&count) {}
  void fields(core::FieldList& list) override { showers->source->fields(list); }
  data::ExampleSets load(std::uint64_t seed, const data::Reading& reading) const override {
    return showers->source->load(seed, reading);
  }
  std::map<std::string, Measure> measures() const override {
    return {{"sum", [this](const torch::Tensor& inputs) {
               if (!torch::GradMode::is_enabled() && inputs.size(0) == 24) ++*times;
               return inputs.flatten(1).sum(1);
             }}};
  }
  std::unique_ptr<problem::ExampleComparison> comparison(
      const core::RowTensors& targets) const override {
    return showers->source->comparison(targets);
  }
  data::ExampleRowsPtr inputs_of(const data::InputFiles& files,
                                 const data::Reading& reading) const override {
    return showers->source->inputs_of(files, reading);
  }
};

// Of showers the best networks are those whose showers are most like real ones.
TEST_F(Generates, ShowersThatAreCompared) {
  core::write_file(file("showers.yaml"), R"yaml(
workload: calorimeter3d
threads: 1
data: {shape: [6, 6, 6], cell_mm: 20, layer_mm: 20, layer_radiation_lengths: 2, rows: 30, validation_rows: 24}
generator:
  noise: 3
  conditions: [energy, angle]
  layers: [{dense: 216, activation: relu}, {reshape: [1, 6, 6, 6]}]
discriminator: {layers: [{flatten: {}}]}
batch: 10
train: {epochs: 4}
early_stop: {metric: figure_of_merit}
)yaml");
  const auto shower_job = [&](const std::string& name, const std::string& restore) {
    return read_any_job(
        workloads_, file("showers.yaml"),
        {"run.name=" + name, "run.folder=" + folder_.path(), "early_stop.restore=" + restore});
  };
  const Results last = train(shower_job("last", "false")), best = train(shower_job("best", "true"));
  EXPECT_EQ(number(best, "figure_of_merit_end"), number(best, "figure_of_merit_best"));
  EXPECT_EQ(number(best, "figure_of_merit_best"), number(last, "figure_of_merit_best"));
  EXPECT_EQ(number(best, "classifier_auc_end"), number(last, "classifier_auc_end"))
      << "of the best networks, whatever the results are of";
  EXPECT_GT(number(best, "classifier_auc_end"), 0.5);
  for (const char* figure : {"compared_profiles", "compared_sparsity", "compared_correlations",
                             "made_examples_along_z", "learning_curves"})
    EXPECT_FALSE(core::read_file(best.folder + "/figures/" + figure + ".csv").empty()) << figure;
  EXPECT_NE(core::read_file(best.folder + "/figures/learning_curves.csv").find("best, epoch"),
            std::string::npos);
  EXPECT_NE(core::read_file(best.page).find("Profiles log: real and made"), std::string::npos);
  std::int64_t times = 0;
  workloads_.add("counted",
                 problem::GenerationEntry{.name = "counted",
                                          .summary = "",
                                          .settings = {{"default", "workload: counted\n"}},
                                          .make = [&] {
                                            return std::make_unique<problem::Generation>(
                                                std::make_unique<CountedShowers>(times));
                                          }});
  std::string settings = core::read_file(file("showers.yaml"));
  settings.replace(settings.find("calorimeter3d"), 13, "counted");
  core::write_file(file("counted.yaml"), settings);
  const Job counted =
      read_any_job(workloads_, file("counted.yaml"),
                   {"run.folder=" + folder_.path(), "measures.sum.weight=1", "data.rows=300"});
  const Results judged = train(counted);
  EXPECT_GT(number(judged, "classifier_auc_end"), 0.5);
  // real, made and made to be taken for real at each of five evaluations: the last comparison is one of these
  EXPECT_EQ(times, 3 * 5);
  // one value has neither a line nor a band: it is seen by its point and error bar
  EXPECT_TRUE(std::regex_search(core::read_file(judged.folder + "/figures/compared_responses.csv"),
                                std::regex("\n1,,made,90,[^,]+,[^,]+,[^,]+\n")));
}

// Running statistics, squares of gradients, flipped labels, numbers left out, and what a collapse is known by.
TEST_F(Generates, ShowersWhetherResumedOrNot) {
  core::write_file(file("normed.yaml"), R"yaml(
workload: calorimeter3d
threads: 1
data: {shape: [7, 7, 6], cell_mm: 20, layer_mm: 20, layer_radiation_lengths: 2, rows: 30, validation_rows: 4, highest_energy_GeV: 20}
generator:
  noise: 3
  conditions: [energy, angle]
  layers:
    - {dense: 32}
    - {reshape: [4, 2, 2, 2]}
    - {upsampling: [4, 4, 4]}
    - {convolution: 4, kernel: [2, 2, 2], activation: relu}
    - {batch_norm: {momentum: 0.01, epsilon: 1e-6}}
    - {convolution: 1, kernel: [1, 1, 2], activation: relu}
  optimizer: {rule: rmsprop, epsilon: 1e-7, learning_rate: 1e-3}
discriminator:
  layers:
    - {convolution: 4, kernel: [3, 3, 3], activation: leaky_relu}
    - {batch_norm: {momentum: 0.01, epsilon: 1e-6}}
    - {dropout: 0.2}
    - {flatten: {}}
  heads: {energy: {layers: [{dense: 1}], loss: mean_absolute_percentage, weight: 0.1}}
  optimizer: {rule: rmsprop, epsilon: 1e-7, learning_rate: 1e-3}
measures: {sum: {weight: 0.1}, angle: {loss: mean_absolute, weight: 25}}
batch: 10
label_flips: 0.2
train: {epochs: 6, evaluate_every: 6}
)yaml");
  const auto shower_job = [&](const std::string& name, const std::string& rate) {
    return read_any_job(workloads_, file("normed.yaml"),
                        {"run.name=" + name, "run.folder=" + folder_.path(), "run.figures=false",
                         "generator.optimizer.learning_rate=" + rate});
  };
  const auto in_parts = [&](const std::string& rate) {
    EXPECT_FALSE(train(shower_job("parts" + rate, rate), 2).complete);
    return train(shower_job("parts" + rate, rate));
  };
  const Results whole = train(shower_job("whole", "1e-3")), parts = in_parts("1e-3");
  EXPECT_EQ(core::read_file(parts.folder + "/network.safetensors"),
            core::read_file(whole.folder + "/network.safetensors"));
  for (const auto& one : whole.results.numbers)
    EXPECT_TRUE(one.name == "analysis_rate" || number(parts, one.name) == one.value) << one.name;
  // ten steps are waited for, six of which are before the stop
  const Results collapsed = in_parts("1");
  EXPECT_EQ(collapsed.reason.text.find(
                "failed: the generator has collapsed: what it made in step 11 is empty. Lower "),
            0U)
      << collapsed.reason.text;
}

// As a training ends whose gradients are not finite; what was reached before it is there.
TEST_F(Generates, FailureWhereItCollapses) {
  const std::vector<std::string> too_fast{"generator.optimizer.learning_rate=3",
                                          "train.evaluate_every=1",
                                          "discriminator.optimizer.learning_rate=3"};
  const Results collapsed = train(job("fast", too_fast));
  const std::string why = message_of<core::Error>([&] {
    ASSERT_TRUE(collapsed.failure);
    std::rethrow_exception(collapsed.failure);
  });
  EXPECT_EQ(why.find("the generator has collapsed: "), 0U) << why;
  EXPECT_EQ(collapsed.results.finish_reason, "failed: " + why);
  EXPECT_FALSE(collapsed.results.complete);
  EXPECT_EQ(record::read_run_record(collapsed.folder)->status, record::RunStatus::failed);
  EXPECT_NE(core::read_file(collapsed.page).find("<p class=\"answer\">failed</p>"),
            std::string::npos);
  const std::string best = core::read_file(collapsed.folder + "/network_best.safetensors");
  EXPECT_GT(number(collapsed, "best_epoch"), 0);
  // the same again goes on where it ended, which is the same end; without a name it begins anew
  const Results again = train(job("fast", too_fast));
  EXPECT_EQ(again.folder, collapsed.folder);
  EXPECT_TRUE(again.failure);
  EXPECT_EQ(again.results.finish_reason, collapsed.results.finish_reason);
  EXPECT_EQ(again.results.epochs, collapsed.results.epochs);
  EXPECT_EQ(record::read_run_record(again.folder)->status, record::RunStatus::failed);
  EXPECT_EQ(core::read_file(again.folder + "/network_best.safetensors"), best);
  EXPECT_NE(train(job("", too_fast)).folder, train(job("", too_fast)).folder);
}

// What a message says to do is of the kind of problem: its keys are there.
TEST_F(Generates, AdviceOfItsKindWhereAGradientIsNotFinite) {
  core::write_file(file("row.yaml"), R"yaml(
workload: learning
threads: 1
data: {inputs: {file: images.npy}, targets: {file: classes.npy}, held_out: 0.2}
network: {layers: [{flatten: {}}, {dense: 32}, {dense: 4}]}
batch: 16
train: {epochs: 40}
)yaml");
  const auto advice = [&](const std::string& source, std::vector<std::string> more) {
    more.push_back("run.folder=" + folder_.path());
    const Results failed = train(read_any_job(workloads_, source, more));
    const std::string why = message_of<core::Error>([&] {
      ASSERT_TRUE(failed.failure);
      std::rethrow_exception(failed.failure);
    });
    EXPECT_NE(why.find(" is not finite ("), std::string::npos) << why;
    return why.substr(why.find("). ") + 3);
  };
  const auto far = [](const std::string& optimizer) {
    return std::vector<std::string>{optimizer + ".rule=sgd", optimizer + ".learning_rate=1e30"};
  };
  const std::string end = ", or set train.non_finite=skip.";
  EXPECT_EQ(
      advice(file("bars.yaml"), far("discriminator.optimizer")),
      "Lower discriminator.optimizer.learning_rate, set discriminator.optimizer.clip_norm" + end);
  EXPECT_EQ(advice(file("row.yaml"), far("optimizer")),
            "Lower optimizer.learning_rate, set optimizer.clip_norm, standardise the rows "
            "(data.standardise=true)" +
                end);
  std::vector<std::string> few = far("optimizer.generator");
  for (const char* word : {"run.fit=false", "generator.start=random", "batch.samples=4",
                           "threads=1", "train.epochs=5", "toy.events=100"})
    few.emplace_back(word);
  const std::string inverse = advice("proxy1d", few);
  EXPECT_EQ(inverse.find("Lower optimizer."), 0U) << inverse;
  EXPECT_NE(inverse.find(".clip_norm, narrow the parameter ranges" + end), std::string::npos)
      << inverse;
}

// Its rates let it run away by steps of one size: nothing is ever infinite.
TEST_F(Generates, FailureWhereWhatItMakesGrowsBeyondAllMeasure) {
  const Results diverged =
      train(job("far", {"generator.optimizer.learning_rate=1", "train.epochs=400",
                        "generator.layers=[{dense: 32}, {dense: 16}, {reshape: [1, 4, 4]}]"}));
  EXPECT_TRUE(diverged.failure);
  EXPECT_NE(
      diverged.results.finish_reason.find("the generator has diverged: what it made in steps "),
      std::string::npos)
      << diverged.results.finish_reason;
}

TEST_F(Generates, WarningsOfRowsThatAreFarFromOne) {
  core::write_npy(file("bytes.npy"), std::vector<float>(rows * side * side, 0.0F),
                  {rows, 1, side, side});
  const std::vector<std::string> bytes{"data.inputs.file=" + file("bytes.npy"), "train.epochs=1"};
  EXPECT_NE(message_of<core::DataError>([&] {
              train(job("dark", bytes));
            }).find("examples are all the same: there is nothing to learn"),
            std::string::npos);
  std::vector<float> large;
  for (std::size_t i = 0; i < rows * side * side; ++i)
    large.push_back(static_cast<float>((i * 37) % 256));
  core::write_npy(file("bytes.npy"), large, {rows, 1, side, side});
  const Results trained = train(job("large", bytes));
  EXPECT_NE(core::read_file(trained.folder + "/results.json").find("not-near-one"),
            std::string::npos);
}

TEST_F(Generates, NothingThatDoesNotFit) {
  const auto message = [&](const std::vector<std::string>& more) {
    return message_of<core::ConfigError>([&] { train(job("bad", more)); });
  };
  EXPECT_NE(message({"generator.conditions=[bar, foo]"})
                .find("reads 'foo' beside 'bar', and the rows have one target without a name"),
            std::string::npos);
  EXPECT_NE(message({"examples=proxy1d"}).find("'proxy1d' has no examples. Name a learning "),
            std::string::npos);
  EXPECT_EQ(message({"early_stop.metric=foo", "early_stop.patience=3"}),
            "early_stop.metric: no evaluation has a 'foo'. There are: bar.accuracy, bar.loss, "
            "discriminator, distance, generator.");
  core::write_npy(file("wider.npy"), std::vector<float>(50, 1.0F), {2, 1, 5, 5});
  core::write_npy(file("two.npy"), std::vector<float>{0, 1}, {2});
  EXPECT_EQ(message({"data.validation_inputs.file=" + file("wider.npy"),
                     "data.validation_targets.file=" + file("two.npy")}),
            "data.validation_inputs: has rows of 1 x 5 x 5, the inputs have 1 x 4 x 4.");
  const Results trained = train(job("good", {"train.epochs=1"}));
  core::write_npy(file("nine.npy"), std::vector<float>{9}, {1});
  EXPECT_EQ(message_of<core::DataError>([&] {
              predict(workloads_, trained.folder, {.inputs = {{"bar", file("nine.npy")}}}, log_);
            }),
            file("nine.npy") + ": a row is of class 9, and the generator knows 0 to 3.");
  const auto asked_for = [&](const data::InputFiles& inputs) {
    return message_of<core::ConfigError>(
        [&] { predict(workloads_, trained.folder, {.inputs = inputs}, log_); });
  };
  for (const data::InputFiles& inputs :
       {data::InputFiles{{"foo", "1"}}, {{"foo", "1"}, {"bar", "1"}}})
    EXPECT_EQ(asked_for(inputs),
              "inputs.foo: is no condition of these examples, which are: bar. Name a file for "
              "each, or give a number.");
  EXPECT_NE(asked_for({{"", "1"}, {"bar", "1"}}).find("inputs: is no condition"),
            std::string::npos);
}

}  // namespace
}  // namespace sagips::run

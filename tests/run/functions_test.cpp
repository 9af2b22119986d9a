#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <thread>

#include "sagips/core/text.hpp"
#include "sagips/record/run_files.hpp"
#include "sagips/record/run_status.hpp"
#include "sagips/run/check.hpp"
#include "sagips/run/compare.hpp"
#include "sagips/run/fit.hpp"
#include "sagips/run/generate.hpp"
#include "sagips/run/predict.hpp"
#include "sagips/run/solve.hpp"
#include "sagips/run/train.hpp"
#include "sagips/study/closure.hpp"
#include "sagips/study/ensemble.hpp"
#include "sagips/study/plan.hpp"
#include "sagips/study/tune/tune.hpp"
#include "tests/core/message_of.hpp"
#include "tests/core/temporary_folder.hpp"
#include "workloads/learning/learning.hpp"
#include "workloads/proxy1d/proxy1d.hpp"

namespace sagips::run {
namespace {

namespace fs = std::filesystem;

Workloads known() {
  Workloads known("workload");
  known.add("proxy1d", workloads::proxy1d_workload());
  known.add("learning", workloads::learning_workload());
  known.groups = {settings_group<CompareConfig>("compare", "methods"),
                  settings_group<study::ClosureConfig>("closure", "experiments"),
                  settings_group<study::EnsembleConfig>("ensemble", "members"),
                  settings_group<study::TuneConfig>("tune", "trials")};
  return known;
}

std::array<decltype(SIG_DFL), 3> signal_handlers() {
  std::array<decltype(SIG_DFL), 3> handlers{};
  for (std::size_t i = 0; i < handlers.size(); ++i) {
    struct sigaction now {};
    sigaction(std::array{SIGINT, SIGTERM, SIGUSR1}.at(i), nullptr, &now);
    handlers.at(i) = now.sa_handler;
  }
  return handlers;
}

/// One caller of the functions, alone in a folder.
class Caller {
 public:
  Job inverse(std::vector<std::string> assignments = {}) const {
    assignments.insert(assignments.end(), {"toy.events=2000", "run.figures=false", "threads=1",
                                           "run.folder=" + folder_.path() + "/runs"});
    return read_job(workloads_, "proxy1d", assignments);
  }
  Job learning(const std::string& name) const {
    return read_any_job(workloads_, rows_, {"run.name=" + name});
  }

  void train_and_predict() {
    const Results trained = run::train(
        inverse({"train.epochs=3", "batch.samples=8", "batch.events=16", "run.name=networks"}),
        ranks_, {}, log_);
    EXPECT_TRUE(trained.complete);
    EXPECT_EQ(trained.results.parameters.size(), 6U);
    const Predicted proposals = predict(workloads_, trained.folder, {.samples = 50}, log_);
    EXPECT_EQ(proposals.what, Predicted::What::proposals);
    EXPECT_EQ(proposals.outputs.at(0).values.size(0), 50);
    EXPECT_EQ(proposals.parameters.size(), 6U);
    EXPECT_TRUE(fs::exists(proposals.outputs.at(0).file));
    EXPECT_THROW(predict(workloads_, trained.folder, {.inputs = {{"", rows_}}}, log_),
                 core::ConfigError);

    const std::string networks = trained.folder + "/generator.npy";
    EXPECT_NE(testing::message_of<core::ConfigError>([&] {
                predict(workloads_, trained.folder, {.out = networks}, log_);
              }).find(networks + " is a file of " + trained.folder),
              std::string::npos);

    const Results learned = run::train(learning("line"), ranks_, {}, log_);
    EXPECT_TRUE(learned.complete);
    const Predicted values = predict(workloads_, learned.folder, {}, log_);
    EXPECT_EQ(values.what, Predicted::What::values);
    EXPECT_EQ(values.rows, 20);  // a tenth of them
    EXPECT_FALSE(values.metrics.empty());
    EXPECT_THROW(predict(workloads_, learned.folder, {.samples = 5}, log_), core::ConfigError);
    const std::string link = folder_.file("link.npy");
    fs::create_symlink("rows.csv", link);
    EXPECT_NE(testing::message_of<core::ConfigError>([&] {
                predict(workloads_, learned.folder, {.out = link}, log_);
              }).find(link + " is what data.inputs.file names as "),
              std::string::npos);
    fs::remove(link);
  }

  void solve_and_fit() {
    const Solved solved = solve(inverse({"run.name=solved"}), ranks_, {}, log_);
    EXPECT_TRUE(solved.complete);
    const Fitted fitted = fit(inverse({"run.name=fitted"}), ranks_, log_);
    for (std::size_t i = 0; i < 6; ++i) {
      const record::ParameterResult& moments = solved.results.parameters.at(i);
      const record::ParameterResult& likelihood = fitted.results.parameters.at(i);
      // of the same events: closer to each other than their errors are wide
      EXPECT_NEAR(moments.recovered, likelihood.recovered, 2 * *likelihood.fit_error)
          << moments.name;
    }
    EXPECT_TRUE(fs::exists(solved.folder + "/visits.csv"));
    EXPECT_TRUE(fs::exists(fitted.folder + "/results.json"));
  }

  void check_generate_and_compare() {
    Job job = inverse();
    const Checked checked = check(workloads_, job, ranks_, log_);
    EXPECT_TRUE(checked.problems.empty()) << core::join(checked.problems, "\n");
    EXPECT_NE(checked.report.find("pipeline 'events'"), std::string::npos) << checked.report;
    EXPECT_TRUE(checked.trainable);

    const std::string file = folder_.path() + "/toy.npy";
    const Generated made = generate(workloads_, inverse(), "proxy1d", file);
    ASSERT_EQ(made.channels.size(), 1U);
    EXPECT_EQ(made.channels.front().events, 2000);
    const Job of_file = read_job(workloads_, made.settings, {"run.name=of_file"});
    EXPECT_EQ(fit(of_file, ranks_, log_).results.events, 2000);

    const Compared compared =
        compare(inverse({"compare.methods=[likelihood]", "run.name=compared"}), {}, log_);
    ASSERT_EQ(compared.attempts.size(), 1U);
    EXPECT_EQ(compared.attempts.front().end, "converged");
    EXPECT_GT(compared.floor, 0);
  }

  void repeat_and_search() {
    const study::ClosureEnd closure = study::closure(
        workloads_,
        inverse({"closure.experiments=2", "closure.method=likelihood", "run.name=repeated"}),
        ranks_, {}, log_);
    EXPECT_EQ(closure.state, study::StudyEnd::State::complete) << closure.tables;
    EXPECT_EQ(closure.made.made, 2U);
    EXPECT_EQ(closure.summaries.size(), 6U);

    const study::EnsembleEnd ensemble = study::ensemble(
        workloads_, rows_, {"ensemble.members=2", "run.name=members"}, ranks_, {}, log_);
    EXPECT_EQ(ensemble.state, study::StudyEnd::State::complete) << ensemble.remarks;
    EXPECT_EQ(ensemble.members.members.size(), 2U);
    ASSERT_TRUE(ensemble.results);
    EXPECT_EQ(predict(workloads_, ensemble.folder, {}, log_).networks.size(), 2U);

    const study::TuneEnd search = study::tune(
        workloads_, rows_,
        {"tune.trials=2", "tune.minimise=loss", "run.name=search",
         "tune.space=[{key: optimizer.learning_rate, low: 1e-3, high: 1e-1, log: true}]"},
        ranks_, {}, log_);
    EXPECT_EQ(search.state, study::StudyEnd::State::complete) << search.tables;
    EXPECT_EQ(search.trials.size(), 2U);
    EXPECT_TRUE(search.best);
    EXPECT_TRUE(fs::exists(search.folder + "/best.yaml"));
  }

 private:
  std::string write_rows() const {
    std::string rows = "x,y\n";
    for (int i = 0; i < 200; ++i) rows += core::text(0.01 * i, ",", 1 - 0.02 * i, "\n");
    folder_.make("rows.csv", rows);
    const std::string file = folder_.file("rows.csv");
    return folder_.make(
        "rows.yaml", core::text("workload: learning\n", "data: {inputs: {file: ", file,
                                ", columns: [x]}, targets: {file: ", file, ", columns: [y]}}\n",
                                "network: {layers: [{dense: 4, activation: relu}, {dense: 1}]}\n",
                                "loss: mean_square\ntrain: {epochs: 3}\nthreads: 1\n",
                                "run: {figures: false, folder: ", folder_.path(), "/runs}\n"));
  }

  testing::TemporaryFolder folder_;
  Workloads workloads_ = known();
  comm::Ranks ranks_{comm::make_single_communicator()};
  core::Log log_{{.terminal = false}};
  std::string rows_ = write_rows();
};

void call_everything() {
  Caller caller;
  caller.train_and_predict();
  caller.solve_and_fit();
  caller.check_generate_and_compare();
  caller.repeat_and_search();
}

TEST(Functions, WorkOneAfterAnotherInOneProcessAndPrintNothing) {
  const auto handlers = signal_handlers();
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  call_everything();
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(signal_handlers(), handlers);
}

TEST(Functions, WorkInTwoThreadsAtATime) {
  std::thread other(call_everything);
  call_everything();
  other.join();
}

// As one that is killed again and again after its last epoch.
TEST(Functions, GoOnWithATrainingThatFailedAfterItsEnd) {
  Caller caller;
  comm::Ranks ranks(comm::make_single_communicator());
  core::Log log({.terminal = false});
  const auto train_once = [&](bool fails) {
    TrainOptions options;
    options.observers.emplace_back([fails](const record::Event& event) {
      if (fails && std::holds_alternative<record::RunFinished>(event))
        throw core::Error("the disk is gone");
    });
    return run::train(caller.inverse({"train.epochs=4", "train.evaluate_every=2", "run.name=ends",
                                      "batch.samples=8", "batch.events=16"}),
                      ranks, options, log);
  };
  for (int time = 0; time < 2; ++time) EXPECT_TRUE(train_once(true).failure);
  const Results trained = train_once(false);
  EXPECT_TRUE(trained.complete);
  EXPECT_FALSE(trained.failure);
  EXPECT_TRUE(fs::exists(trained.folder + "/snapshots/epoch_000000004.safetensors"));
}

TEST(Functions, EndWhenTheyAreAskedTo) {
  Caller caller;
  comm::Ranks ranks(comm::make_single_communicator());
  core::Log log({.terminal = false});
  SolveOptions options;
  bool begun = false;
  int asked = 0;
  options.requests.begun = [&begun] { begun = true; };
  options.requests.stop = [&] { return begun && ++asked > 20; };
  const Solved solved = solve(caller.inverse(), ranks, options, log);
  EXPECT_TRUE(begun);
  EXPECT_FALSE(solved.complete);
  EXPECT_EQ(solved.results.finish_reason, "interrupted");
}

}  // namespace
}  // namespace sagips::run

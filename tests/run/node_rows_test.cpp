#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>

#include "sagips/core/npy.hpp"
#include "sagips/core/text.hpp"
#include "sagips/run/learning_task.hpp"
#include "sagips/run/once_a_node.hpp"
#include "sagips/study/ensemble.hpp"
#include "sagips/study/plan.hpp"
#include "sagips/study/tune/tune.hpp"
#include "tests/comm/thread_communicator.hpp"
#include "tests/core/message_of.hpp"
#include "tests/core/temporary_folder.hpp"
#include "tests/data/all_rows.hpp"
#include "workloads/learning/learning.hpp"

namespace sagips::run {
namespace {

using testing::all_of;
using testing::TemporaryFolder;

const comm::ThreadTeamConfig two_nodes{.ranks = 5, .nodes = {0, 0, 1, 0, 1}};

TEST(OnceANode, TensorsAreMadeThereOnceAndSharedByItsRanks) {
  std::atomic<int> made = 0;
  const auto make = [&](const data::Reading::Room& room) -> std::vector<torch::Tensor> {
    ++made;
    torch::Tensor in_room = room({2, 3}, torch::kFloat32);
    in_room.copy_(torch::arange(6).reshape({2, 3}));
    return {in_room, torch::Tensor(), torch::arange(4, torch::kInt64), torch::empty({0, 7})};
  };
  comm::run_ranks(two_nodes, [&](comm::Communicator& communicator) {
    comm::Ranks ranks(communicator);
    const std::vector<torch::Tensor> found = once_a_node(ranks, make);
    EXPECT_EQ(found.size(), 4U);
    EXPECT_TRUE(found[0].equal(torch::arange(6, torch::kFloat32).reshape({2, 3})));
    EXPECT_FALSE(found[1].defined());
    EXPECT_TRUE(found[2].equal(torch::arange(4, torch::kInt64)));
    EXPECT_EQ(found[3].sizes(), torch::IntArrayRef({0, 7}));
    ranks.gather(0);  // all have looked
    if (ranks.is_first_on_node()) found[0].fill_(ranks.rank());
    ranks.gather(0);
    EXPECT_EQ(found[0][1][2].item<float>(), ranks.rank() == 2 || ranks.rank() == 4 ? 2 : 0);
  });
  EXPECT_EQ(made, 2);
}

TEST(OnceANode, WhatFailsThereEndsAllRanks) {
  const std::string said = testing::message_of<core::Error>([&] {
    comm::run_ranks(two_nodes, [&](comm::Communicator& communicator) {
      comm::Ranks ranks(communicator);
      once_a_node(ranks, [](const data::Reading::Room&) -> std::vector<torch::Tensor> {
        throw core::DataError("rows.csv", "is broken.");
      });
    });
  });
  EXPECT_NE(said.find("rows.csv"), std::string::npos) << said;
}

/// A table as text, packed images and values of their own, for a network of two inputs.
std::string files_of_every_kind(const TemporaryFolder& folder) {
  std::string table = "a,b,label\n";
  std::vector<float> images;
  for (int i = 0; i < 40; ++i) {
    table += core::text(i, ",", i % 7, ",", i % 3, "\n");
    for (int pixel = 0; pixel < 4; ++pixel) images.push_back(static_cast<float>(i + pixel));
  }
  folder.make("table.csv", table);
  core::write_npy(folder.file("images.npy"), images, {40, 2, 2});
  return core::text(
      "workload: learning\ndata:\n  standardise: inputs\n  inputs: {tensors: {table: ", "{file: ",
      folder.file("table.csv"), ", columns: [a, b]}, images: {file: ", folder.file("images.npy"),
      "}}}\n  targets: {file: ", folder.file("table.csv"),
      ", columns: [label]}\nnetwork: {layers: [{dense: 3}]}\n",
      "loss: cross_entropy\nrun: {figures: false, folder: ", folder.path(), "/runs}\n");
}

Workloads known_workloads() {
  Workloads known("workload");
  known.add("learning", workloads::learning_workload());
  return known;
}

TEST(OnceANode, RanksHaveTheRowsOfOneThatReadsThemAlone) {
  const TemporaryFolder folder;
  const std::string config = folder.make("rows.yaml", files_of_every_kind(folder));
  for (const std::string kept : {"data.held_out=0.2", "data.fold=2/3"}) {
    const Job job = read_any_job(known_workloads(), config, {kept});
    const LearningRows alone = load_examples(job);
    comm::run_ranks(two_nodes, [&](comm::Communicator& communicator) {
      comm::Ranks ranks(communicator);
      const LearningRows own = load_examples(job, &ranks);
      EXPECT_EQ(fingerprint_of(own.sets), fingerprint_of(alone.sets));
      for (const auto& [one, other] : {std::pair(own.sets.training, alone.sets.training),
                                       std::pair(own.sets.validation, alone.sets.validation)}) {
        const data::Examples found = all_of(*one), wanted = all_of(*other);
        EXPECT_TRUE(found.inputs.equal(wanted.inputs));
        EXPECT_TRUE(found.targets.equal(wanted.targets));
        EXPECT_EQ(found.input_tensors().written(), wanted.input_tensors().written());
      }
    });
  }
}

/// Rows on a line, and how often they were asked for.
class CountedRows final : public problem::ExampleSource {
 public:
  explicit CountedRows(std::atomic<int>& reads) : reads_(reads) {}
  void fields(core::FieldList& list) override { list.add("slope", slope_, "of the line"); }
  data::ExampleSets load(std::uint64_t, const data::Reading& reading) const override {
    ++reads_;
    const torch::Tensor inputs = torch::linspace(0, 1, 60).reshape({60, 1});
    return {.training = data::hold(
                [&] {
                  return data::Examples{inputs, slope_ * inputs};
                },
                reading)};
  }
  bool is_drawn() const override { return false; }
  data::ExampleRowsPtr inputs_of(const data::InputFiles&, const data::Reading&) const override {
    return nullptr;
  }

 private:
  std::atomic<int>& reads_;
  double slope_ = 2;
};

/// A study of a line's network, in one process.
class Study {
 public:
  Study() {
    workloads_.add("line", problem::LearningEntry{
                               .name = "line",
                               .summary = "a line",
                               .settings = {{"default", "loss: mean_square\n"}},
                               .make = [this] { return std::make_unique<CountedRows>(reads); }});
    workloads_.groups = {settings_group<study::EnsembleConfig>("ensemble", "members"),
                         settings_group<study::TuneConfig>("tune", "trials")};
    config_ =
        folder_.make("line.yaml", core::text("workload: line\nnetwork: {layers: [{dense: 1}]}\n",
                                             "train: {epochs: 2}\nthreads: 1\nrun: {figures: ",
                                             "false, folder: ", folder_.path(), "/runs}\n"));
  }
  study::TuneEnd tune(std::vector<std::string> assignments, comm::Ranks& ranks) {
    assignments.insert(assignments.end(), {"tune.folds=2", "tune.minimise=loss"});
    return study::tune(workloads_, config_, assignments, ranks, {}, log_);
  }
  study::EnsembleEnd ensemble(comm::Ranks& ranks) {
    return study::ensemble(workloads_, config_,
                           {"ensemble.members=4", "ensemble.vary=folds", "run.name=members"}, ranks,
                           {}, log_);
  }
  std::atomic<int> reads = 0;

 private:
  TemporaryFolder folder_;
  Workloads workloads_{"workload"};
  core::Log log_{{.terminal = false}};
  std::string config_;
};

const std::string rates = "tune.space=[{key: optimizer.learning_rate, low: 1e-3, high: 1e-1}]";

TEST(Studies, ReadTheirRowsOnceAProcess) {
  Study study;
  comm::Ranks alone(comm::make_single_communicator());
  const study::TuneEnd search = study.tune({"tune.trials=4", rates}, alone);
  EXPECT_EQ(search.trials.size(), 4U);
  EXPECT_EQ(search.state, study::StudyEnd::State::complete) << search.tables;
  EXPECT_EQ(study.reads, 1) << "for eight trainings";
  EXPECT_EQ(study.ensemble(alone).state, study::StudyEnd::State::complete);
  EXPECT_EQ(study.reads, 2) << "for four more";
}

// Other rows are other data, whoever had these before.
TEST(Studies, ReadRowsAnewThatAreSearchedFor) {
  Study study;
  comm::Ranks alone(comm::make_single_communicator());
  const study::TuneEnd search = study.tune(
      {"tune.trials=3", "tune.searcher=grid", "tune.space=[{key: data.slope, values: [2, 3, 4]}]"},
      alone);
  EXPECT_EQ(search.trials.size(), 3U);
  EXPECT_EQ(search.state, study::StudyEnd::State::complete) << search.tables;
  EXPECT_GE(study.reads, 3);
}

TEST(Studies, ReadTheirRowsOnceAJobWhateverBlocksItHas) {
  Study study;
  comm::run_ranks({.ranks = 2}, [&](comm::Communicator& communicator) {
    comm::Ranks ranks(communicator);
    study.tune({"tune.trials=4", rates}, ranks);
  });
  EXPECT_LE(study.reads, 3) << "the first rank, before the others are there; then each rank with "
                               "those of its node";
}

}  // namespace
}  // namespace sagips::run

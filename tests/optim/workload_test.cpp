#include "sagips/problem/loaded_data.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "sagips/core/error.hpp"
#include "tests/core/message_of.hpp"
#include "tests/core/temporary_folder.hpp"
#include "tests/optim/small_environment.hpp"

namespace sagips::problem {
namespace {

using namespace sagips::testing;

/// What a user's program hands over.
SimpleWorkload simple() {
  return {"gauss",
          "a normal distribution",
          {small_parameter("mean", -2, 4, 1.5), small_parameter("width", 0.1, 2, 0.5)},
          env::Pipeline{GaussEvents{}},
          {{"x", "cm"}},
          "workload: gauss\n"};
}

WorkloadEntry entry() { return simple(); }

DataSettings toys(std::int64_t events) {
  DataSettings settings;
  settings.toy_events = events;
  return settings;
}

TEST(SimpleWorkload, BecomesAnEntryOfItsOwn) {
  const WorkloadEntry made = entry();
  EXPECT_EQ(made.name, "gauss");
  EXPECT_EQ(made.settings.at("default"), "workload: gauss\n");
  const auto workload = made.make(), other = made.make();
  core::FieldList list;
  workload->fields(list);
  core::ConfigDocument document;
  document.override_with("parameters.mean.high=9");
  core::read_fields(document, list);
  EXPECT_EQ(workload->parameters()[0].high, 9.0);
  EXPECT_EQ(other->parameters()[0].high, 4.0) << "each job has a copy of its own";
}

TEST(Environment, HoldsToyDataAtTheTruthWithTheirNumbers) {
  const auto environment = load_data(*entry().make(), toys(1'000), 1).all();
  ASSERT_EQ(environment.channels.size(), 1U);
  const env::Channel& channel = environment.channels[0];
  EXPECT_EQ(channel.training.size(), 1'000);
  EXPECT_EQ(channel.training.observables, std::vector<std::string>{"x"});
  EXPECT_NEAR(channel.training.reference.at("level"), 2, 1e-6);
  EXPECT_FALSE(channel.held_out.values.defined());
}

TEST(LoadedData, ShowsTheSameEventsInSeveralWays) {
  const LoadedData data = load_data(*entry().make(), toys(1'000), 1);
  const auto sorted = [](const torch::Tensor& values) { return std::get<0>(values.sort(0)); };
  const torch::Tensor all = sorted(data.all().channels[0].training.values);
  EXPECT_EQ(all.size(0), 1'000);
  EXPECT_FALSE(data.all().channels[0].held_out.values.defined());
  for (const env::Environment& view : {data.training(), data.fold(2, 5)}) {
    const env::Channel& channel = view.channels[0];
    EXPECT_EQ(channel.training.size(), 1'000 - channel.held_out.size());
    EXPECT_TRUE(
        torch::equal(sorted(torch::cat({channel.training.values, channel.held_out.values})), all));
  }
  EXPECT_EQ(data.fold(2, 5).channels[0].held_out.size(), 200);
  // what this rank and the others have is all there is
  DataShare share{.place = {0, 2}, .divided = true};
  torch::Tensor first = data.all(share).channels[0].training.values;
  share.place.rank = 1;
  const torch::Tensor second = data.all(share).channels[0].training.values;
  EXPECT_TRUE(torch::equal(sorted(torch::cat({first, second})), all));
}

TEST(Environment, SplitsHeldOutEventsOffTheTrainingOnes) {
  DataSettings settings = toys(1'000);
  settings.data.held_out = 0.2;
  settings.data.bootstrap = true;
  const auto environment = load_data(*entry().make(), settings, 1).training();
  const env::Channel& channel = environment.channels[0];
  EXPECT_EQ(channel.training.size(), 800);
  EXPECT_EQ(channel.held_out.size(), 200);
  // drawn again after the split: no held-out event is among the training ones
  EXPECT_FALSE(torch::isin(channel.held_out.values, channel.training.values).any().item<bool>());
  // 63 % of 800 events are distinct, with a deviation of 11 events
  const auto distinct = std::get<0>(torch::_unique(channel.training.values)).numel();
  EXPECT_NEAR(static_cast<double>(distinct), 800 * 0.632, 60);
}

TEST(Environment, DependsOnItsSeedAlone) {
  const auto values = [](std::uint64_t seed) {
    return load_data(*entry().make(), toys(100), seed).all().channels[0].training.values;
  };
  EXPECT_TRUE(torch::equal(values(1), values(1)));
  EXPECT_FALSE(torch::equal(values(1), values(2)));
}

TEST(Environment, TakesTheToyValueForTheTruthOfToyData) {
  SimpleWorkload workload = simple();
  workload.parameters[0].toy = 2.5;
  const auto environment = load_data(*WorkloadEntry(workload).make(), toys(4'000), 1).all();
  EXPECT_EQ(environment.parameters.all()[0].truth, 2.5);
  // ten deviations of the mean
  EXPECT_NEAR(environment.channels[0].training.values.mean().item<double>(), 2.5,
              10 * 0.5 / std::sqrt(4'000.0));
}

DataSettings from_file(const TemporaryFolder& folder, const std::string& csv) {
  DataSettings settings;
  settings.data.file = folder.make("data.csv", csv);
  return settings;
}

TEST(Environment, ReadsMeasuredEvents) {
  const TemporaryFolder folder;
  DataSettings settings = from_file(folder, "x,y\n1,7\n2,8\n3,9\n");
  settings.data.cuts = {"x > 1.5"};
  settings.data.reference = {{"level", 3.0}};
  const auto environment = load_data(*entry().make(), settings, 1).all();
  const env::Channel& channel = environment.channels[0];
  EXPECT_TRUE(torch::equal(channel.training.values, torch::tensor({{2.0F}, {3.0F}})));
  EXPECT_EQ(channel.training.reference.at("level"), 3.0);
}

TEST(Environment, RefusesDataWithOtherColumnsThanThePipelineMakes) {
  const TemporaryFolder folder;
  DataSettings settings = from_file(folder, "x,y\n1,7\n2,8\n");
  settings.data.columns = {"x", "y"};
  EXPECT_EQ(message_of<core::ConfigError>([&] { load_data(*entry().make(), settings, 1).all(); }),
            "data.columns: the data have 2 columns, the pipeline 'events' makes 1. Name as many in "
            "data.columns.");
}

TEST(Environment, RunsThePipelinesDryRunFirst) {
  SimpleWorkload workload = simple();
  workload.observables = {{"x", ""}, {"y", ""}};
  EXPECT_NE(message_of<core::ShapeError>([&] {
              load_data(*WorkloadEntry(workload).make(), toys(10), 1).all();
            }).find("GaussEvents"),
            std::string::npos);
}

}  // namespace
}  // namespace sagips::problem

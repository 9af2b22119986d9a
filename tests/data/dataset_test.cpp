#include "sagips/data/dataset.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "tests/data/loading.hpp"

namespace sagips::data {
namespace {

using namespace sagips::testing;

class LoadDataset : public ::testing::Test {
 protected:
  std::string make(const std::string& content) const { return folder.make("a.csv", content); }

  TemporaryFolder folder;
};

TEST_F(LoadDataset, GivesValuesLabelsReferenceAndOrigin) {
  DatasetConfig config = config_of(make("x,y\n1,2\n3,4\n5,6\n"), {"y", "x"});
  config.reference = {{"norm_1", 2.5}};
  const Dataset dataset = load_dataset(config, {"ignored"});
  EXPECT_EQ(dataset.values.dtype(), torch::kFloat32);
  EXPECT_EQ(dataset.size(), 3);
  EXPECT_EQ(dataset.dimensions(), 2);
  EXPECT_EQ(numbers(dataset.values), (std::vector<float>{2, 1, 4, 3, 6, 5}));
  EXPECT_EQ(dataset.observables, (std::vector<std::string>{"y", "x"}));
  EXPECT_EQ(dataset.reference.at("norm_1"), 2.5);
  EXPECT_EQ(dataset.origin, config.file);
  EXPECT_FALSE(dataset.weights.has_value());
}

TEST_F(LoadDataset, FallsToTheWorkloadsColumnsInCsv) {
  const std::string path = make("x,y\n1,2\n");
  EXPECT_EQ(numbers(load_dataset(config_of(path), {"y"}).values), (std::vector<float>{2}));
  EXPECT_THROW(load_dataset(config_of(path), {}), core::ConfigError);
}

TEST_F(LoadDataset, KeepsTheFirstEventsThatPassTheCuts) {
  DatasetConfig config = config_of(make("M\n1\n9\n2\n3\n"), {"M"}, {"M < 5"});
  config.maximum_events = 2;
  EXPECT_EQ(numbers(load_dataset(config, {}).values), (std::vector<float>{1, 2}));
  config.maximum_events = 100;
  EXPECT_EQ(load_dataset(config, {}).size(), 3);
}

TEST_F(LoadDataset, ReadsWeightsOfTheEventsThatAreKept) {
  DatasetConfig config = config_of(make("M,w\n1,-1\n2,0\n3,2.5\n"), {"M"}, {"M > 1"});
  config.weight_column = "w";
  const Dataset dataset = load_dataset(config, {});
  EXPECT_EQ(numbers(*dataset.weights), (std::vector<float>{0, 2.5}));
}

// Two rows are too few to see a weight in another's place.
TEST_F(LoadDataset, GivesEachEventItsOwnWeight) {
  DatasetConfig config = config_of(make("M,w\n1,0.5\n2,0\n3,2\n4,3\n5,4\n"), {"M"});
  config.weight_column = "w";
  const Dataset dataset = load_dataset(config, {});
  EXPECT_EQ(numbers(*dataset.weights), (std::vector<float>{0.5, 0, 2, 3, 4}));
}

TEST_F(LoadDataset, TakesNegativeWeightsAndRefusesThoseThatLeaveNoEvents) {
  DatasetConfig config = config_of(make("M,w\n1,1\n2,-0.5\n"), {"M"});
  config.weight_column = "w";
  EXPECT_EQ(numbers(*load_dataset(config, {}).weights), (std::vector<float>{1, -0.5}));
  make("M,w\n1,0\n2,0\n");
  EXPECT_TRUE(data_refusal(config).starts_with(" the weights in column 'w' sum to 0"));
  make("M,w\n1,0.5\n2,-2\n");
  EXPECT_TRUE(data_refusal(config).starts_with(" the weights in column 'w' sum to -1.5"));
  config.weight_column = "W2";
  EXPECT_EQ(data_refusal(config), " has no column 'W2' (asked for by weight_column), known: M, w");
}

TEST_F(LoadDataset, RefusesAColumnTwiceAndNoFile) {
  EXPECT_EQ(message_of<core::ConfigError>([&] {
              load_dataset(config_of(make("M\n1\n"), {"M", "M"}), {});
            }),
            "'columns' names 'M' twice. Remove one.");
  EXPECT_EQ(message_of<core::ConfigError>([] { load_dataset(DatasetConfig{}, {"M"}); }),
            "no data file is named. Set 'file'.");
}

TEST_F(LoadDataset, RefusesUnknownExtensions) {
  EXPECT_EQ(data_refusal(config_of(folder.make("a.root", "x"), {"M"})),
            " has the unknown extension '.root'. Give a .npy, .csv, .hdf5 or .h5 file.");
  EXPECT_EQ(load_dataset(config_of(folder.make("B.CSV", "M\n1\n"), {"M"}), {}).size(), 1);
}

TEST(DatasetConfig, ReadsBackWhatItWrites) {
  DatasetConfig config = config_of("data/a b.csv", {"M"}, {"70 < M < 110", "pt1 > 20"});
  config.reference = {{"norm_1", 1.0 / 3.0}};
  config.fraction = 0.25;
  config.held_out = 0.0;
  config.maximum_events = 1000;
  const std::string written = core::write_config(config);
  const DatasetConfig again =
      core::read_config(core::ConfigDocument::from_text(written, "a.yaml"), DatasetConfig{});
  EXPECT_EQ(core::write_config(again), written);
  EXPECT_EQ(again.cuts, config.cuts);
  EXPECT_EQ(again.reference, config.reference);
}

TEST(DatasetConfig, RefusesSharesOutOfRange) {
  for (const char* wrong :
       {"fraction: 0", "fraction: 1.1", "held_out: -0.1", "held_out: 0.95", "maximum_events: -1"})
    EXPECT_THROW(
        core::read_config(core::ConfigDocument::from_text(wrong, "a.yaml"), DatasetConfig{}),
        core::ConfigError)
        << wrong;
}

TEST(DatasetConfig, RefusesASelectionFromAFileThatIsNotThere) {
  const auto refusal = [](const std::function<void(DatasetConfig&)>& set) {
    DatasetConfig config;
    set(config);
    return message_of<core::ConfigError>([&] { config.check_toy_data(); });
  };
  EXPECT_EQ(refusal([](DatasetConfig& config) { config.cuts = {"M > 3"}; }),
            "data.cuts: applies to a file of measured events, and data.file is empty (toy data "
            "would ignore it). Set data.file, or remove data.cuts.");
  const auto names = [](const std::string& message, const std::string& key) {
    return message.rfind("data." + key + ": ", 0) == 0;
  };
  EXPECT_TRUE(names(refusal([](auto& config) { config.columns = {"M"}; }), "columns"));
  EXPECT_TRUE(names(refusal([](auto& config) { config.weight_column = "w"; }), "weight_column"));
  EXPECT_TRUE(names(refusal([](auto& config) { config.hdf5_dataset = "e"; }), "hdf5_dataset"));
  EXPECT_TRUE(names(refusal([](auto& config) { config.maximum_events = 5; }), "maximum_events"));
  EXPECT_TRUE(names(refusal([](auto& config) {
                      config.reference = {{"norm_1", 1.0}};
                    }),
                    "reference"));
}

TEST(DatasetConfig, LetsToyDataBeSplitSubsampledAndDrawnAgain) {
  DatasetConfig config;
  config.fraction = 0.5;
  config.bootstrap = true;
  config.held_out = 0.2;
  EXPECT_NO_THROW(config.check_toy_data());
}

}  // namespace
}  // namespace sagips::data

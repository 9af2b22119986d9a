#include <gtest/gtest.h>

#include <limits>

#include "sagips/core/npy.hpp"
#include "tests/core/npy_bytes.hpp"
#include "tests/data/loading.hpp"

namespace sagips::data {
namespace {

using namespace sagips::testing;

std::string array_file(const TemporaryFolder& folder, const std::vector<float>& values,
                       const std::vector<std::size_t>& shape) {
  core::write_npy(folder.file("a.npy"), values, shape);
  return folder.file("a.npy");
}

TEST(NpyData, TakesEventsWithOrWithoutASecondDimension) {
  const TemporaryFolder folder;
  const Dataset one = load_dataset(config_of(array_file(folder, {1, 2, 3}, {3})), {});
  EXPECT_EQ(one.size(), 3);
  EXPECT_EQ(one.dimensions(), 1);
  EXPECT_EQ(one.observables, (std::vector<std::string>{"0"}));
  const Dataset two = load_dataset(config_of(array_file(folder, {1, 2, 3, 4}, {2, 2})), {});
  EXPECT_EQ(two.values.sizes(), (std::vector<std::int64_t>{2, 2}));
  EXPECT_EQ(numbers(two.values), (std::vector<float>{1, 2, 3, 4}));
}

// Seven events over three ranks: 3, 2 and 2 of them, and together all.
TEST(NpyData, GivesEachRankItsShareOfTheRows) {
  const TemporaryFolder folder;
  std::vector<float> values(14);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  DatasetConfig config = config_of(array_file(folder, values, {7, 2}));
  std::vector<float> together;
  for (std::size_t rank = 0; rank < 3; ++rank) {
    config.rows = {rank, 3};
    const Dataset share = load_dataset(config, {});
    EXPECT_EQ(share.size(), rank == 0 ? 3 : 2);
    const std::vector<float> part = numbers(share.values);
    together.insert(together.end(), part.begin(), part.end());
  }
  EXPECT_EQ(together, values);
}

TEST(NpyData, ReadsManyRowsInPieces) {
  const TemporaryFolder folder;
  const ManyRows rows;
  std::vector<float> all = rows.array();
  DatasetConfig config = config_of(array_file(folder, all, {ManyRows::count, 3}));
  expect_many_rows(config, "0", "1", "2");
  const torch::Tensor held = load_dataset(config, {}).values;
  config.memory_GB = 0;
  EXPECT_TRUE(load_dataset(config, {}).values.equal(held)) << "mapped";
  all[std::size_t{3} * 1'100'000] = std::numeric_limits<float>::quiet_NaN();
  DatasetConfig broken = config_of(array_file(folder, all, {ManyRows::count, 3}));
  EXPECT_TRUE(data_refusal(broken).starts_with("1100001: column '0' holds nan"));
  broken.rows = {1, 2};
  EXPECT_TRUE(data_refusal(broken).starts_with("1100001: column '0'")) << "the row of the file";
  all[std::size_t{3} * 1'100'000] = 0;
  all[std::size_t{3} * 900'000 + 2] = std::numeric_limits<float>::infinity();
  broken = config_of(array_file(folder, all, {ManyRows::count, 3}), {"0"});
  broken.weight_column = "2";
  EXPECT_TRUE(data_refusal(broken).starts_with("900001: column '2' holds inf"));
}

TEST(NpyData, ReadsAsManyRowsAsPiecesHold) {
  const TemporaryFolder folder;
  constexpr std::size_t rows = std::size_t{1} << 20;
  std::vector<float> values(rows);
  for (std::size_t i = 0; i < rows; ++i) values[i] = static_cast<float>(i);
  const Dataset all = load_dataset(config_of(array_file(folder, values, {rows})), {});
  EXPECT_EQ(numbers(all.values), values);
}

TEST(NpyData, RefusesSharesOfATextFile) {
  const TemporaryFolder folder;
  DatasetConfig config = config_of(folder.file("a.csv"), {"x"});
  config.rows = {0, 2};
  EXPECT_THROW(load_dataset(config, {}), core::ConfigError);
}

TEST(NpyData, ChoosesAndCutsColumnsByNumber) {
  const TemporaryFolder folder;
  const std::string path = array_file(folder, {1, 10, 2, 20, 3, 30}, {3, 2});
  const Dataset dataset = load_dataset(config_of(path, {"1"}, {"1 < 0 <= 3"}), {});
  EXPECT_EQ(numbers(dataset.values), (std::vector<float>{20, 30}));
}

TEST(NpyData, TakesTheWorkloadsNamesAsLabelsWhenTheyFit) {
  const TemporaryFolder folder;
  const std::string path = array_file(folder, {1, 10, 2, 20}, {2, 2});
  EXPECT_EQ(load_dataset(config_of(path), {"x", "y"}).observables,
            (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(load_dataset(config_of(path), {"x"}).observables, (std::vector<std::string>{"0", "1"}));
  EXPECT_EQ(load_dataset(config_of(path, {"1"}), {"M"}).observables,
            (std::vector<std::string>{"M"}));
}

TEST(NpyData, CutsByTheWorkloadsNamesToo) {
  const TemporaryFolder folder;
  const std::string path = array_file(folder, {1, 10, 2, 20, 3, 30}, {3, 2});
  const Dataset dataset = load_dataset(config_of(path, {}, {"15 < y < 25"}), {"x", "y"});
  EXPECT_EQ(numbers(dataset.values), (std::vector<float>{2, 20}));
  // A column's own number goes before a name that looks like one.
  const Dataset swapped = load_dataset(config_of(path, {}, {"1 == 20"}), {"1", "0"});
  EXPECT_EQ(numbers(swapped.values), (std::vector<float>{2, 20}));
}

TEST(NpyData, LeavesTheWeightColumnOutOfTheObservables) {
  const TemporaryFolder folder;
  DatasetConfig config = config_of(array_file(folder, {1, 10, 0.5F, 2, 20, 0.25F}, {2, 3}));
  config.weight_column = "2";
  const Dataset dataset = load_dataset(config, {"x", "y"});
  EXPECT_EQ(numbers(dataset.values), (std::vector<float>{1, 10, 2, 20}));
  EXPECT_EQ(numbers(*dataset.weights), (std::vector<float>{0.5F, 0.25F}));
  EXPECT_EQ(dataset.observables, (std::vector<std::string>{"x", "y"}));
}

TEST(NpyData, RefusesOtherRanks) {
  const TemporaryFolder folder;
  EXPECT_EQ(data_refusal(config_of(array_file(folder, {1, 2}, {1, 1, 2}))),
            " holds an array of 3 dimensions. Save it as [events] or [events, observables].");
  EXPECT_TRUE(data_refusal(config_of(array_file(folder, {1}, {})))
                  .starts_with(" holds an array of 0 dimensions"));
}

TEST(NpyData, RefusesNoEventsAndNoColumns) {
  const TemporaryFolder folder;
  EXPECT_EQ(data_refusal(config_of(array_file(folder, {}, {0, 2}))), " holds no events.");
  EXPECT_EQ(data_refusal(config_of(array_file(folder, {}, {2, 0}))),
            " holds no column of observables.");
}

TEST(NpyData, PlacesNumbersThatAreNotFinite) {
  const TemporaryFolder folder;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(data_refusal(config_of(array_file(folder, {1, 2, 3, nan}, {2, 2}))),
            "2: column '1' holds nan, which is no finite number. Correct it: leaving such rows out "
            "biases results.");
  EXPECT_TRUE(data_refusal(config_of(array_file(folder, {-infinity, 2}, {2})))
                  .starts_with("1: column '0' holds -inf"));
  const std::string path = array_file(folder, {1, nan}, {1, 2});
  EXPECT_EQ(load_dataset(config_of(path, {"0"}), {}).size(), 1) << "column 1 is not asked for";
  EXPECT_TRUE(data_refusal(config_of(path, {"0"}, {"1 > 0"})).starts_with("1: column '1'"));
}

TEST(NpyData, RefusesNumbersBeyondSinglePrecision) {
  const TemporaryFolder folder;
  const std::string path =
      folder.make("a.npy", npy_bytes(npy_dictionary("<f8", "(2,)"), raw<double>({1, 1e39})));
  EXPECT_EQ(data_refusal(config_of(path)),
            "2: column '0' holds 1e39, too large for single precision. Save it in a larger unit.");
}

TEST(NpyData, NamesTheColumnsThereAre) {
  const TemporaryFolder folder;
  EXPECT_EQ(data_refusal(config_of(array_file(folder, {1, 2}, {1, 2}), {"M"})),
            " has no column 'M' (asked for by columns), known: 0, 1");
}

TEST(NpyData, RefusesPickledAndTruncatedFiles) {
  const TemporaryFolder folder;
  const std::string pickled =
      folder.make("a.npy", npy_bytes(npy_dictionary("|O", "(1,)"), "\x80\x03K\x01."));
  EXPECT_TRUE(data_refusal(config_of(pickled)).starts_with(" holds pickled Python objects"));
  const std::string truncated =
      folder.make("b.npy", npy_bytes(npy_dictionary("<f4", "(3,)"), "12345678"));
  EXPECT_TRUE(data_refusal(config_of(truncated)).starts_with(" is truncated"));
}

}  // namespace
}  // namespace sagips::data

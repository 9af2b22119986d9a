#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/data/loading.hpp"

namespace sagips::data {
namespace {

using namespace sagips::testing;

TEST(RealData, ReadsTheDimuonMassesOfCms) {
  const char* folder = std::getenv("SAGIPS_DATA");
  if (!folder)
    GTEST_SKIP() << "set SAGIPS_DATA to the folder that holds "
                    "cms_zmumu_2011/Zmumu_Run2011A_masses.csv";
  const std::string file = std::string(folder) + "/cms_zmumu_2011/Zmumu_Run2011A_masses.csv";
  const Dataset all = load_dataset(config_of(file, {"M"}), {});
  EXPECT_EQ(all.size(), 10851);
  EXPECT_FLOAT_EQ(all.values[0][0].item<float>(), 89.9557F);
  const Dataset window =
      load_dataset(config_of(file, {"M", "pt1"}, {"70 < M < 110", "pt1 > 20"}), {});
  EXPECT_LT(window.size(), all.size());
  EXPECT_GT(window.values.select(1, 0).min().item<float>(), 70.0F);
  EXPECT_LT(window.values.select(1, 0).max().item<float>(), 110.0F);
  EXPECT_GT(window.values.select(1, 1).min().item<float>(), 20.0F);
  const torch::Tensor selected = (all.values > 70).logical_and(all.values < 110);
  EXPECT_EQ(load_dataset(config_of(file, {"M"}, {"70 < M < 110"}), {}).size(),
            selected.sum().item<std::int64_t>());
  EXPECT_TRUE(data_refusal(config_of(file, {"Type1"})).starts_with("2: column 'Type1' holds 'G'"));
}

}  // namespace
}  // namespace sagips::data

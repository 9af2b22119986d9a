#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "sagips/record/results.hpp"
#include "tests/cli/command.hpp"

namespace {

using sagips::record::ParameterResult;
using sagips::record::Results;

double number(const Results& results, const std::string& name) {
  for (const auto& entry : results.numbers)
    if (entry.name == name) return entry.value;
  ADD_FAILURE() << "no number '" << name << "'";
  return std::nan("");
}

const ParameterResult& parameter(const Results& results, const std::string& name) {
  for (const auto& row : results.parameters)
    if (row.name == name) return row;
  throw std::runtime_error("no parameter " + name);
}

Results trained(const Scratch& scratch, const std::string& workload, const std::string& arguments) {
  const Outcome run =
      scratch.sagips("train " + workload + " run.name=x run.figures=false " + arguments);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  return sagips::record::read_results_json(
      scratch.path() + "/runs/" + workload.substr(0, workload.find('/')) + "/x/results.json");
}

class Demo : public testing::TestWithParam<int> {};

}  // namespace

// The bars of the demo on seeds that also make data sets of their own. They tell learning from no
// learning: norms within 5 %, Kolmogorov-Smirnov distances down by a third. No false alarm by
// chance: each run repeats bit for bit.
TEST_P(Demo, BringsNormsAndDistancesDown) {
  Scratch scratch;
  const Results results =
      trained(scratch, "proxy1d/cold",
              "train.epochs=1500 generator.average=0.99 run.seed=" + std::to_string(GetParam()));
  EXPECT_LT(std::abs(number(results, "norm_1_residual_end")), 0.05);
  EXPECT_LT(std::abs(number(results, "norm_2_residual_end")), 0.05);
  EXPECT_LE(number(results, "ks_mean_end"), number(results, "ks_mean_start") * 2 / 3);
  RecordProperty("ks_mean_ratio",
                 std::to_string(number(results, "ks_mean_end") / number(results, "ks_mean_start")));
}
INSTANTIATE_TEST_SUITE_P(Seeds, Demo, testing::Range(1, SAGIPS_SEEDS + 1));

TEST(Resonance, TrainsToTheFitOfTheRealEvents) {
  const char* data = std::getenv("SAGIPS_DATA");
  if (!data)
    GTEST_SKIP() << "SAGIPS_DATA is not set: it names the folder that holds cms_zmumu_2011/";
  const std::string file = std::string(data) + "/cms_zmumu_2011/Zmumu_Run2011A_masses.csv";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << file << " is not there";
  Scratch scratch;
  const Results results =
      trained(scratch, "resonance", "generator.finish=networks data.file=" + file);
  const ParameterResult& mass = parameter(results, "mass");
  const ParameterResult& resolution = parameter(results, "resolution");
  ASSERT_TRUE(mass.fit_value && resolution.fit_value);
  EXPECT_FALSE(mass.truth) << "measured events have no truth";
  EXPECT_NEAR(mass.recovered, *mass.fit_value, 0.15);
  EXPECT_NEAR(resolution.recovered / *resolution.fit_value, 1, 0.15);
}

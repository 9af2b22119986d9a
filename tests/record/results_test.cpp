#include "sagips/record/results.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"
#include "tests/core/message_of.hpp"
#include "tests/core/temporary_folder.hpp"

namespace sagips::record {
namespace {

using testing::message_of;
using testing::TemporaryFolder;

Results example() {
  Results results;
  results.workload = "proxy1d";
  results.version = "0.1.0";
  results.git_hash = "0123456789ab";
  results.data_origin = "toy.npy";
  results.finish_reason = "all epochs done";
  results.complete = false;
  results.seed = 7;
  results.epochs = 1000;
  results.events = 100'000;
  results.time_s = 12.5;
  ParameterResult searched;
  searched.name = "a_u";
  searched.truth = -0.5;
  searched.recovered = -0.49;
  searched.spread = 0.001;
  searched.residual_start = -0.3;
  searched.residual_end = 0.02;
  searched.floor = 0.035;
  searched.fit_value = -0.505;
  searched.fit_error = 0.01;
  ParameterResult held;
  held.name = "width";
  held.unit = "GeV";
  held.fixed = true;
  held.recovered = 2.4952;
  held.open = true;
  results.parameters = {searched, held};
  results.numbers = {{"ks_mean_end", 0.01}, {"a first letter", 0.5}};
  results.correlations = {{"errors", {"a_u", "width"}, {1, -0.5, -0.5, 1}, {4, -3, -3, 9}}};
  results.open_directions = {"width"};
  results.others = {{{0.5, 2.5}, {0.01, 0.02}, 12}};
  results.warnings = {{"uncertain-errors", "the errors may be off"}};
  results.time_split = {.total_s = 12.5, .compute_s = 12, .other_s = 0.5};
  results.steps = {.count = 999, .mean_s = 0.0125, .first_epoch_s = 0.0225};
  results.memory_mb = {.mean = 250, .maximum = 300};
  return results;
}

TEST(Results, ReadsBackWhatItWrites) {
  const TemporaryFolder folder;
  write_results_json(folder.file("results.json"), example());
  const Results copy = read_results_json(folder.file("results.json"));
  EXPECT_EQ(copy.workload, "proxy1d");
  EXPECT_EQ(copy.version, "0.1.0");
  EXPECT_EQ(copy.git_hash, "0123456789ab");
  EXPECT_EQ(copy.data_origin, "toy.npy");
  EXPECT_EQ(copy.finish_reason, "all epochs done");
  EXPECT_FALSE(copy.complete);
  EXPECT_EQ(copy.seed, 7);
  EXPECT_EQ(copy.epochs, 1000);
  EXPECT_EQ(copy.events, 100'000);
  EXPECT_EQ(copy.time_s, 12.5);
  ASSERT_EQ(copy.parameters.size(), 2u);
  EXPECT_EQ(copy.parameters[0].truth, -0.5);
  EXPECT_EQ(copy.parameters[0].recovered, -0.49);
  EXPECT_EQ(copy.parameters[0].spread, 0.001);
  EXPECT_EQ(copy.parameters[0].residual_start, -0.3);
  EXPECT_EQ(copy.parameters[0].residual_end, 0.02);
  EXPECT_EQ(copy.parameters[0].floor, 0.035);
  EXPECT_EQ(copy.parameters[0].fit_value, -0.505);
  EXPECT_EQ(copy.parameters[0].fit_error, 0.01);
  EXPECT_FALSE(copy.parameters[0].fixed);
  EXPECT_TRUE(copy.parameters[1].fixed);
  EXPECT_EQ(copy.parameters[1].unit, "GeV");
  EXPECT_FALSE(copy.parameters[1].truth);
  ASSERT_EQ(copy.numbers.size(), 2u);
  EXPECT_EQ(copy.numbers[0].name, "ks_mean_end");
  EXPECT_EQ(copy.numbers[1].value, 0.5);
  ASSERT_EQ(copy.correlations.size(), 1u);
  EXPECT_EQ(copy.correlations[0].of, "errors");
  EXPECT_EQ(copy.correlations[0].names, (std::vector<std::string>{"a_u", "width"}));
  EXPECT_EQ(copy.correlations[0].values, (std::vector<double>{1, -0.5, -0.5, 1}));
  EXPECT_EQ(copy.correlations[0].covariance, (std::vector<double>{4, -3, -3, 9}));
  EXPECT_FALSE(copy.parameters[0].open);
  EXPECT_TRUE(copy.parameters[1].open);
  EXPECT_EQ(copy.open_directions, std::vector<std::string>{"width"});
  ASSERT_EQ(copy.others.size(), 1u);
  EXPECT_EQ(copy.others[0].values, (std::vector<double>{0.5, 2.5}));
  EXPECT_EQ(copy.others[0].score, 12);
  EXPECT_EQ(copy.warnings, example().warnings);
  ASSERT_TRUE(copy.time_split);
  EXPECT_EQ(copy.time_split->total_s, 12.5);
  EXPECT_EQ(copy.time_split->other_s, 0.5);
  EXPECT_FALSE(copy.time_split_maximum) << "of runs that are no trainings";
  ASSERT_TRUE(copy.steps);
  EXPECT_EQ(copy.steps->count, 999);
  EXPECT_EQ(copy.steps->first_epoch_s, 0.0225);
  ASSERT_TRUE(copy.memory_mb);
  EXPECT_EQ(copy.memory_mb->maximum, 300);
}

TEST(Results, MatricesAreListsOfRowsAndWereListsOfNumbers) {
  const TemporaryFolder scratch;
  const std::string path = scratch.path() + "/results.json";
  Results results;
  results.correlations = {{"errors", {"a", "b"}, {1, -0.5, -0.5, 1}, {4, -3, -3, 9}}};
  write_results_json(path, results);
  std::string text = core::read_file(path);
  std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
  const std::string rows = R"("covariance":[[4.0,-3.0],[-3.0,9.0]])";
  ASSERT_NE(text.find(rows), std::string::npos) << text;
  text.replace(text.find(rows), rows.size(), R"("covariance":[4.0,-3.0,-3.0,9.0])");
  core::write_file(path, text);
  EXPECT_EQ(read_results_json(path).correlations[0].covariance,
            (std::vector<double>{4, -3, -3, 9}));
}

TEST(Results, KeepsOneOrderOfKeys) {
  const TemporaryFolder folder;
  Results results;
  results.workload = "w";
  results.parameters.resize(1);
  results.numbers = {{"z", 1}, {"a", 2}};
  write_results_json(folder.file("r"), results);
  EXPECT_EQ(core::read_file(folder.file("r")), R"({
  "workload": "w",
  "version": "",
  "git_hash": "",
  "data_origin": "",
  "finish_reason": "",
  "complete": true,
  "seed": 0,
  "epochs": 0,
  "events": 0,
  "time_s": 0.0,
  "method": "",
  "errors_from": "",
  "goodness": [],
  "parameters": [
    {
      "name": "",
      "unit": "",
      "fixed": false,
      "truth": null,
      "recovered": 0.0,
      "spread": 0.0,
      "residual_start": null,
      "residual_end": null,
      "floor": null,
      "fit_value": null,
      "fit_error": null,
      "error": null,
      "bootstrap_error": null,
      "seed_error": null,
      "error_below": null,
      "error_above": null,
      "lower_limit": null,
      "upper_limit": null,
      "open": false,
      "at_end": "",
      "period": null
    }
  ],
  "numbers": {
    "z": 1.0,
    "a": 2.0
  },
  "correlations": [],
  "open_directions": [],
  "others": [],
  "warnings": []
}
)");
}

TEST(Results, WritesNumbersThatAreNotFiniteAsNull) {
  const TemporaryFolder folder;
  Results results = example();
  results.parameters[0].recovered = std::numeric_limits<double>::quiet_NaN();
  write_results_json(folder.file("r"), results);
  EXPECT_TRUE(std::isnan(read_results_json(folder.file("r")).parameters[0].recovered));
}

TEST(Results, RefusesAFileThatHoldsNone) {
  const TemporaryFolder folder;
  for (const std::string content : {"", "{}", "{\"workload\": 3}", "not json", "[]"}) {
    const auto path = folder.make("r.json", content);
    const auto message = message_of<core::DataError>([&] { read_results_json(path); });
    EXPECT_NE(message.find("r.json: holds no results of a run"), std::string::npos) << message;
  }
  EXPECT_THROW(read_results_json(folder.file("missing")), core::DataError);
}

TEST(Results, RefusesAPlaceWhereItCannotWrite) {
  const TemporaryFolder folder;
  EXPECT_THROW(write_results_json(folder.file("missing/r"), example()), core::StorageError);
  EXPECT_THROW(write_summary_csv(folder.file("missing/s"), example()), core::StorageError);
}

TEST(Summary, HasOneRowForEachParameter) {
  const TemporaryFolder folder;
  write_summary_csv(folder.file("s"), example());
  EXPECT_EQ(core::read_file(folder.file("s")),
            "parameter,unit,fixed,true,recovered,spread,residual_start,residual_end,floor,"
            "fit_value,fit_error,error,error_below,error_above,bootstrap_error,seed_error,lower_"
            "limit,upper_limit,open\n"
            "a_u,,no,-0.5,-0.49,0.001,-0.3,0.02,0.035,-0.505,0.01,,,,,,,,no\n"
            "width,GeV,yes,,2.4952,0,,,,,,,,,,,,,yes\n");
}

}  // namespace
}  // namespace sagips::record

#include "sagips/record/experiments.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"
#include "tests/core/temporary_folder.hpp"

namespace sagips::record {
namespace {

Experiment example(std::int64_t number) {
  return {number,
          1.5,
          3,
          "",
          {{"covariance", {1, 2}, {0.1, std::nan("")}}, {"spread", {1, 2}, {0, 1}}},
          {"misfit"}};
}

TEST(Experiments, ReadBackFromSeveralFilesInTheirOrder) {
  const testing::TemporaryFolder folder;
  append_experiment(folder.file("worker_0.jsonl"), example(2));
  append_experiment(folder.file("worker_0.jsonl"), {0, 0.25, 0.25, "it \"burnt\"", {}, {}});
  append_experiment(folder.file("worker_1.jsonl"), example(1));
  const auto read = read_experiments(folder.path());
  ASSERT_EQ(read.size(), 3u);
  EXPECT_EQ(read[0].failure, "it \"burnt\"");
  EXPECT_EQ(read[1].number, 1);
  EXPECT_EQ(read[1].core_s, 3);
  ASSERT_EQ(read[2].estimates.size(), 2u);
  EXPECT_EQ(read[2].estimates[0].errors_from, "covariance");
  EXPECT_EQ(read[2].estimates[0].values, (std::vector<double>{1, 2}));
  EXPECT_TRUE(std::isnan(read[2].estimates[0].errors[1]));
  EXPECT_EQ(warned(read), (std::map<std::string, int>{{"misfit", 2}}));
  EXPECT_TRUE(read_experiments(folder.file("nowhere")).empty());
}

TEST(Experiments, GiveFailuresUpForALaterAttempt) {
  for (const std::string later : {"worker_0.jsonl", "worker_1.jsonl", "worker_9.jsonl"}) {
    const testing::TemporaryFolder folder;
    append_experiment(folder.file("worker_1.jsonl"), {1, 0.25, 0.25, "out of memory", {}, {}});
    append_experiment(folder.file(later), example(1));
    const auto read = read_experiments(folder.path());
    ASSERT_EQ(read.size(), 1u);
    EXPECT_EQ(read[0].failure, "") << later;
    EXPECT_EQ(read[0].attempts, 2) << later;
  }
}

TEST(Experiments, GoOnBehindALineThatWasCutOff) {
  const testing::TemporaryFolder folder;
  const std::string path = folder.file("worker_0.jsonl");
  append_experiment(path, example(1));
  append_experiment(path, example(2));
  const std::string whole = core::read_file(path);
  std::ofstream(path, std::ios::trunc) << whole.substr(0, whole.size() - 20);
  EXPECT_EQ(read_experiments(folder.path()).size(), 1u);
  append_experiment(path, example(2));
  EXPECT_EQ(core::read_file(path), whole);
}

TEST(Experiments, RefuseLinesThatAreNone) {
  const testing::TemporaryFolder folder;
  folder.make("worker_0.jsonl", "{\"experiment\": 1}\n");
  EXPECT_THROW(read_experiments(folder.path()), core::DataError);
}

}  // namespace
}  // namespace sagips::record

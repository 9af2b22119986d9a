// Trials of a study that nobody but their folder knows of.
#include "sagips/record/trials.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <thread>
#include <vector>

#include "sagips/core/error.hpp"
#include "tests/core/temporary_folder.hpp"

namespace sagips::record {
namespace {

constexpr double lease_s = 60;

TEST(TrialStore, ReadsBackWhatWasWritten) {
  const testing::TemporaryFolder folder;
  TrialStore store(folder.path(), lease_s);
  EXPECT_TRUE(store.read().empty());
  EXPECT_TRUE(store.claim({.number = 1, .point = {0.25, 0.5}, .settings = {"a=1", "b=\"x\""}}));
  EXPECT_TRUE(store.claim({.number = 2, .from = 1, .member = 2}));
  store.report(1, {1, 3, 0.5, false});
  store.report(1, {1, 6, 0.25, true});
  store.end(
      1, {.state = TrialEnd::State::ended_early, .reason = "behind", .value = 0.25, .epochs = 6});
  TrialStore other(folder.path(), lease_s);
  const auto& trials = other.read();
  ASSERT_EQ(trials.size(), 2U);
  EXPECT_EQ(trials.at(1).claim.point, (std::vector<double>{0.25, 0.5}));
  EXPECT_EQ(trials.at(1).claim.settings, (std::vector<std::string>{"a=1", "b=\"x\""}));
  ASSERT_EQ(trials.at(1).reports.size(), 2U);
  EXPECT_EQ(trials.at(1).reports[1].value, 0.25);
  EXPECT_TRUE(trials.at(1).reports[1].last);
  ASSERT_TRUE(trials.at(1).end);
  EXPECT_EQ(trials.at(1).end->state, TrialEnd::State::ended_early);
  EXPECT_EQ(trials.at(1).end->reason, "behind");
  EXPECT_EQ(trials.at(1).end->value, 0.25);
  EXPECT_FALSE(trials.at(1).end->spread);
  EXPECT_FALSE(trials.at(2).end);
  EXPECT_EQ(trials.at(2).claim.from, 1);
  EXPECT_EQ(trials.at(2).claim.member, 2);
}

// What others add is seen by who has read before.
TEST(TrialStore, SeesWhatOthersAdd) {
  const testing::TemporaryFolder folder;
  TrialStore one(folder.path(), lease_s), other(folder.path(), lease_s);
  one.claim({.number = 1});
  EXPECT_EQ(other.read().size(), 1U);
  one.report(1, {1, 1, 2, false});
  EXPECT_EQ(other.read().at(1).reports.size(), 1U);
  one.end(1, {.value = 3});
  one.end(1, {.value = 4});  // a second worker that thought it was its own
  EXPECT_EQ(other.read().at(1).end->value, 3);
}

// Several processes write what trainings side by side report; a claim of an older version knows of one.
TEST(TrialStore, ReadsTheReportsOfAllTrainings) {
  const testing::TemporaryFolder folder;
  TrialStore one(folder.path(), lease_s), other(folder.path(), lease_s);
  ASSERT_TRUE(one.claim({.number = 1}));
  ASSERT_TRUE(one.claim({.number = 1, .attempt = 2, .trainings = 3}));
  other.report(1, {.fold = 3, .epochs = 2, .value = 0.3, .last = true});
  one.report(1, {.fold = 1, .epochs = 2, .value = 0.1, .last = true});
  const TrialRecord& seen = one.read().at(1);
  ASSERT_EQ(seen.reports.size(), 2U);
  EXPECT_EQ(seen.reports[0].fold, 1) << "in the order of the trainings";
  EXPECT_EQ(seen.reports[1].value, 0.3);
}

TEST(TrialStore, GivesEachTrialToOneOfManyWorkers) {
  const testing::TemporaryFolder folder;
  constexpr int workers = 8, trials = 40;
  std::vector<std::atomic<int>> owners(trials + 1);
  std::vector<std::thread> threads;
  for (int worker = 0; worker < workers; ++worker)
    threads.emplace_back([&] {
      TrialStore store(folder.path(), lease_s);
      for (;;) {
        const auto number = static_cast<std::int64_t>(store.read().size()) + 1;
        if (number > trials) return;
        if (store.claim({.number = number})) ++owners[static_cast<std::size_t>(number)];
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (int number = 1; number <= trials; ++number)
    EXPECT_EQ(owners[static_cast<std::size_t>(number)], 1) << number;
}

TEST(TrialStore, FreesATrialWhoseWorkerIsGone) {
  const testing::TemporaryFolder folder;
  const pid_t child = ::fork();
  if (child == 0) {
    TrialStore(folder.path(), lease_s).claim({.number = 1});
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  TrialStore store(folder.path(), lease_s);
  EXPECT_TRUE(store.is_free(store.read().at(1))) << "its process has ended";
  EXPECT_TRUE(store.claim({.number = 1, .attempt = 2}));
  EXPECT_FALSE(store.claim({.number = 1, .attempt = 2}));
  EXPECT_FALSE(store.is_free(store.read().at(1))) << "it is our own now";
  EXPECT_EQ(store.read().at(1).claim.attempt, 2);
  EXPECT_FALSE(store.owns(1, 1));
  EXPECT_TRUE(store.owns(1, 2));
}

// A worker of another machine, of which nothing is known but its signs of life.
TEST(TrialStore, FreesATrialAfterItsLease) {
  const testing::TemporaryFolder folder;
  TrialStore store(folder.path(), lease_s);
  store.claim({.number = 1});
  EXPECT_FALSE(store.is_free(store.read().at(1)));
  const std::string file = folder.file("00001.claim_1.json");
  timespec old[2] = {{::time(nullptr) - 61, 0}, {::time(nullptr) - 61, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, file.c_str(), old, 0), 0);
  EXPECT_TRUE(store.is_free(store.read().at(1)));
  store.beat(1, 1);
  EXPECT_FALSE(store.is_free(store.read().at(1)));
  store.give_back(1, 1);
  EXPECT_TRUE(store.is_free(store.read().at(1)));
  EXPECT_TRUE(store.claim({.number = 1, .attempt = 2}));
  EXPECT_FALSE(store.is_free(store.read().at(1))) << "only the first attempt was given back";
  store.give_back(1, 2);
  store.give_back(1, 1);  // by who had it first, late
  EXPECT_TRUE(store.is_free(store.read().at(1)));
  store.end(1, {});
  EXPECT_FALSE(store.is_free(store.read().at(1)));
}

// A crash in the middle of a line, or before the file had one.
TEST(TrialStore, LeavesOutALineThatWasCutOff) {
  const testing::TemporaryFolder folder;
  TrialStore store(folder.path(), lease_s);
  store.claim({.number = 1});
  store.report(1, {1, 1, 2, false});
  std::ofstream(folder.file("00001.jsonl"), std::ios::app) << R"({"state":"do)";
  EXPECT_FALSE(store.read().at(1).end);
  store.end(1, {.value = 1});
  EXPECT_TRUE(store.read().at(1).end);
  TrialStore other(folder.path(), lease_s);
  EXPECT_EQ(other.read().at(1).reports.size(), 1U);
  EXPECT_TRUE(other.read().at(1).end);
}

TEST(TrialStore, RefusesAFolderThatCannotBeMade) {
  const testing::TemporaryFolder folder;
  std::ofstream(folder.file("taken")) << "x";
  EXPECT_THROW(TrialStore(folder.file("taken/records"), lease_s), core::StorageError);
}

}  // namespace
}  // namespace sagips::record

// Which run folder a command gets.
#include "sagips/record/open_run.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "sagips/core/config/config_difference.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"
#include "tests/core/message_of.hpp"
#include "tests/core/temporary_folder.hpp"

namespace sagips::record {
namespace {

using testing::message_of;
using testing::TemporaryFolder;

/// One command's start: `sagips train proxy1d run.folder=... run.name=... train.epochs=...`.
struct Command {
  const TemporaryFolder& folder;
  std::string name = {};
  int epochs = 5;
  std::string command = "train";
  std::string place = "runs";
  std::string data = {};
  std::string more = {};

  OpenedRun operator()(Start start = Start::resume) const {
    RunConfig config;
    config.folder = folder.file(place);
    config.name = name;
    const std::string yaml = "workload: proxy1d\nrun:\n  folder: " + config.folder +
                             "\n  name: " + (name.empty() ? "\"\"" : name) +
                             "\ntrain:\n  epochs: " + std::to_string(epochs) + "\n" + more;
    return open_run(config, {"proxy1d", command, yaml, data}, start);
  }
  /// Begins a run and ends it like that; its folder.
  std::string left_as(RunStatus status) const {
    const OpenedRun run = (*this)(Start::fresh);
    run.directory.finish(status);
    return run.directory.path();
  }
};

TEST(OpenRun, GoesOnWithTheRunThatTheSameCommandLeft) {
  const TemporaryFolder folder;
  const Command command{folder};
  for (const RunStatus status : {RunStatus::unfinished, RunStatus::stopped}) {
    const std::string left = command.left_as(status);
    const OpenedRun run = command();
    EXPECT_TRUE(run.resumed);
    EXPECT_EQ(run.directory.path(), left);
    EXPECT_EQ(read_run_record(left)->status, RunStatus::unfinished) << "it runs again";
    run.directory.finish(RunStatus::finished);
  }
}

TEST(OpenRun, GoesOnWithTheNewest) {
  const TemporaryFolder folder;
  const Command command{folder};
  const std::string older = command.left_as(RunStatus::stopped);
  const std::string newer = command.left_as(RunStatus::stopped);
  const OpenedRun first = command(), second = command();
  EXPECT_EQ(first.directory.path(), newer);
  EXPECT_EQ(second.directory.path(), older) << "the newer one is locked";
  EXPECT_FALSE(command().resumed);
}

TEST(OpenRun, BeginsAnewWhereNothingIsLeftToDo) {
  const TemporaryFolder folder;
  const Command command{folder};
  command.left_as(RunStatus::finished);
  command.left_as(RunStatus::failed);
  std::filesystem::create_directories(folder.file("runs/proxy1d/somebody's"));
  const OpenedRun run = command();
  EXPECT_FALSE(run.resumed);
  EXPECT_EQ(core::config_scalar(core::read_file(run.directory.file("config.yaml")), "", "workload"),
            "proxy1d");
}

TEST(OpenRun, BeginsAnewForAnotherCommandConfigOrWish) {
  const TemporaryFolder folder;
  Command{folder}.left_as(RunStatus::stopped);
  EXPECT_FALSE((Command{folder, "", 6})().resumed);
  EXPECT_FALSE((Command{folder, "", 5, "ensemble"})().resumed);
  EXPECT_FALSE(Command{folder}(Start::fresh).resumed);
  EXPECT_FALSE((Command{folder, "other"})().resumed);
}

TEST(OpenRun, GoesOnWithTheSameDataAlone) {
  const TemporaryFolder folder;
  Command command{folder};
  command.data = "2 events, checksum 1";
  command.left_as(RunStatus::stopped);
  command.data = "2 events, checksum 3";
  {
    const OpenedRun anew = command();
    EXPECT_FALSE(anew.resumed) << "as many events, others";
    anew.directory.finish(RunStatus::stopped);
  }
  EXPECT_TRUE(command().resumed);
}

TEST(OpenRun, ShowsThatTheDataHaveChanged) {
  const TemporaryFolder folder;
  Command command{folder, "mine"};
  command.data = "one";
  const std::string left = command.left_as(RunStatus::stopped);
  command.data = "two";
  EXPECT_NE(message_of<core::StorageError>([&] { command(); }).find("one -> two"),
            std::string::npos);
  {
    const OpenedRun run = command(Start::with_changes);
    EXPECT_EQ(run.changes, std::vector<std::string>{"content of the data file: one -> two"});
  }
  EXPECT_EQ(read_run_record(left)->data, "two");
  EXPECT_TRUE(command().resumed) << "these are its data now";
}

TEST(OpenRun, GoesOnWithARunThatDoesNotSayItsData) {
  const TemporaryFolder folder;
  Command command{folder};
  command.left_as(RunStatus::stopped);
  command.data = "two";
  EXPECT_TRUE(command().resumed) << "as earlier versions left it";
}

TEST(OpenRun, GoesOnWhenOnlyFiguresOrTracesDiffer) {
  for (const std::string name : {"", "mine"}) {
    const TemporaryFolder folder;
    Command command{folder, name};
    command.more = "  timeline: 0\n";
    const std::string left = command.left_as(RunStatus::stopped);
    command.more = "  timeline: 9\n";
    const OpenedRun run = command();
    EXPECT_TRUE(run.resumed);
    EXPECT_EQ(run.changes, std::vector<std::string>{"train.timeline: 0 -> 9"});
    EXPECT_EQ(core::config_scalar(core::read_file(left + "/config.yaml"), "", "train.timeline"),
              "9");
  }
}

TEST(OpenRun, LeavesNamedRunsToThoseWhoNameThem) {
  const TemporaryFolder folder;
  Command{folder, "mine"}.left_as(RunStatus::stopped);
  EXPECT_FALSE(Command{folder}().resumed);
  EXPECT_TRUE((Command{folder, "mine"})().resumed);
}

TEST(OpenRun, MovesWithItsFolder) {
  const TemporaryFolder folder;
  Command{folder}.left_as(RunStatus::stopped);
  std::filesystem::rename(folder.file("runs"), folder.file("archive"));
  EXPECT_TRUE((Command{folder, "", 5, "train", "archive"})().resumed);
}

TEST(OpenRun, GoesOnWithAFailedRunOnlyByItsName) {
  const TemporaryFolder folder;
  const Command command{folder, "mine"};
  command.left_as(RunStatus::failed);
  EXPECT_TRUE(command().resumed);
}

TEST(OpenRun, NeverReopensAFinishedRun) {
  const TemporaryFolder folder;
  const Command command{folder, "mine"};
  command.left_as(RunStatus::finished);
  for (const Start start : {Start::resume, Start::with_changes, Start::fresh})
    EXPECT_NE(message_of<core::StorageError>([&] { command(start); }).find("already there"),
              std::string::npos);
}

TEST(OpenRun, ShowsKeyByKeyWhatHasChanged) {
  const TemporaryFolder folder;
  Command command{folder, "mine"};
  const std::string left = command.left_as(RunStatus::stopped);
  command.epochs = 9;
  const std::string message = message_of<core::StorageError>([&] { command(); });
  EXPECT_NE(message.find("train.epochs: 5 -> 9"), std::string::npos) << message;
  EXPECT_NE(message.find("--override"), std::string::npos) << message;
  const OpenedRun run = command(Start::with_changes);
  EXPECT_TRUE(run.resumed);
  EXPECT_EQ(run.changes, std::vector<std::string>{"train.epochs: 5 -> 9"});
  EXPECT_EQ(core::config_scalar(core::read_file(left + "/config.yaml"), "", "train.epochs"), "9");
}

TEST(OpenRun, SaysWhatHelpsAMemberOfAStudy) {
  const TemporaryFolder folder;
  Command command{folder, "seed_001"};
  command.place = "study/members";
  std::filesystem::create_directories(folder.file("study"));
  const std::string left = command.left_as(RunStatus::stopped);
  command.more = "loss: mean_square\n";  // a key that the build before did not have
  const std::string message = message_of<core::StorageError>([&] { command(); });
  for (const std::string& words :
       {left, std::string("loss: nothing -> mean_square"), std::string("begun by another build"),
        std::string("remove its folder")})
    EXPECT_NE(message.find(words), std::string::npos) << message;
  EXPECT_EQ(message.find("--override"), std::string::npos) << message;
}

TEST(OpenRun, RefusesWhatCannotBeMeant) {
  const TemporaryFolder folder;
  const Command command{folder, "mine"};
  command.left_as(RunStatus::stopped);
  EXPECT_NE(message_of<core::StorageError>([&] { command(Start::fresh); }).find("without --fresh"),
            std::string::npos);
  EXPECT_THROW((Command{folder, "mine", 5, "solve"})(), core::StorageError);
  EXPECT_THROW(Command{folder}(Start::with_changes), core::ConfigError) << "which run?";
  EXPECT_NE(message_of<core::ConfigError>([&] {
              Command{folder, "other"}(Start::with_changes);
            }).find("there is no run 'other'"),
            std::string::npos);
  EXPECT_THROW(start_of(true, true), core::ConfigError);
  const OpenedRun running = command();
  EXPECT_NE(message_of<core::StorageError>([&] { command(); }).find("going on just now"),
            std::string::npos);
}

TEST(OpenRun, WaitsForAProcessThatIsJustEnding) {
  const TemporaryFolder folder;
  const Command command{folder, "mine"};
  command.left_as(RunStatus::stopped);
  auto ending = std::make_optional(command());
  std::thread end([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    ending.reset();
  });
  EXPECT_NO_THROW(EXPECT_TRUE(command().resumed));
  end.join();
}

TEST(OpenRun, TakesANameWhoseRunWasKilledBeforeItBegan) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.file("runs/proxy1d/mine"));
  folder.make("runs/proxy1d/mine/README.txt", "");
  EXPECT_FALSE((Command{folder, "mine"})().resumed);
  std::filesystem::create_directories(folder.file("runs/proxy1d/yours"));
  folder.make("runs/proxy1d/yours/precious", "result");
  EXPECT_THROW((Command{folder, "yours"})(), core::StorageError);
}

TEST(OpenRun, GivesProcessesThatStartAtOnceFoldersOfTheirOwn) {
  const TemporaryFolder folder;
  const Command command{folder};
  for (int i = 0; i < 3; ++i) command.left_as(RunStatus::stopped);
  std::vector<std::optional<OpenedRun>> runs(8);
  std::vector<std::thread> threads;
  for (auto& run : runs) threads.emplace_back([&] { run.emplace(command()); });
  for (auto& thread : threads) thread.join();
  std::set<std::string> paths;
  int resumed = 0;
  for (const auto& run : runs) {
    paths.insert(run->directory.path());
    resumed += run->resumed ? 1 : 0;
  }
  EXPECT_EQ(paths.size(), runs.size());
  EXPECT_EQ(resumed, 3);
}

TEST(OpenRun, ForgetsAStatusThatCannotBeRead) {
  const TemporaryFolder folder;
  const Command command{folder};
  const std::string left = command.left_as(RunStatus::stopped);
  std::filesystem::resize_file(left + "/status.json", 10);
  EXPECT_FALSE(command().resumed);
}

}  // namespace
}  // namespace sagips::record

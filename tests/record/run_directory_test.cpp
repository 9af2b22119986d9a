#include "sagips/record/run_directory.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <regex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"
#include "sagips/record/run_files.hpp"
#include "tests/core/message_of.hpp"
#include "tests/core/temporary_folder.hpp"
#include "tests/record/full_disk.hpp"

namespace sagips::record {
namespace {

using testing::FullDisk;
using testing::message_of;
using testing::TemporaryFolder;

RunConfig config_in(const TemporaryFolder& folder, const std::string& name = {}) {
  RunConfig config;
  config.folder = folder.file("runs");
  config.name = name;
  return config;
}

/// Whether somebody else holds the lock of this folder.
bool is_locked(const std::string& path) {
  const int descriptor = ::open((path + "/.lock").c_str(), O_RDWR | O_CLOEXEC);
  EXPECT_GE(descriptor, 0) << path;
  const bool taken = ::flock(descriptor, LOCK_EX | LOCK_NB) != 0;
  ::close(descriptor);
  return taken;
}

/// The super-user may write everywhere; without his rights as long as this lives.
class OrdinaryUser {
 public:
  OrdinaryUser() : before_(::geteuid()) {
    if (before_ == 0 && ::seteuid(65534) != 0) before_ = 1;
  }
  ~OrdinaryUser() {
    if (before_ == 0 && ::seteuid(0) != 0) std::abort();
  }
  OrdinaryUser(const OrdinaryUser&) = delete;
  OrdinaryUser& operator=(const OrdinaryUser&) = delete;
  bool is_ordinary() const { return ::geteuid() != 0; }

 private:
  uid_t before_;
};

TEST(RunDirectory, LiesInAFolderOfItsWorkload) {
  const TemporaryFolder folder;
  const RunDirectory run(config_in(folder, "first"), "proxy1d");
  EXPECT_EQ(run.path(), folder.file("runs/proxy1d/first"));
  EXPECT_TRUE(std::filesystem::is_directory(run.path()));
  EXPECT_EQ(run.file("log.txt"), run.path() + "/log.txt");
}

TEST(RunDirectory, IsNamedByTheTimeWhenTheConfigGivesNoName) {
  const TemporaryFolder folder;
  const RunDirectory run(config_in(folder), "proxy1d");
  const std::string name = std::filesystem::path(run.path()).filename();
  EXPECT_TRUE(std::regex_match(name, std::regex(R"(\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d)"))) << name;
}

TEST(RunDirectory, NumbersADefaultNameThatIsTaken) {
  const TemporaryFolder folder;
  // Whatever second the test falls into, its name is taken.
  for (int later = 0; later < 60; ++later) {
    const std::time_t time = std::time(nullptr) + later;
    char name[32];
    std::strftime(name, sizeof name, "%Y-%m-%d_%H-%M-%S", std::localtime(&time));
    std::filesystem::create_directories(folder.file("runs/proxy1d/") + name);
  }
  const RunDirectory second(config_in(folder), "proxy1d"), other(config_in(folder), "proxy1d");
  EXPECT_EQ(second.path().substr(second.path().size() - 2), "-2");
  EXPECT_NE(second.path(), other.path());
}

TEST(RunDirectory, GivesRunsThatStartAtOnceFoldersOfTheirOwn) {
  const TemporaryFolder folder;
  std::vector<std::optional<RunDirectory>> runs(8);
  std::vector<std::thread> threads;
  for (auto& run : runs) threads.emplace_back([&] { run.emplace(config_in(folder), "proxy1d"); });
  for (auto& thread : threads) thread.join();
  std::set<std::string> paths;
  for (const auto& run : runs) paths.insert(run->path());
  EXPECT_EQ(paths.size(), runs.size());
}

TEST(RunDirectory, RefusesAChosenNameThatIsTaken) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.file("runs/proxy1d/mine"));
  std::ofstream(folder.file("runs/proxy1d/mine/precious")) << "result";
  const std::string message =
      message_of<core::StorageError>([&] { RunDirectory(config_in(folder, "mine"), "proxy1d"); });
  EXPECT_NE(message.find("runs/proxy1d/mine: a run of this name is already there"),
            std::string::npos)
      << message;
  EXPECT_EQ(core::read_file(folder.file("runs/proxy1d/mine/precious")), "result");
}

TEST(RunDirectory, RefusesNamesThatAreNotOneFolder) {
  const TemporaryFolder folder;
  for (const std::string name : {"a/b", "..", ".", " ", "/", "two\nlines"}) {
    EXPECT_THROW(RunDirectory(config_in(folder, name), "proxy1d"), core::ConfigError) << name;
    EXPECT_THROW(RunDirectory(config_in(folder, "name"), name), core::ConfigError) << name;
  }
  EXPECT_THROW(RunDirectory(config_in(folder), ""), core::ConfigError);
  RunConfig nowhere = config_in(folder);
  nowhere.folder.clear();
  EXPECT_THROW(RunDirectory(nowhere, "proxy1d"), core::ConfigError);
  EXPECT_EQ(folder.entries(), 0u);
}

TEST(RunDirectory, LeavesNoParentBehindWhenTheRunFolderCannotBeMade) {
  const TemporaryFolder folder;
  EXPECT_THROW(RunDirectory(config_in(folder, std::string(300, 'x')), "proxy1d"),
               core::ConfigError);
  EXPECT_EQ(folder.entries(), 0u);
}

TEST(RunDirectory, KeepsParentsThatWereThereBefore) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.file("runs"));
  EXPECT_THROW(RunDirectory(config_in(folder, std::string(300, 'x')), "proxy1d"),
               core::ConfigError);
  EXPECT_TRUE(std::filesystem::is_directory(folder.file("runs")));
  EXPECT_FALSE(std::filesystem::exists(folder.file("runs/proxy1d")));
}

TEST(RunDirectory, RefusesAFileInPlaceOfAFolder) {
  const TemporaryFolder folder;
  folder.make("runs", "a file");
  const std::string message =
      message_of<core::StorageError>([&] { RunDirectory(config_in(folder), "proxy1d"); });
  EXPECT_NE(message.find("cannot make this folder"), std::string::npos) << message;
  EXPECT_EQ(folder.entries(), 1u);
}

TEST(RunDirectory, LeavesNothingBehindWithoutTheRightToWrite) {
  const TemporaryFolder folder;
  std::filesystem::permissions(
      folder.path(), std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  std::string message;
  {
    const OrdinaryUser user;
    if (!user.is_ordinary()) GTEST_SKIP() << "the super-user cannot give up his rights here";
    message = message_of<core::StorageError>([&] { RunDirectory(config_in(folder), "proxy1d"); });
  }
  EXPECT_NE(message.find("Permission denied"), std::string::npos) << message;
  std::filesystem::permissions(folder.path(), std::filesystem::perms::owner_all);
  EXPECT_EQ(folder.entries(), 0u);
}

TEST(RunDirectory, LeavesNothingBehindOnAFullDisk) {
  const TemporaryFolder folder;
  std::optional<core::ExitCode> code;
  {
    const FullDisk full;
    try {
      RunDirectory(config_in(folder), "proxy1d");
    } catch (const core::StorageError& problem) {
      code = problem.exit_code();
    }
  }
  EXPECT_EQ(code, core::ExitCode::bad_input);
  EXPECT_EQ(folder.entries(), 0u);
}

TEST(RunDirectory, HoldsItsLockAsLongAsItLives) {
  const TemporaryFolder folder;
  std::string path;
  {
    const RunDirectory run(config_in(folder), "proxy1d");
    path = run.path();
    EXPECT_TRUE(is_locked(path));
  }
  EXPECT_FALSE(is_locked(path));
}

TEST(RunDirectory, TakesItsLockAlongWhenItMoves) {
  const TemporaryFolder folder;
  RunDirectory first(config_in(folder, "first"), "proxy1d");
  RunDirectory moved(std::move(first));
  EXPECT_TRUE(is_locked(moved.path()));
  const std::string path = moved.path();
  {
    RunDirectory second(config_in(folder, "second"), "proxy1d");
    second = std::move(moved);
    EXPECT_EQ(second.path(), path);
    EXPECT_TRUE(is_locked(path));
  }
  EXPECT_FALSE(is_locked(path));
}

TEST(RunDirectory, ExplainsEveryFileInItsReadme) {
  const TemporaryFolder folder;
  const RunDirectory run(config_in(folder), "proxy1d");
  const std::string readme = core::read_file(run.file("README.txt"));
  EXPECT_EQ(readme.rfind("One run of SAGIPS: workload proxy1d, started ", 0), 0u);
  for (const RunFile& file : run_files::all)
    EXPECT_NE(readme.find(std::string(file.name) + " "), std::string::npos) << file.name;
}

TEST(RunDirectory, MakesSubFoldersOnce) {
  const TemporaryFolder folder;
  const RunDirectory run(config_in(folder), "proxy1d");
  EXPECT_EQ(run.folder("figures"), run.path() + "/figures");
  EXPECT_EQ(run.folder("figures"), run.path() + "/figures");
  EXPECT_TRUE(std::filesystem::is_directory(run.file("figures")));
  EXPECT_THROW(run.folder("README.txt"), core::StorageError);
}

TEST(RunConfig, ReadsBackWhatItWrites) {
  RunConfig config;
  config.name = "night shift";
  config.seed = 42;
  config.figures = false;
  const auto document = core::ConfigDocument::from_text(core::write_config(config), "test");
  const auto copy = core::read_config(document, RunConfig{});
  EXPECT_EQ(copy.folder, "runs");
  EXPECT_EQ(copy.name, "night shift");
  EXPECT_EQ(copy.seed, 42);
  EXPECT_FALSE(copy.figures);
  EXPECT_THROW(core::read_config(core::ConfigDocument::from_text("seed: -1", "test"), RunConfig{}),
               core::ConfigError);
}

}  // namespace
}  // namespace sagips::record

#include "sagips/core/process/process_pool.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <set>
#include <utility>

#include "sagips/core/file.hpp"
#include "tests/core/temporary_folder.hpp"

namespace sagips::core {
namespace {

using testing::TemporaryFolder;

ChildProgram shell(const TemporaryFolder& folder, const std::string& script,
                   const std::string& log = "log") {
  return {{"sh", "-c", script}, {}, folder.file(log)};
}

/// What became of some programs.
struct Ends {
  std::map<std::size_t, Ending> endings;
  std::set<std::size_t> running, refused;
  std::size_t most_at_once = 0;

  PoolWatch watch() {
    PoolWatch watch;
    watch.begun = [this](std::size_t i) {
      running.insert(i);
      most_at_once = std::max(most_at_once, running.size());
    };
    watch.ended = [this](std::size_t i, const Ending& ending) {
      running.erase(i);
      endings[i] = ending;
    };
    watch.refused = [this](std::size_t i, const std::string&) { refused.insert(i); };
    return watch;
  }
};

TEST(ProcessPool, RunsAllProgramsAndTellsHowTheyEnded) {
  const TemporaryFolder folder;
  Ends ends;
  const std::vector<ChildProgram> programs{shell(folder, "sleep 0.1; echo one"),
                                           shell(folder, "exit 7"), shell(folder, "kill -9 $$"),
                                           shell(folder, "true")};
  EXPECT_TRUE(run_side_by_side(programs, 2, ends.watch()));
  ASSERT_EQ(ends.endings.size(), 4u);
  EXPECT_EQ(ends.endings[0].exit_code, 0);
  EXPECT_EQ(ends.endings[1].exit_code, 7);
  EXPECT_EQ(ends.endings[2].signal, SIGKILL);
  EXPECT_EQ(ends.endings[3].signal, 0);
  EXPECT_EQ(ends.most_at_once, 2u);
  EXPECT_EQ(read_file(folder.file("log")), "one\n");
}

TEST(ProcessPool, GoesOnWhenAProgramCannotBeStarted) {
  const TemporaryFolder folder;
  Ends ends;
  std::vector<ChildProgram> programs{{{"no-such-program-here"}, {}, folder.file("log")},
                                     shell(folder, "true"),
                                     shell(folder, "true", "no/such/folder/log")};
  EXPECT_TRUE(run_side_by_side(programs, 1, ends.watch()));
  EXPECT_EQ(ends.refused, (std::set<std::size_t>{0, 2}));
  EXPECT_EQ(ends.endings.size(), 1u);
}

TEST(ProcessPool, TellsAllToStopAndBeginsNoMore) {
  const TemporaryFolder folder;
  Ends ends;
  const std::string patient = "trap 'exit 3' TERM; echo ready; while true; do sleep 0.01; done";
  const std::vector<ChildProgram> programs{shell(folder, patient, "a"), shell(folder, patient, "b"),
                                           shell(folder, patient, "c")};
  PoolWatch watch = ends.watch();
  const auto ready = [&](const std::string& name) {
    return std::filesystem::exists(folder.file(name)) && !read_file(folder.file(name)).empty();
  };
  watch.interrupted = [&] { return ready("a") && ready("b"); };
  EXPECT_FALSE(run_side_by_side(programs, 2, watch));
  ASSERT_EQ(ends.endings.size(), 2u);
  EXPECT_EQ(ends.endings[0].exit_code, 3) << "it had time to come to an end of its own";
  EXPECT_FALSE(std::filesystem::exists(folder.file("c")));
}

// Who gives programs may have none for a while, and the same one again.
TEST(ProcessPool, TakesWhatComesLater) {
  const TemporaryFolder folder;
  Ends ends;
  PoolWatch watch = ends.watch();
  int asked = 0, given = 0;
  watch.next = [&]() -> std::optional<NumberedProgram> {
    if (++asked % 3 != 0) return {};
    ++given;
    return NumberedProgram{7, shell(folder, "echo again")};
  };
  watch.is_over = [&] { return given == 2; };
  EXPECT_TRUE(run_side_by_side(1, watch));
  EXPECT_EQ(read_file(folder.file("log")), "again\nagain\n");
  EXPECT_EQ(ends.endings.size(), 1u) << "by its number";
}

// What cannot be started may be a reason to end all.
TEST(ProcessPool, EndsAllWhereItsWatcherThrows) {
  const TemporaryFolder folder;
  PoolWatch watch;
  watch.refused = [](std::size_t, const std::string&) { throw; };
  EXPECT_THROW(run_side_by_side({{{"no-such-program-here"}, {}, folder.file("log")}}, 1, watch),
               StartError);
}

TEST(ProcessPool, PassesOnSigusr1) {
  const TemporaryFolder folder;
  Ends ends;
  PoolWatch watch = ends.watch();
  bool sent = false;
  watch.usr1_requested = [&] {
    const bool ready =
        std::filesystem::exists(folder.file("log")) && !read_file(folder.file("log")).empty();
    return ready && !std::exchange(sent, true);
  };
  ChildProgram program =
      shell(folder, "trap 'exit 5' USR1; echo ready; while true; do sleep 0.01; done");
  // a shell cannot trap what it was told to ignore; our programs set a handler of their own
  program.arguments.insert(program.arguments.begin(), {"env", "--default-signal=USR1"});
  EXPECT_TRUE(run_side_by_side({program}, 1, watch));
  EXPECT_EQ(ends.endings[0].exit_code, 5);
}

// A program that still starts must not be ended by it.
TEST(ProcessPool, EndsNobodyThatStillStartsBySigusr1) {
  const TemporaryFolder folder;
  Ends ends;
  PoolWatch watch = ends.watch();
  watch.usr1_requested = [] { return true; };
  EXPECT_TRUE(run_side_by_side({shell(folder, "sleep 0.3; exit 4")}, 1, watch));
  EXPECT_EQ(ends.endings[0].exit_code, 4);
}

}  // namespace
}  // namespace sagips::core

#include "sagips/cli/study/crew.hpp"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <map>
#include <set>
#include <utility>

#include "sagips/core/file.hpp"
#include "tests/core/temporary_folder.hpp"

namespace sagips::cli {
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

  CrewWatch watch() {
    CrewWatch watch;
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

TEST(Crew, RunsAllProgramsAndTellsHowTheyEnded) {
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
  EXPECT_EQ(core::read_file(folder.file("log")), "one\n");
}

TEST(Crew, GoesOnWhenAProgramCannotBeStarted) {
  const TemporaryFolder folder;
  Ends ends;
  std::vector<ChildProgram> programs{{{"no-such-program-here"}, {}, folder.file("log")},
                                     shell(folder, "true"),
                                     shell(folder, "true", "no/such/folder/log")};
  EXPECT_TRUE(run_side_by_side(programs, 1, ends.watch()));
  EXPECT_EQ(ends.refused, (std::set<std::size_t>{0, 2}));
  EXPECT_EQ(ends.endings.size(), 1u);
}

TEST(Crew, TellsAllToStopAndBeginsNoMore) {
  const TemporaryFolder folder;
  Ends ends;
  const std::string patient = "trap 'exit 3' TERM; echo ready; while true; do sleep 0.01; done";
  const std::vector<ChildProgram> programs{shell(folder, patient, "a"), shell(folder, patient, "b"),
                                           shell(folder, patient, "c")};
  CrewWatch watch = ends.watch();
  const auto ready = [&](const std::string& name) {
    return std::filesystem::exists(folder.file(name)) &&
           !core::read_file(folder.file(name)).empty();
  };
  watch.interrupted = [&] { return ready("a") && ready("b"); };
  EXPECT_FALSE(run_side_by_side(programs, 2, watch));
  ASSERT_EQ(ends.endings.size(), 2u);
  EXPECT_EQ(ends.endings[0].exit_code, 3) << "it had time to come to an end of its own";
  EXPECT_FALSE(std::filesystem::exists(folder.file("c")));
}

TEST(Crew, PassesOnANudge) {
  const TemporaryFolder folder;
  Ends ends;
  CrewWatch watch = ends.watch();
  bool nudged = false;
  watch.nudged = [&] {
    const bool ready =
        std::filesystem::exists(folder.file("log")) && !core::read_file(folder.file("log")).empty();
    return ready && !std::exchange(nudged, true);
  };
  ChildProgram program =
      shell(folder, "trap 'exit 5' USR1; echo ready; while true; do sleep 0.01; done");
  // a shell cannot trap what it was told to ignore; our programs set a handler of their own
  program.arguments.insert(program.arguments.begin(), {"env", "--default-signal=USR1"});
  EXPECT_TRUE(run_side_by_side({program}, 1, watch));
  EXPECT_EQ(ends.endings[0].exit_code, 5);
}

// A program that still starts must not be ended by it.
TEST(Crew, NudgesNobodyToDeath) {
  const TemporaryFolder folder;
  Ends ends;
  CrewWatch watch = ends.watch();
  watch.nudged = [] { return true; };
  EXPECT_TRUE(run_side_by_side({shell(folder, "sleep 0.3; exit 4")}, 1, watch));
  EXPECT_EQ(ends.endings[0].exit_code, 4);
}

TEST(Crew, ChildrenDieWithTheProgram) {
  const TemporaryFolder folder;
  const std::string log = folder.file("log");
  const pid_t parent = ::fork();
  if (parent == 0) {
    const Child child(shell(folder,
                            "trap 'echo told; exit' TERM; echo ready; "
                            "while true; do sleep 0.01; done"));
    for (;;) ::pause();
  }
  const auto says = [&](const std::string& word) {
    for (int i = 0; i < 12000; ++i, ::usleep(5000))
      if (std::filesystem::exists(log) && core::read_file(log).find(word) != std::string::npos)
        return true;
    return false;
  };
  EXPECT_TRUE(says("ready"));
  ::kill(parent, SIGKILL);
  ::waitpid(parent, nullptr, 0);
  EXPECT_TRUE(says("told"));
}

TEST(Crew, HidesTheLauncherFromItsChildrenUnderMpi) {
  const TemporaryFolder folder;
  const auto seen = [&](const std::string& log) {
    Ends ends;
    ChildProgram program = shell(folder, "env", log);
    program.environment = {{"OMP_NUM_THREADS", "3"}};
    EXPECT_TRUE(run_side_by_side({program}, 1, ends.watch()));
    return core::read_file(folder.file(log));
  };
  ::setenv("OMP_NUM_THREADS", "7", 1);
  ::setenv("SLURM_JOB_ID", "4711", 1);
  const std::string alone = seen("alone");
  EXPECT_NE(alone.find("SLURM_JOB_ID=4711"), std::string::npos) << "srun needs it";
  EXPECT_NE(alone.find("OMP_NUM_THREADS=3"), std::string::npos);
  EXPECT_EQ(alone.find("OMP_NUM_THREADS=7"), std::string::npos);
  ::setenv("OMPI_COMM_WORLD_RANK", "0", 1);
  const std::string under_mpi = seen("under_mpi");
  ::unsetenv("OMPI_COMM_WORLD_RANK");
  ::unsetenv("SLURM_JOB_ID");
  EXPECT_EQ(under_mpi.find("OMPI_COMM_WORLD_RANK"), std::string::npos);
  EXPECT_EQ(under_mpi.find("SLURM_JOB_ID"), std::string::npos);
  EXPECT_NE(under_mpi.find("PATH="), std::string::npos);
}

}  // namespace
}  // namespace sagips::cli

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>

#include "sagips/comm/mpi_communicator.hpp"
#include "tests/core/message_of.hpp"

namespace sagips::comm {
namespace {

constexpr const char* read_variables[] = {"OMPI_COMM_WORLD_RANK",
                                          "OMPI_COMM_WORLD_SIZE",
                                          "PMIX_RANK",
                                          "SLURM_NTASKS",
                                          "PMI_RANK",
                                          "PMI_SIZE",
                                          "SLURM_STEP_ID",
                                          "SLURM_STEP_NUM_TASKS"};

/// Sets exactly these of the launchers' variables; brings back what was there.
class Environment {
 public:
  explicit Environment(const std::map<std::string, std::string>& values) {
    for (const char* name : read_variables) {
      const char* value = std::getenv(name);
      before_[name] = value == nullptr ? std::nullopt : std::optional<std::string>(value);
      unsetenv(name);
    }
    for (const auto& [name, value] : values) setenv(name.c_str(), value.c_str(), 1);
  }
  ~Environment() {
    for (const auto& [name, value] : before_)
      value ? setenv(name.c_str(), value->c_str(), 1) : unsetenv(name.c_str());
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  std::map<std::string, std::optional<std::string>> before_;
};

void expect_launch(const std::map<std::string, std::string>& values, bool under_mpi, int tasks,
                   const std::string& launcher) {
  const Environment environment(values);
  const Launch launch = detect_launch();
  EXPECT_EQ(launch.under_mpi, under_mpi);
  EXPECT_EQ(launch.tasks, tasks);
  EXPECT_EQ(launch.launcher, launcher);
}

TEST(Launch, IsAloneWithoutALauncher) { expect_launch({}, false, 1, ""); }

TEST(Launch, KnowsOpenMpi) {
  expect_launch({{"OMPI_COMM_WORLD_RANK", "3"}, {"OMPI_COMM_WORLD_SIZE", "4"}, {"PMIX_RANK", "3"}},
                true, 4, "mpirun (Open MPI)");
}

TEST(Launch, KnowsMpich) {
  expect_launch({{"PMI_RANK", "0"}, {"PMI_SIZE", "8"}}, true, 8,
                "mpiexec (MPICH) or srun with PMI");
}

TEST(Launch, KnowsSrunWithPmix) {
  expect_launch({{"PMIX_RANK", "0"},
                 {"SLURM_NTASKS", "16"},
                 {"SLURM_STEP_ID", "0"},
                 {"SLURM_STEP_NUM_TASKS", "16"}},
                true, 16, "srun with PMIx");
}

TEST(Launch, CountsOneTaskWhereTheLauncherDoesNotSay) {
  expect_launch({{"PMI_RANK", "0"}}, true, 1, "mpiexec (MPICH) or srun with PMI");
  expect_launch({{"PMI_RANK", "0"}, {"PMI_SIZE", ""}}, true, 1, "mpiexec (MPICH) or srun with PMI");
}

TEST(Launch, RefusesSrunTasksThatMpiCannotJoin) {
  const Environment environment({{"SLURM_STEP_ID", "0"}, {"SLURM_STEP_NUM_TASKS", "4"}});
  const std::string message = sagips::testing::message_of<core::Error>([] { detect_launch(); });
  EXPECT_NE(message.find("srun started 4 tasks without an MPI plug-in"), std::string::npos);
  EXPECT_NE(message.find("srun --mpi=pmix"), std::string::npos);
}

TEST(Launch, AllowsOneTaskUnderSrunAndABatchScript) {
  expect_launch({{"SLURM_STEP_ID", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}}, false, 1, "");
  expect_launch({{"SLURM_NTASKS", "4"}}, false, 1, "");
}

TEST(Launch, HidesItsVariablesFromChildrenInsideAJobAlone) {
  const auto hidden = [](const std::map<std::string, std::string>& values) {
    const Environment environment(values);
    return launcher_variables();
  };
  EXPECT_TRUE(hidden({}).empty());
  EXPECT_TRUE(hidden({{"SLURM_NTASKS", "4"}}).empty()) << "srun needs it";
  for (const auto& [variable, beginning] : std::map<std::string, std::string>{
           {"OMPI_COMM_WORLD_RANK", "OMPI_"}, {"PMIX_RANK", "PMIX_"}, {"PMI_RANK", "PMI_"}}) {
    const std::vector<std::string> all = hidden({{variable, "0"}});
    EXPECT_EQ(std::count(all.begin(), all.end(), beginning), 1) << variable;
    EXPECT_EQ(std::count(all.begin(), all.end(), "SLURM_"), 1) << variable;
  }
}

}  // namespace
}  // namespace sagips::comm

// Workers of closure tests that a signal ends.
#include <gtest/gtest.h>

#include <filesystem>

#include "sagips/core/text.hpp"
#include "sagips/nn/device.hpp"
#include "sagips/study/closure.hpp"
#include "tests/core/temporary_folder.hpp"
#include "workloads/proxy1d/proxy1d.hpp"

namespace sagips::study {
namespace {

// All experiments fail at once. The first worker tries those that are not claimed, and is ended as one that has claimed
// the second and not tried it.
TEST(ClosureWorkers, TryNoExperimentTwiceWhenASignalEndsOne) {
  const testing::TemporaryFolder folder;
  const std::string worker =
      folder.make("worker.sh", core::text(R"(
folder=${2%/config.yaml}
if mkdir ")",
                                          folder.path(), R"(/killed" 2>/dev/null; then
  mkdir -p "$folder/experiments/claims"
  : > "$folder/experiments/claims/00002.claim_1.json"
  ")",
                                          SAGIPS_PROGRAM, R"(" "$@"
  kill -KILL $$
fi
exec ")",
                                          SAGIPS_PROGRAM, R"(" "$@"
)"));
  run::Workloads workloads("workload");
  workloads.add("proxy1d", workloads::proxy1d_workload());
  workloads.groups = {run::settings_group<ClosureConfig>("closure", "experiments")};
  comm::Ranks ranks(comm::make_single_communicator());
  core::Log log({.terminal = false});
  for (int call = 1; call <= 2; ++call) {
    std::filesystem::remove(folder.file("killed"));
    const ClosureEnd end = closure(
        workloads,
        run::read_job(workloads, "proxy1d",
                      {"closure.experiments=3", "closure.method=random", "solve.minutes=1e-9",
                       "toy.events=2000", "run.figures=false", "run.name=c",
                       core::text("threads=", nn::allowed_processors()),  // a worker at a time
                       "run.folder=" + folder.file("runs")}),
        ranks, {.program = {"sh", worker}}, log);
    EXPECT_EQ(end.made.failed, 3U);
    int attempts = 0;
    for (const auto& [number, times] : attempts_of(end.folder)) {
      EXPECT_EQ(times, call) << number << ": once in each call";
      attempts += times;
    }
    EXPECT_EQ(attempts, 3 * call);
  }
}

}  // namespace
}  // namespace sagips::study

#include "sagips/study/simulated/many_ranks_job.hpp"

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::study {

void ManyRanksJob::fields(core::FieldList& list) {
  list.add("source", source, "a workload, NAME/SETTINGS or a config");
  list.add("assignments", assignments, "laid over it, a.b=c");
  list.add("ranks", ranks, "simulated ranks", core::Range::between(2, 1e6));
  list.add("as_floats", as_floats,
           "messages take the time of a network of so many shared numbers; 0: their own",
           core::Range::between(0, 1e9));
  list.group("platform", platform, "the cluster");
  list.group("scenario", scenario, "what a rank does beside its messages");
}

void check_scenario(const ManyRanksJob& job, const optim::GanConfig& training) {
  const simulate::ScenarioConfig& scenario = job.scenario;
  if (scenario.straggler >= job.ranks)
    throw core::ConfigError("simulate.scenario.straggler",
                            core::text("there is no rank ", scenario.straggler, " of ", job.ranks,
                                       " (they count from 0). Name a lower one, or -1 for none."));
  const bool late_clock = scenario.overlap == simulate::ScenarioConfig::Overlap::one_update_late;
  const bool late_updates = training.optimizer.overlap == optim::Overlap::one_update_late;
  if (late_clock != late_updates)
    throw core::ConfigError(
        "simulate.scenario.overlap",
        core::text(late_clock ? "is one_update_late, and optimizer.overlap is not"
                              : "is none, and optimizer.overlap is one_update_late",
                   " (time would pass for another training). Set both to one_update_late, or leave "
                   "both alone."));
}

simulate::PlatformConfig for_small_arrays(simulate::PlatformConfig platform, std::int64_t floats,
                                          std::int64_t as_floats) {
  if (as_floats == 0) return platform;
  const double share = static_cast<double>(floats) / static_cast<double>(as_floats);
  platform.network.bandwidth *= share;
  platform.loopback.bandwidth *= share;
  platform.gpu_copy.bandwidth *= share;
  platform.memory_bandwidth *= share;
  return platform;
}

}  // namespace sagips::study

#include "sagips/cli/simulate/many_ranks_job.hpp"

namespace sagips::cli {

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

}  // namespace sagips::cli

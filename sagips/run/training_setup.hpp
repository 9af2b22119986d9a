#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sagips/optim/gan/gan.hpp"
#include "sagips/run/settings.hpp"

namespace sagips::run {

/// The settings of a job's loop, with at most as many threads for tiles as `threads` was
/// settled to.
train::LoopConfig loop_of(const Job& job);

/// throws: ConfigError where a rate waits for a plateau on several ranks, which see different
/// evaluations. place: of the rule's keys
void check_plateau(const optim::UpdateConfig& rule, const std::string& place, std::int64_t ranks);

/// throws: ConfigError where the metric that a job watches is none of these
void check_metric(const train::EarlyStopConfig& watched, bool waits_for_plateau, bool keeps_best,
                  const std::vector<std::string>& known);

/// A training that is put together and has not begun: the one place where a job becomes networks and
/// the settings of their loop.
struct TrainingSetup {
  /// environment: what this rank's networks learn from
  /// throws: ConfigError for settings that contradict each other
  TrainingSetup(const Job& job, env::Environment environment, std::uint64_t seed,
                const problem::RankPlace& place = {});

  /// Where the config wants it, lets the generator begin at the solution of the moments.
  /// events: without those of other ranks, whose sums `context` adds
  std::optional<optim::Solution> begin(const Job& job, const env::Environment& events,
                                       const optim::SolveContext& context);

  env::Environment environment;
  optim::Gan gan;
  train::LoopConfig loop;
};

}  // namespace sagips::run

#include "sagips/study/tune/tune_plan.hpp"

#include <algorithm>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/run/task.hpp"
#include "sagips/study/grid.hpp"
#include "sagips/study/group_members.hpp"
#include "sagips/study/plan.hpp"
#include "sagips/study/tune/next_trial.hpp"

namespace sagips::study {

namespace {

using core::ConfigError;
using core::text;

run::Job job_with(const run::Workloads& workloads, const std::string& source,
                  std::vector<std::string> assignments, const std::vector<std::string>& settings) {
  assignments.insert(assignments.end(), settings.begin(), settings.end());
  return run::read_any_job(workloads, source, assignments);
}

}  // namespace

std::string check_tuning(const run::Workloads& workloads, const std::string& source,
                         const std::vector<std::string>& assignments, const run::Job& job,
                         core::Log& log) {
  const auto& config = job.of<TuneConfig>();
  config.check();
  const NextTrial next(config, job.seed(), job.settings.loop.epochs);
  for (std::size_t i = 0; i < config.space.size(); ++i)
    check_varied_key(text("tune.space.", i), config.space[i].key, not_of_trainings(workloads));
  if (config.folds > 1 && !job.examples)
    throw ConfigError("tune.folds",
                      "folds are parts of a learning problem's rows, and this workload has none. "
                      "Set it to 1; tune.seeds trains several times.");
  const auto examples = next.space().examples();
  for (const auto& settings : examples) {
    try {
      job_with(workloads, source, assignments, settings).settings.loop.check();
    } catch (const ConfigError& problem) {
      throw ConfigError("tune.space", text("a training refuses ", core::join(settings, ", "), ": ",
                                           problem.what()));
    }
  }
  const run::Job first = job_with(workloads, source, assignments, examples.front());
  comm::Ranks alone(comm::make_single_communicator());
  const auto task = run::make_task(first, alone, log);
  const std::vector<std::string> known = task->metric_names();
  if (std::find(known.begin(), known.end(), config.metric()) == known.end())
    throw ConfigError(config.maximise.empty() ? "tune.minimise" : "tune.maximise",
                      text("no evaluation has a '", core::excerpt(config.metric()), "'",
                           core::suggestion(config.metric(), known)));
  return task->print();
}

void check_blocks(const TuneConfig& config, const comm::Ranks& ranks) {
  if (ranks.size() == 1) return;
  if (ranks.size() % config.ranks != 0)
    throw ConfigError("tune.ranks",
                      text(ranks.size(), " ranks are no whole number of blocks of ", config.ranks,
                           " (some would stay idle). Start a multiple of it, or choose another "
                           "--block-ranks."));
  if (groups_cross_nodes(ranks, config.ranks))
    throw ConfigError("tune.ranks",
                      text("blocks of ", config.ranks,
                           " ranks would span nodes and share them with others (Open MPI 4 "
                           "confuses their windows). Choose a number that divides the ranks of a "
                           "node, or whole nodes."));
}

std::vector<std::string> keys_of_workers() {
  return {"tune.trials",  "tune.minutes",  "tune.target",
          "tune.at_once", "tune.launcher", "tune.lease_s"};
}

}  // namespace sagips::study

#include "sagips/study/tune/tune_plan.hpp"

#include <algorithm>
#include <cmath>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/run/task.hpp"
#include "sagips/study/grid.hpp"
#include "sagips/study/group_members.hpp"
#include "sagips/study/plan.hpp"
#include "sagips/study/tune/next_trial.hpp"
#include "sagips/study/tune/objective.hpp"

namespace sagips::study {

namespace {

using core::ConfigError;
using core::text;

run::Job job_with(const run::Workloads& workloads, const std::string& source,
                  std::vector<std::string> assignments, const std::vector<std::string>& settings) {
  assignments.insert(assignments.end(), settings.begin(), settings.end());
  return run::read_any_job(workloads, source, assignments);
}

// The same with whole numbers of ranges.
std::vector<std::string> rounded(std::vector<std::string> settings, const TuneConfig& config) {
  for (std::string& setting : settings) {
    const std::string key = setting.substr(0, setting.find('='));
    double number = 0;
    for (const TunedKey& one : config.space)
      if (one.key == key && one.low && core::parse_number(setting.substr(key.size() + 1), number))
        setting = text(key, "=", std::llround(number));
  }
  return settings;
}

// What a member takes over from another one must fit, and a leg must leave it.
void check_population(const run::Job& job, const TuneConfig& config) {
  if (config.population.members == 0) return;
  if (job.as<Objective>())
    throw ConfigError("tune.population",
                      "members go on with each other's networks, and an objective has none. Set "
                      "tune.population.members=0.");
  if (!job.settings.checkpoints.are_written())
    throw ConfigError("tune.population",
                      "members go on with each other's checkpoints, and this config writes none. "
                      "Set train.checkpoints.epochs or train.checkpoints.minutes.");
  if (job.settings.early_stop.watches())
    throw ConfigError("early_stop",
                      "would end a member for good at the end of one of its legs. "
                      "Take it out, or set tune.population.members=0.");
  // of networks, and of what update rules remember
  const std::vector<std::string> shapes = {"width", "layers", "noise_dimensions", "rule",
                                           "schedule"};
  for (const TunedKey& key : config.space) {
    const std::string last = key.key.substr(key.key.rfind('.') + 1);
    const bool is_network = key.key.rfind("network", 0) == 0 && last != "dropout";
    const bool is_of_rows =
        key.key.rfind("data.", 0) == 0;  // a network has seen what is kept aside
    if (is_network || is_of_rows || key.key == "train.epochs" ||
        std::find(shapes.begin(), shapes.end(), last) != shapes.end())
      throw ConfigError("tune.space",
                        text("'", key.key,
                             "' cannot change in a population: its members go on with each other's "
                             "networks and rows from where these have come. Take it out, or set "
                             "tune.population.members=0."));
  }
}

bool is_tuned(const TuneConfig& config, const std::string& key) {
  return std::any_of(config.space.begin(), config.space.end(),
                     [&](const TunedKey& one) { return one.key == key; });
}

void check_folds(const run::Job& job, const TuneConfig& config) {
  if (config.folds == 1) return;
  if (!job.as<run::LearningProblem>())
    throw ConfigError("tune.folds",
                      "folds are parts of a learning problem's rows, and this workload has none. "
                      "Set it to 1; tune.seeds trains several times.");
  if (is_tuned(config, "data.fold") || !job.learning().split.fold.empty())
    throw ConfigError(is_tuned(config, "data.fold") ? "tune.space" : "data.fold",
                      "data.fold is what the folds of a trial differ in. Take it "
                      "out, or set tune.folds=1.");
}

void check_early_end(const run::Job& job, const TuneConfig& config) {
  if (config.early_end.rule == EarlyEndConfig::Rule::none || is_tuned(config, "train.epochs") ||
      job.as<Objective>())
    return;
  const auto epochs = static_cast<double>(job.settings.loop.epochs * config.trainings());
  if (config.early_end.first >= epochs)
    throw ConfigError(
        "tune.early_end.first",
        text("no trial would end early: the first look comes after ", config.early_end.first,
             " epochs, and a trial has ", epochs, ". Lower it, or set tune.early_end.rule=none."));
}

// Trainings at the ends of the space, as far as they can be told apart from their settings.
void try_examples(const run::Workloads& workloads, const std::string& source,
                  const std::vector<std::string>& assignments, const TuneConfig& config,
                  const std::vector<std::vector<std::string>>& examples, run::VariedKeys& varied) {
  const auto takes_whole = [&](const std::vector<std::string>& settings) {
    try {
      job_with(workloads, source, assignments, rounded(settings, config));
      return true;
    } catch (const ConfigError&) {
      return false;
    }
  };
  for (const auto& settings : examples) {
    try {
      run::Job training = job_with(workloads, source, assignments, settings);
      training.settings.loop.check();
      varied.look_at(workloads, training);
    } catch (const ConfigError& problem) {
      throw ConfigError(
          "tune.space",
          text("a training refuses ", core::join(settings, ", "), ": ", problem.what(),
               takes_whole(settings) ? " Set `integer: true` beside its "
                                       "range."
                                     : ""));
    }
  }
}

}  // namespace

std::string check_tuning(const run::Workloads& workloads, const std::string& source,
                         const std::vector<std::string>& assignments, const run::Job& job,
                         const run::Usage& usage, core::Log& log) {
  const auto& config = job.of<TuneConfig>();
  const NextTrial next(config, job.seed(), job.settings.loop.epochs);
  for (std::size_t i = 0; i < config.space.size(); ++i)
    check_varied_key(text("tune.space.", i), config.space[i].key, not_of_trainings(workloads));
  check_population(job, config);
  check_folds(job, config);
  check_early_end(job, config);
  auto examples = next.space().examples();
  for (auto& one : examples) one = assignments_of(job.as<Objective>() != nullptr, one);
  run::VariedKeys varied(usage.varied, usage);
  try_examples(workloads, source, assignments, config, examples, varied);
  std::vector<std::string> settings = examples.front();
  if (config.folds > 1) settings.push_back(text("data.fold=1/", config.folds));
  const run::Job first = job_with(workloads, source, assignments, settings);
  if (first.as<Objective>()) {
    if (config.ranks > 1)
      throw ConfigError("tune.ranks",
                        text("is ", config.ranks,
                             ", and an objective is called by one rank. Set it to 1; under a "
                             "launcher each rank has trials of its own."));
    return {};
  }
  comm::Ranks alone(comm::make_single_communicator());
  const auto task = first.problem->task(first, alone, log);
  const std::vector<std::string> known = task->metric_names();
  if (std::find(known.begin(), known.end(), config.metric()) == known.end())
    throw ConfigError(config.maximise.empty() ? "tune.minimise" : "tune.maximise",
                      text("no evaluation has a '", core::excerpt(config.metric()), "'",
                           core::suggestion(config.metric(), known)));
  if (const std::string line = varied.remark(); !line.empty()) log.warning("without-effect", line);
  return task->fingerprint();
}

void check_blocks(const TuneConfig& config, const comm::Ranks& ranks) {
  if (ranks.size() == 1) return;
  if (ranks.size() % config.ranks != 0)
    throw ConfigError("tune.ranks",
                      text(ranks.size(), " ranks are no whole number of blocks of ", config.ranks,
                           " (some would stay idle). Start a multiple of it, or choose another "
                           "--block-ranks."));
  for (const std::int64_t group : {config.ranks, config.ranks_of_training()})
    if (groups_cross_nodes(ranks, group))
      throw ConfigError("tune.ranks",
                        text(group == config.ranks ? "blocks of " : "trainings on ", group,
                             " ranks would span nodes and share them with others (Open MPI 4 "
                             "confuses their windows). Choose a number that divides the ranks of "
                             "a node, or whole nodes."));
}

std::vector<std::string> keys_of_workers() {
  return {"tune.trials",  "tune.minutes",  "tune.target",
          "tune.at_once", "tune.launcher", "tune.lease_s"};
}

}  // namespace sagips::study

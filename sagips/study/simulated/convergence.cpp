#include "sagips/study/simulated/convergence.hpp"

#include <algorithm>
#include <filesystem>

#include "sagips/analysis/convergence/simulated.hpp"
#include "sagips/comm/exchanges.hpp"
#include "sagips/comm/mpi_communicator.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/process/process_pool.hpp"
#include "sagips/core/text.hpp"
#include "sagips/record/run_files.hpp"
#include "sagips/run/many_ranks.hpp"
#include "sagips/study/grid.hpp"
#include "sagips/study/simulated/exchange_facts.hpp"
#include "sagips/study/simulated/run_simulations.hpp"
#include "sagips/study/study_figure.hpp"

namespace sagips::study {

namespace {

namespace fs = std::filesystem;
namespace files = record::run_files;
using core::text;

constexpr std::int64_t some_floats = 1000;  // whether an exchange can run does not depend on it

/// One training: a process of its own.
struct OneTraining {
  std::size_t variant = 0;
  std::int64_t seed = 1;
  std::string stem;  ///< of its files
  std::string job;   ///< YAML
  bool done = false;
};

std::string trainer(const StudyOptions& options) {
  return simulator_program(options.program, "sagips-simulator-train");
}

std::string file_name(std::string label) {
  std::replace(label.begin(), label.end(), '/', '-');
  return label;
}

/// The trainings of a study and the files that they leave.
class Trainings {
 public:
  Trainings(const SimulatedConvergence& study, const std::string& folder) {
    const SimulateConfig& config = study.study.of<SimulateConfig>();
    std::vector<std::int64_t> ranks = config.ranks;
    std::sort(ranks.begin(), ranks.end());
    for (const std::int64_t count : ranks) {
      study.job.platform.check(count);
      for (const std::string& exchange : config.exchanges) {
        variants_.push_back({.label = exchange, .ranks = count, .seeds = {}, .curves = {}});
        for (const std::int64_t seed : config.seeds) add(study.job, folder, seed);
      }
    }
  }

  /// Returns false when it was interrupted.
  bool run(std::size_t at_once, const StudyOptions& options, core::Log& log) {
    const std::string program = trainer(options);
    std::vector<core::ChildProgram> programs;
    std::vector<OneTraining*> pending;
    for (OneTraining& one : trainings_) {
      if (one.done) continue;
      std::error_code ignored;
      fs::remove(one.stem + ".json", ignored);  // of another job
      core::write_file(one.stem + ".yaml", one.job);
      programs.push_back({{program, one.stem + ".yaml", one.stem + ".json"},
                          {{"OMP_NUM_THREADS", "1"}},
                          one.stem + ".txt",
                          comm::launcher_variables()});
      pending.push_back(&one);
    }
    log.info(text(programs.size(), " trainings on simulated ranks, ",
                  trainings_.size() - programs.size(), " more are there"));
    core::PoolWatch watch;
    const auto say_failed = [&](std::size_t i, const std::string& why) {
      log.warning("member-failed", text(pending[i]->stem, " failed (", why,
                                        "). Start the same command again once it is mended."));
    };
    watch.ended = [&](std::size_t i, const core::Ending& ending) {
      pending[i]->done = ending.exit_code == 0 && ending.signal == 0;
      if (!pending[i]->done && !options.requests.stop())
        say_failed(i, text("see ", pending[i]->stem, ".txt"));
    };
    watch.refused = say_failed;
    watch.interrupted = options.requests.stop;
    return core::run_side_by_side(programs, at_once, watch);
  }

  /// What has come of them; how many are missing.
  std::size_t read() {
    std::size_t missing = 0;
    for (const OneTraining& one : trainings_) {
      if (!one.done) ++missing;
      if (!one.done) continue;
      variants_[one.variant].seeds.push_back(one.seed);
      variants_[one.variant].curves.push_back(
          record::read_simulated_learning_curve(one.stem + ".json"));
    }
    return missing;
  }
  std::size_t all() const { return trainings_.size(); }

  /// All variants; one of which nothing was trained has no learning curves.
  const std::vector<analysis::SimulatedVariant>& variants() const { return variants_; }

 private:
  void add(ManyRanksJob job, const std::string& folder, std::int64_t seed) {
    const analysis::SimulatedVariant& variant = variants_.back();
    job.ranks = variant.ranks;
    for (const std::string& assignment : exchange_assignments(variant.label))
      job.assignments.push_back(assignment);
    job.assignments.push_back(text("run.seed=", seed));
    OneTraining one{variants_.size() - 1, seed,
                    text(folder, "/", files::simulations.name, "/", file_name(variant.label), "_",
                         variant.ranks, "_ranks_seed_", seed),
                    core::write_config(job)};
    one.done = file_holds(one.stem + ".yaml", one.job) && fs::exists(one.stem + ".json");
    trainings_.push_back(std::move(one));
  }

  std::vector<analysis::SimulatedVariant> variants_;
  std::vector<OneTraining> trainings_;
};

template <class Value>
void check_list(const std::vector<Value>& values, const std::string& where) {
  if (values.empty())
    throw core::ConfigError(where, "names nothing (nothing would be trained). Name some.");
  check_named_once(values, where);
}

// Returns the tables.
std::string write_results(const SimulatedConvergence& study, const std::string& folder,
                          const std::vector<analysis::SimulatedVariant>& variants, core::Log& log) {
  const std::string tables = analysis::simulated_table(variants);
  if (tables.empty()) return {};  // nothing was trained
  const std::string told = text(study.conditions, "\n\n", tables);
  core::write_file(text(folder, "/", files::tables.name), told);
  analysis::write_simulated_csv(text(folder, "/", files::convergence.name), variants);
  if (study.study.settings.run.figures)
    draw_figure(analysis::simulated_over_time(variants), study.study.settings.figures, folder,
                "residual_over_simulated_time", log);
  return text("\n", told, "\n");
}

}  // namespace

std::vector<std::string> exchange_assignments(const std::string& name) {
  const auto slash = name.find('/');
  const std::string whole = name.substr(0, slash);
  comm::known_exchanges().get(whole, "exchanges");
  std::vector<std::string> assignments{"exchange=" + whole};
  if (slash == std::string::npos) return assignments;
  const std::string part = name.substr(slash + 1);
  if (part.empty())
    throw core::ConfigError("exchanges", text("'", name, "' names no part. Leave out the slash."));
  if (whole == "averaged")
    assignments.push_back("exchanges.averaged.inner=" + part);
  else if (whole == "gossip")
    assignments.push_back("exchanges.gossip.form=" + part);
  else if (whole == "grouped")
    assignments.push_back("exchanges.grouped.rule=" + part);
  else
    throw core::ConfigError("exchanges",
                            text("'", name, "' names a part of ", whole,
                                 ", which has none (averaged, "
                                 "gossip and grouped have). Leave out what follows the slash."));
  return assignments;
}

void check(const SimulatedConvergence& study, const run::Workloads& workloads,
           const StudyOptions& options) {
  trainer(options);
  const SimulateConfig& config = study.study.of<SimulateConfig>();
  check_list(config.seeds, "simulate.seeds");
  check_list(config.ranks, "--ranks");
  check_list(config.exchanges, "--exchanges");
  for (const std::string& exchange : config.exchanges) {
    std::vector<std::string> assignments = study.job.assignments;
    for (const std::string& assignment : exchange_assignments(exchange))
      assignments.push_back(assignment);
    const run::Job job = run::read_job(workloads, study.job.source, assignments);
    run::ManyRanks::check(job);
    for (const std::int64_t ranks : config.ranks) {
      ManyRanksJob training = study.job;
      training.ranks = ranks;
      training.platform.check(ranks);
      check_scenario(training, job.inverse().gan);
      exchange_facts(job.settings.exchange, job.settings.exchanges, training.platform, ranks,
                     some_floats);
    }
  }
}

SimulateTrainingsEnd simulate_convergence(const SimulatedConvergence& study,
                                          const std::string& folder, const StudyOptions& options,
                                          core::Log& log) {
  Trainings trainings(study, folder);
  fs::create_directories(text(folder, "/", files::simulations.name));
  const bool finished = trainings.run(study.at_once, options, log);
  const std::size_t missing = trainings.read();
  SimulateTrainingsEnd end;
  end.state = StudyEnd::state_of(!finished, missing > 0);
  if (!finished) end.remarks = stopped_line(missing, trainings.all(), "trainings");
  end.tables = write_results(study, folder, trainings.variants(), log);
  end.variants = trainings.variants();
  return end;
}

}  // namespace sagips::study

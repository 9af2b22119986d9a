#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sagips/cli/simulate/simulate_config.hpp"
#include "sagips/cli/study/closure_config.hpp"
#include "sagips/cli/study/convergence_config.hpp"
#include "sagips/cli/study/ensemble_config.hpp"
#include "sagips/core/config/config.hpp"
#include "sagips/optim/gan/gan.hpp"
#include "sagips/optim/goodness.hpp"
#include "sagips/optim/solvers.hpp"
#include "sagips/problem/workload.hpp"
#include "sagips/record/checkpoint_store.hpp"
#include "sagips/record/run_directory.hpp"
#include "sagips/train/early_stop.hpp"
#include "sagips/train/evaluate.hpp"
#include "sagips/train/loop.hpp"
#include "sagips/train/rank_config.hpp"
#include "sagips/train/rank_exchange.hpp"

namespace sagips::cli {

/// How `sagips solve` looks for parameters.
struct SolveConfig {
  std::string method = "moments";
  double minutes = 0;           ///< 0: no limit
  std::int64_t bootstraps = 0;  ///< further solutions on data drawn again
  std::int64_t seeds = 0;       ///< further solutions with other seeds
  optim::EventTest test = optim::EventTest::energy;
  std::int64_t test_events = 1000;
  std::int64_t permutations = 1999;
  void fields(core::FieldList& list);
};

/// Which methods `sagips compare` lets run on one workload.
struct CompareConfig {
  std::vector<std::string> methods = {"moments", "gan"};
  double minutes = 2;  ///< for each
  void fields(core::FieldList& list);
};

/// The whole config of a run; every part lists its own fields.
struct Settings {
  std::string workload;
  std::string device = "cpu";
  std::int64_t threads = 0;
  record::RunConfig run;
  problem::DataSettings data;
  optim::GanConfig gan;
  std::string exchange = "arar_arar";  ///< of the generator; the discriminator's is in `gan`
  comm::ExchangesConfig exchanges;
  train::RankConfig ranks;
  train::LoopConfig loop;
  record::CheckpointConfig checkpoints;
  train::EarlyStopConfig early_stop;
  train::EvaluationConfig evaluation;
  SolveConfig solve;
  CompareConfig compare;
  EnsembleConfig ensemble;
  ConvergenceConfig convergence;
  ClosureConfig closure;
  SimulateConfig simulate;
  optim::SolversConfig solvers;

  train::ExchangeChoice exchange_choice() const {
    return {exchange, gan.discriminator.exchange, exchanges};
  }
  void fields(core::FieldList& list);
};

/// The workloads a program knows.
using Workloads = core::Registry<problem::WorkloadEntry>;

/// What a command works with: a workload that has read its config.
struct Job {
  const problem::WorkloadEntry* entry = nullptr;
  std::unique_ptr<problem::Workload> workload;
  Settings settings;
  std::string effective_config;  ///< YAML with every value, reads back to the same job

  std::uint64_t seed() const { return static_cast<std::uint64_t>(settings.run.seed); }
};

/// Reads `source` (a workload's name, NAME/SETTINGS, or a YAML file with a key `workload`), laid
/// over the workload's default settings, with `assignments` ("a.b=c") over both. throws:
/// ConfigError
Job read_job(const Workloads& workloads, const std::string& source,
             const std::vector<std::string>& assignments);

/// Every field of a workload's config, for `explain`.
std::vector<core::FieldDescription> describe_job(Job& job, const std::string& prefix);

}  // namespace sagips::cli

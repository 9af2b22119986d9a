#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sagips/core/config/config.hpp"
#include "sagips/run/settings.hpp"
#include "sagips/simulate/replay.hpp"
#include "sagips/simulate/scenario.hpp"
#include "sagips/study/simulated/exchange_facts.hpp"

namespace sagips::study {

/// What `sagips simulate` lets run on a simulated cluster.
struct SimulateConfig {
  std::vector<std::string> exchanges;  ///< empty: all that can run there
  /// The exchanges that are simulated tensor by tensor as well: the paper's way.
  std::vector<std::string> unfused = {"ring", "arar_arar", "rma_arar_arar"};
  std::vector<std::int64_t> ranks = {4, 8, 20, 40, 100, 200, 400};
  std::string platform = "polaris";
  std::int64_t epochs = 0;   ///< 0: as many as a pattern needs
  std::int64_t at_once = 0;  ///< 0: the cores
  simulate::ScenarioConfig scenario;
  double paper_gain = 40;    ///< of the unfused ring from 4 to 400 ranks
  std::string compute_from;  ///< a run folder
  double price_per_hour = 0;
  bool late = true;
  bool stragglers = true;
  std::int64_t straggler_ranks = 40;
  std::vector<std::int64_t> seeds = {1, 2, 3};  ///< of trainings, with --convergence
  std::int64_t as_floats = 51206;               ///< whose messages those take; 0: their own

  void fields(core::FieldList& list);
};

/// An exchange at one number of ranks.
struct SimulatedWay {
  std::string exchange;
  bool fused = true;
  std::int64_t ranks = 0;
  ExchangeFacts facts;

  std::string label() const;  ///< "ring", "ring, tensor by tensor"
};

struct SimulatePlan {
  simulate::PlatformConfig platform;
  std::vector<std::int64_t> ranks;  ///< ascending
  run::StepOfRanks step;            ///< what is simulated as an epoch
  std::vector<SimulatedWay> ways;   ///< by exchange, tensor by tensor first, then by ranks
  std::vector<SimulatedWay> with_stragglers;  ///< all at one number of ranks
  bool has_followers = true;          ///< rank 1 leads nobody; false: groups of one rank, all lead
  std::vector<std::string> left_out;  ///< why something is not simulated, one line each

  std::int64_t floats() const;
  std::int64_t nodes(std::int64_t of_ranks) const;
};

/// throws: ConfigError for ranks, exchanges and platforms that cannot be, and what would do nothing
SimulatePlan plan_simulations(const run::Job& job);

/// Computation of an epoch, and where it comes from.
struct ComputeTime {
  double mean_s = 0;           ///< 0: unknown, only exchanges are simulated
  std::vector<double> sample;  ///< measured ones; empty: none
  std::string origin;          ///< one line for logs and captions
};

/// One simulation: a job of the program `sagips-simulator`, and what came of it.
struct Simulation {
  enum class What {
    exchange,     ///< by itself alone
    training,     ///< by itself, and with computation
    late,         ///< the same, completed one update late
    undisturbed,  ///< to compare the next two with
    slow_leader,
    slow_follower,
  };
  What what = What::exchange;
  SimulatedWay way;
  std::string name;  ///< of its files
  simulate::ReplayConfig job;
  /// Whether its result tells what central weights went through.
  bool shows_centre() const {
    return what == What::training && result && result->updates_per_s > 0;
  }
  double messages = 0;  ///< of all ranks and epochs: how long it takes to simulate
  /// Where an epoch `is_a_sum` of this computation and the exchange by itself, only that is
  /// simulated; 0: the epochs are.
  double computation_s = 0;
  std::optional<simulate::ReplayResult> result{};
  std::string failure{};  ///< why there is none
};

/// Whether an epoch takes its computation and the exchange by itself: an exact exchange to which all
/// ranks come, and which they leave, at the same time.
bool is_a_sum(const SimulatePlan& plan, const SimulatedWay& way,
              const simulate::ScenarioConfig& scenario);

/// Whether the exchange goes on during computation in the simulator as it does on a cluster.
bool can_be_late(const std::string& exchange);

std::string word(Simulation::What what);  ///< "exchange", "training", ...

/// The simulations that tell how long an epoch computes (the ring, tensor by tensor, at the fewest
/// and most ranks), and those that need not know it.
std::vector<Simulation> calibrating_simulations(const run::Job& job, const SimulatePlan& plan);
/// Whether a simulation is one of these rings.
bool calibrates(const Simulation& one);
/// All other simulations, those with most messages first; with an unknown computation exchanges
/// alone.
std::vector<Simulation> study_simulations(const run::Job& job, const SimulatePlan& plan,
                                          const ComputeTime& compute);

}  // namespace sagips::study

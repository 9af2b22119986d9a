#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "sagips/comm/communicator.hpp"
#include "sagips/problem/loaded_data.hpp"
#include "sagips/record/simulated_learning_curve.hpp"
#include "sagips/run/training_setup.hpp"

namespace sagips::run {

/// The clock of a training whose computations take simulated time.
struct SimulatedClock {
  std::function<double()> now_s = [] { return 0.0; };
  /// The calling rank's computation of an epoch passes; `poll` moves what is under way meanwhile.
  std::function<void(std::int64_t epoch, const std::function<void()>& poll)> compute =
      [](std::int64_t, const std::function<void()>&) {};
};

/// A training of many ranks that share one process: every rank has networks, optimizers and an
/// exchange of its own, and runs the loop that `sagips train` runs. What they see is collected
/// without a message. No run folder, no checkpoints.
class ManyRanks {
 public:
  /// throws: ConfigError for what only a real job can do
  static void check(const Job& job);
  /// Checks the job and loads its events. throws: what `check` and problem::load_data throw
  ManyRanks(const Job& job, int ranks);

  /// Length of the shared part of the generator. On one thread, before the ranks begin.
  std::int64_t floats();

  /// One rank's whole training. collective; ranks may be threads
  void train(comm::Communicator& communicator, const SimulatedClock& clock);

  /// The learning curve, when all ranks have ended.
  record::SimulatedLearningCurve learning_curve() const;

 private:
  /// What one rank saw at one evaluation.
  struct RankPrediction {
    double time_s = 0;
    std::vector<double> values;  ///< mean predictions of the parameters that are compared
  };
  struct Evaluation {
    std::vector<RankPrediction> predictions;  ///< by rank
    std::vector<std::vector<float>> weights;  ///< by rank, until all are there
    int seen = 0;
    double consensus_distance = 0;
  };
  TrainingSetup setup(const problem::RankPlace& place) const;
  void take_targets(const env::ParameterSet& parameters);
  void look(std::int64_t epoch, std::size_t rank, double time_s, optim::Gan& gan);
  void settle(Evaluation& evaluation) const;
  void note_end(const train::RankExchange& exchange, std::int64_t epochs);
  record::SimulatedLearningCurve::Point point(std::int64_t epoch,
                                              const Evaluation& evaluation) const;

  const Job& job_;
  std::size_t ranks_;
  problem::LoadedData data_;
  struct Target {
    std::int64_t place = 0;  ///< among all parameters
    double truth = 1;
  };
  std::vector<Target> targets_;  ///< what predictions are compared with
  std::mutex mutex_;
  std::map<std::int64_t, Evaluation> evaluations_;
  record::SimulatedLearningCurve learning_curve_;
  double age_sum_ = 0;
};

}  // namespace sagips::run

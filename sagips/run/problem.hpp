#pragma once
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sagips/comm/ranks.hpp"
#include "sagips/core/config/config.hpp"
#include "sagips/core/log.hpp"
#include "sagips/problem/problem.hpp"
#include "sagips/train/rank_exchange.hpp"

namespace sagips::run {

class Task;
struct Job;
struct Predicted;
struct PredictOptions;
struct Settings;
struct Usage;

/// What `check` has to look at a problem with.
struct Look {
  const Job& job;
  int ranks;          ///< of the training that comes
  int ranks_of_node;  ///< of these, on this node
  std::ostream& out;
  core::Log& log;
  /// Runs a part, and keeps what it throws as a problem that was found.
  std::function<void(const std::function<void()>&)> part;
};

/// What a step of a training is among ranks.
struct StepOfRanks {
  std::vector<std::int64_t> tensors;  ///< lengths of what they exchange, once for each update
  bool of_rows = false;               ///< false: an epoch is a step
  /// Events or rows that all see in a step, at most.
  std::function<double(std::int64_t ranks)> events;
  std::function<std::int64_t(std::int64_t ranks)> steps;  ///< of an epoch
};

/// The keys of what a rank sees in a step, and of the rules that move weights by it.
struct StepKeys {
  std::string batch;                                    ///< "batch.samples"; empty: there is none
  std::int64_t size = 0;                                ///< its value
  std::vector<std::pair<std::string, double>> rules{};  ///< "optimizer" and its learning rate
};

/// A kind of problem: the settings that it reads beside those that every training has, and what its
/// trainings do. Everything else (loop, exchanges, checkpoints, run folder) is the same for all kinds. A
/// program brings a kind of its own by an entry of `Workloads` that makes one.
class Problem : public problem::Problem {
 public:
  /// What it is, for who asks for another kind: "a learning problem, which has no parameters to find".
  virtual std::string description() const = 0;
  /// What it learns from: "events", "rows".
  virtual std::string unit() const = 0;
  /// What of its settings, beside those of update rules, may keep gradients finite, for a message: "narrow the
  /// parameter ranges"; empty: nothing.
  virtual std::string remedy() const { return {}; }
  /// Changes defaults of the settings that every training has.
  virtual void set_defaults(Settings&) const {}
  /// Every key of a training, those of `settings` among them, in the order in which a config is written.
  virtual void fields(core::FieldList& list, Settings& settings) = 0;
  /// Says what keys need to have an effect, beside those that are the same for all kinds. Where it is not
  /// replaced: as a network needs it that keeps nothing aside, with `optimizer` as its rule.
  virtual void add_needs(const core::FieldList& list, const Job& job, const Usage& usage) const;
  /// Whether an update rule lowers its rate by what evaluations say.
  virtual bool waits_for_plateau() const = 0;
  /// What carries the gradients of each of its networks. Where it is not replaced: that of the run carries the
  /// first one's, and each rank has others of its own.
  virtual train::ExchangeChoice exchanges(const Settings& settings) const;
  /// Says on `look.out` what a training has before it, up to what is made alike on every rank. Returns
  /// whether networks can be trained.
  virtual bool check(const Look& look) const;
  /// What a study varies to compare batches. Where it is not replaced: nothing.
  virtual StepKeys step_keys() const { return {}; }
  /// throws: ConfigError where nothing is exchanged, and as `task`
  virtual StepOfRanks step_of_ranks(const Job& job) const;
  /// throws: ConfigError for what contradicts itself, and what reading the data throws. collective
  virtual std::unique_ptr<Task> task(const Job& job, comm::Ranks& ranks, core::Log& log) const = 0;
  /// What the networks of a run folder give. throws: ConfigError where they give nothing alone
  virtual Predicted predict(const Job& job, const std::string& folder,
                            const PredictOptions& options, core::Log& log) const;
};

}  // namespace sagips::run

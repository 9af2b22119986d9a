#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sagips/comm/ranks.hpp"
#include "sagips/core/log.hpp"
#include "sagips/core/tracer.hpp"
#include "sagips/optim/learn/optimizer.hpp"
#include "sagips/record/event.hpp"
#include "sagips/record/results.hpp"
#include "sagips/record/snapshots.hpp"
#include "sagips/run/run_outputs.hpp"
#include "sagips/run/settings.hpp"

namespace sagips::run {

/// What a training is of: it has read a job's data, owns the optimizer, and says how good that is. The
/// loop, the exchanges and the run folder are the same for all of them.
class Task {
 public:
  virtual ~Task() = default;

  virtual optim::Optimizer& optimizer() = 0;
  /// What tells the data that are read from others.
  virtual std::string fingerprint() const = 0;
  /// "proxy1d on toy data"
  virtual std::string description() const = 0;
  /// "10,000 events": what a rank learns from.
  virtual std::string share() const = 0;
  /// The metrics that an evaluation has.
  virtual std::vector<std::string> metric_names() const = 0;
  /// How many kinds of networks the ranks train.
  virtual int kinds_of_ranks() const { return 1; }

  /// Called once before the first step. resumed: the state is put back afterwards. collective
  virtual void begin(bool /*resumed*/) {}
  /// Called before the first evaluation. all_wait: the exchanges let every rank wait; has_central: rank 0
  /// evaluates the central weights of an exchange. collective
  virtual void begin_evaluations(bool /*all_wait*/, bool /*has_central*/) {}
  /// How good the networks are: of all ranks on rank 0, of its own on others. Epoch and time are left
  /// open. Nothing: it comes later, from `late`. collective
  virtual std::optional<record::Evaluated> evaluate(std::int64_t epoch) = 0;
  /// Asks that these ranks, which will have the same networks whenever they evaluate, judge a share of
  /// the rows each. all_wait: as before. False: rank 0 judges alone. collective
  virtual bool share_evaluations(const std::vector<int>& ranks, bool all_wait);
  /// See train::Loop::Callbacks.
  virtual std::optional<record::Evaluated> late(bool) { return std::nullopt; }
  /// Whether it keeps the networks of its best evaluation, which `judge` tells it of.
  virtual bool keeps_best() const { return false; }
  /// An evaluation that was begun has come, on rank 0. score: of the metric that is watched, smaller
  /// where it is better
  virtual void judge(
      const record::Evaluated&,
      const std::function<std::optional<double>(const record::Evaluated&)>& /*score*/) {}
  /// What rank 0 needs beside the optimizer to go on.
  virtual void state(nn::StateList&) {}
  /// The same at the end, now that the slowest rank has come there.
  virtual record::Evaluated last(std::int64_t epoch) {
    return evaluate(epoch).value_or(record::Evaluated{});
  }
  /// What is known when the training has failed on the only rank.
  virtual record::Evaluated after_failure() { return {}; }
  /// The networks at the last evaluation, on rank 0; nothing: there are no snapshots of such a task.
  virtual std::optional<record::Snapshot> snapshot() { return std::nullopt; }
  virtual void set_tracer(core::Tracer*) {}
  /// What long evaluations call now and then, so that other ranks need not wait for this one.
  /// all_the_time: for ranks that compute nothing else, which evaluate in a thread beside it
  void set_meanwhile(std::function<void()> meanwhile, bool all_the_time) {
    meanwhile_ = std::move(meanwhile);
    all_the_time_ = all_the_time;
  }

  /// Writes what was found into the run folder, on rank 0. collective
  virtual record::Results write(RunOutputs& outputs, const Training& training,
                                const std::vector<RankRow>& rows) = 0;

 protected:
  /// Between the pieces of a long evaluation, on its thread.
  void meanwhile() const {
    if (meanwhile_ && !all_the_time_) meanwhile_();
  }
  /// Runs a long evaluation, which talks to no other rank. throws: what it throws
  void evaluate_long(const std::function<void()>& evaluation) const;

 private:
  std::function<void()> meanwhile_;
  bool all_the_time_ = false;
};

/// What the results of every training say; its metrics are the numbers NAME_start and, of `end`, NAME_end.
record::Results results_of(const Job& job, const Training& training, const record::Evaluated& end);

}  // namespace sagips::run

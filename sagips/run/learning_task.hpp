#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sagips/optim/learn/supervised.hpp"
#include "sagips/run/task.hpp"
#include "sagips/run/trained_networks.hpp"
#include "sagips/train/row_shares.hpp"

namespace sagips::run {

/// How a learning problem reads its files. ranks: of a job, whose first rank looks into them for all
data::Reading reading_of(comm::Ranks* ranks = nullptr);

/// The rows of a learning problem, their targets as its loss takes them, and those kept aside; inputs are
/// standardised where they are to be, by the statistics of the rows to learn from.
struct LearningRows {
  data::ExampleSets sets;
  data::RowStatistics statistics{};
};

/// Keeps rows aside where a source has none. throws: ConfigError where these have inputs of another shape
void keep_aside(const data::ExampleSplit& split, std::uint64_t seed_of_run,
                data::ExampleSets& sets);
/// "FILE, 1,000 rows (100 kept aside), 2,000 weights"
std::string description_of(const data::ExampleSets& sets, std::int64_t weights);
/// "500 rows": what a rank learns from.
std::string share_of(const data::ExampleSets& sets, const Job& job, comm::Ranks& ranks);

/// throws: ConfigError, DataError; collective
LearningRows load_examples(const Job& job, comm::Ranks* ranks = nullptr);
/// Reads the rows of a job that keeps them, before its ranks part: those of a node have them once, whatever
/// part trains with them. Does nothing for a problem without examples, and where these differ: they are drawn,
/// or a key of theirs is among those that trainings differ in. throws: as above; collective
void read_for_all(const Job& job, const std::vector<std::string>& varied, comm::Ranks& ranks);

/// The networks of a learning problem for such inputs. throws: ConfigError where layers do not fit
std::vector<optim::NetworkPart> make_networks(const Job& job, const data::ExampleRows& rows);

/// What tells these rows from others.
std::string fingerprint_of(const data::ExampleSets& sets);

/// throws: ConfigError for what contradicts the rows, and where the loss cannot compare their targets
std::unique_ptr<optim::Supervised> make_learner(const Job& job,
                                                const std::vector<optim::NetworkPart>& networks,
                                                const LearningRows& rows,
                                                const problem::RankPlace& place = {});

/// Of networks that learn from so many rows, so many a rank in a step.
StepOfRanks step_of_ranks(optim::Optimizer& learner, std::int64_t rows, std::int64_t batch);

/// What a user should know of the rows before a training begins: each a sentence.
std::vector<std::string> warnings_of(const Job& job, const optim::Supervised& learner,
                                     const data::ExampleSets& sets);

/// Lines on lengths that do not fit the run: a warm-up that outlasts it, a batch of more rows than a rank
/// has. rows: to learn from; ranks: that compute
std::vector<std::string> remarks_on_lengths(const Job& job, std::int64_t rows, std::int64_t ranks);

/// The latter; empty: it fits.
std::string remark_on_batch(std::int64_t batch, std::int64_t rows, std::int64_t ranks);

/// The metrics that an evaluation has.
std::vector<std::string> metric_names(const optim::Supervised& learner,
                                      const data::ExampleSets& sets);

/// What standardises rows for networks, as a run has left it beside their weights.
data::RowStatistics read_standards(const std::string& file);

/// A network that learns targets from inputs. It is judged by the rows that are kept aside, on rank 0 or
/// by shares of ranks that have the same weights.
class LearningTask final : public Task {
 public:
  LearningTask(const Job& job, comm::Ranks& ranks, core::Log& log);

  optim::Optimizer& optimizer() override { return *learner_; }
  std::string fingerprint() const override { return fingerprint_; }
  std::string description() const override;
  std::string share() const override;
  std::vector<std::string> metric_names() const override;
  void begin(bool resumed) override;
  void begin_evaluations(bool, bool) override {}
  std::optional<record::Evaluated> evaluate(std::int64_t epoch) override;
  bool share_evaluations(const std::vector<int>& ranks, bool all_wait) override;
  std::optional<record::Evaluated> late(bool wait) override;
  bool keeps_best() const override { return true; }
  void judge(const record::Evaluated& evaluated, const BestNetworks::Score& score) override {
    best_.judge(evaluated, score);
  }
  void state(nn::StateList& list) override { list.part("best", best_); }
  record::Evaluated last(std::int64_t epoch) override {
    if (ranks_.is_first()) best_.remember(epoch);
    return judged();
  }
  record::Evaluated after_failure() override;
  record::Results write(RunOutputs& outputs, const Training& training,
                        const std::vector<RankRow>& rows) override;

 private:
  optim::Prediction predict(const data::ExampleRows& rows) const;
  record::Evaluated judged() const;
  record::Evaluated judged(const optim::Prediction& prediction) const;
  std::optional<record::Evaluated> judged_together(bool wait);

  const Job& job_;
  comm::Ranks& ranks_;
  core::Log& log_;
  LearningRows rows_;
  const data::ExampleSets& sets_ = rows_.sets;
  std::string fingerprint_;
  std::unique_ptr<optim::Supervised> learner_;
  BestNetworks best_;
  std::optional<train::RowShares> shares_;  ///< of the rows that are kept aside
  data::ExampleRowsPtr own_rows_;           ///< this rank's
  bool all_wait_ = false;
};

}  // namespace sagips::run

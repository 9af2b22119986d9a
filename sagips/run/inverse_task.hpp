#pragma once
#include <optional>

#include "sagips/problem/loaded_data.hpp"
#include "sagips/run/rank_evaluation.hpp"
#include "sagips/run/task.hpp"
#include "sagips/run/training_setup.hpp"

namespace sagips::run {

/// Networks that find the parameters behind measured events.
class InverseTask final : public Task {
 public:
  InverseTask(const Job& job, comm::Ranks& ranks, core::Log& log);

  optim::Optimizer& optimizer() override { return setup_.gan; }
  std::string fingerprint() const override { return fingerprint_; }
  std::string description() const override;
  std::string share() const override;
  std::vector<std::string> metric_names() const override;
  int kinds_of_ranks() const override;
  void begin(bool resumed) override;
  void begin_evaluations(bool all_wait, bool has_central) override;
  std::optional<record::Evaluated> evaluate(std::int64_t epoch) override {
    return (*evaluation_)(epoch);
  }
  record::Evaluated last(std::int64_t epoch) override { return evaluation_->last(epoch); }
  record::Evaluated after_failure() override;
  std::optional<record::Snapshot> snapshot() override { return evaluation_->snapshot(); }
  void set_tracer(core::Tracer* tracer) override { setup_.gan.set_tracer(tracer); }
  record::Results write(RunOutputs& outputs, const Training& training,
                        const std::vector<RankRow>& rows) override;

 private:
  env::Environment own_channels() const;
  void begin_at_solution();
  env::Environment judges();
  record::Results results(const env::Environment& all, const Training& training,
                          const std::vector<RankRow>& rows, Timing& timing);

  const Job& job_;
  comm::Ranks& ranks_;
  core::Log& log_;
  problem::DataShare share_;
  std::optional<problem::LoadedData> data_;
  std::string fingerprint_;
  env::Environment environment_;
  TrainingSetup setup_;
  train::Evaluator evaluator_;
  std::optional<RankEvaluation> evaluation_;
};

}  // namespace sagips::run

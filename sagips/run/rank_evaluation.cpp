#include "sagips/run/rank_evaluation.hpp"

#include "sagips/data/numbers.hpp"

namespace sagips::run {

RankEvaluation::RankEvaluation(comm::Ranks& ranks, bool all_wait, bool has_central, optim::Gan& gan,
                               const train::Evaluator& evaluator,
                               const env::ParameterSet& parameters)
    : ranks_(ranks),
      has_central_(has_central),
      reports_(ranks, all_wait),
      gan_(gan),
      evaluator_(evaluator) {
  for (const env::Parameter& parameter : parameters.all()) names_.push_back(parameter.name);
}

record::Evaluated RankEvaluation::operator()(std::int64_t epoch) {
  if (has_central_) return seen({.predictions = predictions()});
  return seen(reports_.meet(predictions(), weights(), epoch));
}

record::Evaluated RankEvaluation::last(std::int64_t epoch) {
  if (has_central_) return seen({.predictions = predictions()});
  return seen(reports_.close(predictions(), weights(), epoch));
}

std::optional<record::Snapshot> RankEvaluation::snapshot() {
  if (!seen_.defined() && ranks_.size() > 1 && !has_central_) return std::nullopt;
  if (!seen_.defined()) seen_ = predictions();
  record::Snapshot snapshot;
  snapshot.parameters = names_;
  snapshot.predictions = data::numbers_of<float>(seen_);
  snapshot.weights = data::numbers_of<float>(gan_.predicting_weights());
  return snapshot;
}

torch::Tensor RankEvaluation::predictions() {
  return gan_.predict(evaluator_.samples()).contiguous();
}

torch::Tensor RankEvaluation::weights() {
  nn::Replica& replica = gan_.generator();
  return replica.weights()
      .detach()
      .narrow(0, 0, replica.shared_size())
      .to(torch::kCPU, /*non_blocking=*/false, /*copy=*/true);
}

record::Evaluated RankEvaluation::seen(const train::RankView& view) {
  seen_ = view.predictions;
  if (!ranks_.is_first()) return evaluator_.parameters(view.predictions);
  record::Evaluated evaluated = evaluator_.evaluate(view.predictions);
  if (ranks_.size() > 1 && !has_central_) evaluated.ranks = view.numbers(names_);
  return evaluated;
}

}  // namespace sagips::run

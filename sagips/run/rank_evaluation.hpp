#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sagips/comm/ranks.hpp"
#include "sagips/env/parameter.hpp"
#include "sagips/optim/gan/gan.hpp"
#include "sagips/record/event.hpp"
#include "sagips/record/snapshots.hpp"
#include "sagips/train/evaluate.hpp"
#include "sagips/train/rank_reports.hpp"

namespace sagips::run {

/// The picture of all ranks that rank 0 shows; other ranks see themselves.
class RankEvaluation {
 public:
  /// has_central: the answer is that of central weights, which rank 0 has when it evaluates
  RankEvaluation(comm::Ranks& ranks, bool all_wait, bool has_central, optim::Gan& gan,
                 const train::Evaluator& evaluator, const env::ParameterSet& parameters);

  record::Evaluated operator()(std::int64_t epoch);
  record::Evaluated last(std::int64_t epoch);
  /// The mean over ranks at the last evaluation, on rank 0. Epoch and time are left open. Nothing: a run
  /// of several ranks was resumed behind its last evaluation, whose mean nobody has any more.
  std::optional<record::Snapshot> snapshot();

 private:
  torch::Tensor predictions();
  torch::Tensor weights();
  record::Evaluated seen(const train::RankView& view);

  comm::Ranks& ranks_;
  bool has_central_;
  train::RankReports reports_;
  optim::Gan& gan_;
  const train::Evaluator& evaluator_;
  std::vector<std::string> names_;
  torch::Tensor seen_;  ///< predictions
};

}  // namespace sagips::run

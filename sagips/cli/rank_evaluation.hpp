#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sagips/comm/ranks.hpp"
#include "sagips/env/parameter.hpp"
#include "sagips/optim/gan.hpp"
#include "sagips/record/event.hpp"
#include "sagips/train/evaluate.hpp"
#include "sagips/train/rank_reports.hpp"

namespace sagips::cli {

/// The picture of all ranks that rank 0 shows; other ranks see themselves.
class RankEvaluation {
 public:
  /// all_wait: whether every rank ever waits for another
  RankEvaluation(comm::Ranks& ranks, bool all_wait, optim::Gan& gan,
                 const train::Evaluator& evaluator, const env::ParameterSet& parameters);

  record::Evaluated operator()(std::int64_t epoch);
  /// When everybody is at the end. collective
  record::Evaluated last(std::int64_t epoch);

 private:
  torch::Tensor predictions();
  torch::Tensor weights();
  record::Evaluated seen(const train::RankView& view) const;

  comm::Ranks& ranks_;
  train::RankReports reports_;
  optim::Gan& gan_;
  const train::Evaluator& evaluator_;
  std::vector<std::string> names_;
};

}  // namespace sagips::cli

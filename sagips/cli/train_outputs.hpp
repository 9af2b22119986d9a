#pragma once
#include <optional>
#include <string>
#include <vector>

#include <torch/torch.h>

#include "sagips/cli/training.hpp"
#include "sagips/record/open_run.hpp"

namespace sagips::cli {

/// The folder of a training: opened by rank 0, which leaves the results there.
class TrainOutputs {
 public:
  /// collective
  TrainOutputs(const Job& job, comm::Ranks& ranks, record::Start start, core::Log& log);

  const std::string& path() const { return path_; }
  /// Where the run begins or goes on. collective
  Beginning beginning() const;

  /// On rank 0. proposals: mean over ranks; weights: [ranks, weights]; judges: what the answer is
  /// judged by
  void write(const env::Environment& environment, const env::Environment& judges,
             const Training& training, const std::vector<RankRow>& rows,
             const torch::Tensor& proposals, const torch::Tensor& weights,
             const train::Evaluator& evaluator);
  void finish(record::RunStatus status) const;

 private:
  void say_resumed(const std::optional<train::Restored>& restored) const;
  record::Results results(const env::Environment& environment, const env::Environment& judges,
                          const Training& training, const std::vector<RankRow>& rows);

  const Job& job_;
  comm::Ranks& ranks_;
  core::Log& log_;
  std::optional<record::RunDirectory> folder_;
  bool resumed_ = false;
  std::string path_, run_id_;
};

}  // namespace sagips::cli

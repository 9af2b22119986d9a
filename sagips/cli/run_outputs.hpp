#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sagips/cli/timing.hpp"
#include "sagips/cli/training.hpp"
#include "sagips/data/torch.hpp"
#include "sagips/record/open_run.hpp"

namespace sagips::cli {

/// What a training leaves in its run folder; rank 0 writes, all know the folder.
class RunOutputs {
 public:
  /// Opens the folder: a new one, or that of the run that goes on. collective
  /// throws: ConfigError, StorageError on rank 0
  RunOutputs(const Job& job, comm::Ranks& ranks, record::Start start, int threads, core::Log& log,
             Timing& timing);

  const std::string& path() const { return path_; }
  /// Where the run goes on. collective
  Beginning beginning() const;
  void finish(record::RunStatus status) const;

  /// On rank 0. judges: what the answer is judged by; proposals: mean over ranks; weights: [ranks,
  /// weights]
  void write(const env::Environment& environment, const env::Environment& judges,
             const Training& training, const std::vector<RankRow>& rows,
             const torch::Tensor& proposals, const torch::Tensor& weights,
             const train::Evaluator& evaluator);

 private:
  void say_resumed(const std::optional<train::Restored>& restored) const;
  record::Results results(const env::Environment& environment, const env::Environment& judges,
                          const Training& training, const std::vector<RankRow>& rows);
  void show(const record::Results& results, const std::vector<RankRow>& rows,
            const std::string& figure);

  const Job& job_;
  comm::Ranks& ranks_;
  core::Log& log_;
  Timing& timing_;
  std::optional<record::RunDirectory> folder_;
  bool resumed_ = false;
  std::string path_, run_id_;
};

}  // namespace sagips::cli

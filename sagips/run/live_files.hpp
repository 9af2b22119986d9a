#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "sagips/core/log.hpp"
#include "sagips/record/tensorboard.hpp"
#include "sagips/record/timeline.hpp"
#include "sagips/run/rank_evaluation.hpp"
#include "sagips/run/settings.hpp"
#include "sagips/run/snapshot_writer.hpp"

namespace sagips::run {

/// "rank_0003.json"
std::string file_of_rank(int rank, const std::string& extension);

/// An observer that writes what people look at while a run lasts: snapshots and event files for
/// TensorBoard on rank 0, a trace of the first epochs on every rank. A full disk costs the file and is
/// told once; the run goes on.
class LiveFiles {
 public:
  LiveFiles(const Job& job, const comm::Ranks& ranks, optim::Gan& gan,
            const RankEvaluation& evaluation, std::string folder, core::Log& log);

  /// Before the first epoch of this process. over: epochs that are over, in a resumed run
  void begin(std::int64_t over);
  void operator()(const record::Event& event);
  /// Null when no trace is asked for.
  core::Tracer* tracer() { return timeline_ ? &*timeline_ : nullptr; }
  /// After the last epoch: writes the trace.
  void end();

 private:
  void to_tensorboard(const record::Event& event);
  void trace(const record::Event& event);

  const Job& job_;
  bool is_first_;
  int rank_;
  optim::Gan& gan_;
  const RankEvaluation& evaluation_;
  std::string folder_;
  core::Log& log_;
  std::optional<SnapshotWriter> snapshots_;
  std::optional<record::TensorBoardWriter> tensorboard_;
  std::optional<record::Timeline> timeline_;
  std::int64_t began_ = 0;   ///< epochs that were over then
  std::int64_t traced_ = 0;  ///< epochs
};

}  // namespace sagips::run

#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "sagips/core/log.hpp"
#include "sagips/nn/state.hpp"
#include "sagips/record/event.hpp"
#include "sagips/record/metrics.hpp"
#include "sagips/record/snapshots.hpp"
#include "sagips/record/tensorboard.hpp"
#include "sagips/record/timeline.hpp"
#include "sagips/run/monitor.hpp"
#include "sagips/run/task.hpp"

namespace sagips::run {

/// "rank_0003.json"
std::string file_of_rank(int rank, const std::string& extension);

/// Metrics that a full disk interrupts without ending the run: one warning, and they go on when there
/// is space again. Its state is where the file goes on after a restart.
class LastingMetrics {
 public:
  LastingMetrics(std::string path, std::function<void(const std::string&)> warn)
      : path_(std::move(path)), warn_(std::move(warn)) {}

  void operator()(const record::Event& event);
  void state(nn::StateList& list);

 private:
  void lose(const std::string& problem);

  std::string path_;
  std::function<void(const std::string&)> warn_;
  std::optional<record::MetricsWriter> writer_;  ///< opened by the first event
  std::int64_t bytes_ = 0;                       ///< that the file has
  bool lost_ = false;
};

/// An observer that keeps the generators at the first evaluation of each part of a run, and those of
/// its end. A full disk costs the snapshot and is told; the run goes on.
class SnapshotWriter {
 public:
  /// over: epochs that are over, in a resumed run; part: the part of the run that ends with an epoch;
  /// now: predictions and weights as they stand (epoch and time are set here)
  SnapshotWriter(std::string folder, std::int64_t over,
                 std::function<std::int64_t(std::int64_t epoch)> part,
                 std::function<std::optional<record::Snapshot>()> now, core::Log& log)
      : folder_(std::move(folder)),
        part_(std::move(part)),
        now_(std::move(now)),
        log_(log),
        last_part_(over > 0 ? part_(over) : -1) {}

  void operator()(const record::Event& event);

 private:
  void write(std::int64_t epoch, double time_s);

  std::string folder_;
  std::function<std::int64_t(std::int64_t)> part_;
  std::function<std::optional<record::Snapshot>()> now_;
  core::Log& log_;
  std::int64_t last_epoch_ = -1;  ///< of the last one; -1: none yet
  std::int64_t last_part_;        ///< likewise
};

/// An observer that writes what people look at while a run lasts: snapshots and event files for
/// TensorBoard on rank 0, a trace of the first epochs on every rank. A full disk costs the file and is
/// told once; the run goes on.
class LiveFiles {
 public:
  /// collective
  LiveFiles(const Job& job, comm::Ranks& ranks, Task& task, std::string folder, core::Log& log);

  /// Called before the first epoch of this process. over: epochs that are over, in a resumed run
  void begin(std::int64_t over);
  void operator()(const record::Event& event);
  /// Null when nothing is monitored.
  Monitor* monitor() { return monitor_ ? &*monitor_ : nullptr; }
  /// Null when no trace is asked for.
  core::Tracer* tracer() { return timeline_ ? &*timeline_ : nullptr; }
  /// Called after the last epoch: writes the rest of the trace.
  void end();
  /// What the monitor has seen since this start; nothing without one.
  record::MachineUse used() { return monitor_ ? monitor_->since_start() : record::MachineUse(); }

 private:
  void to_tensorboard(const record::Event& event);
  void trace(const record::Event& event);
  void begin_trace(std::int64_t over);

  const Job& job_;
  bool is_first_;
  int rank_;
  Task& task_;
  std::string folder_;
  core::Log& log_;
  std::optional<SnapshotWriter> snapshots_;
  std::optional<record::TensorBoardWriter> tensorboard_;
  std::optional<record::Timeline> timeline_;
  std::optional<Monitor> monitor_;
  std::int64_t traced_ = 0;  ///< epochs
};

}  // namespace sagips::run

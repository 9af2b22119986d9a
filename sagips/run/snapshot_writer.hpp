#pragma once
#include <functional>
#include <string>

#include "sagips/core/log.hpp"
#include "sagips/record/event.hpp"
#include "sagips/record/snapshots.hpp"

namespace sagips::run {

/// An observer that keeps the generators at the first evaluation of each part of a run, and those of
/// its end. A full disk costs the snapshot and is told; the run goes on.
class SnapshotWriter {
 public:
  /// over: epochs that are over, in a resumed run; part: that ends with an epoch; now: predictions and weights as they stand (epoch and time are set
  /// here)
  SnapshotWriter(std::string folder, std::int64_t over,
                 std::function<std::int64_t(std::int64_t epoch)> part,
                 std::function<record::Snapshot()> now, core::Log& log)
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
  std::function<record::Snapshot()> now_;
  core::Log& log_;
  std::int64_t last_epoch_ = -1;  ///< of the last one; -1: none yet
  std::int64_t last_part_;        ///< likewise
};

}  // namespace sagips::run

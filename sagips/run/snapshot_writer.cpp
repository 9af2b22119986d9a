#include "sagips/run/snapshot_writer.hpp"

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::run {

void SnapshotWriter::write(std::int64_t epoch, double time_s) {
  if (epoch == last_epoch_) return;
  last_epoch_ = epoch;
  last_part_ = part_(epoch);
  record::Snapshot snapshot = now_();
  snapshot.epoch = epoch;
  snapshot.time_s = time_s;
  try {
    record::write_snapshot(folder_, snapshot);
  } catch (const core::StorageError& error) {
    log_.warning(core::text("epoch ", epoch, ": no snapshot: ", error.what()));
  }
}

// The last evaluation comes before the end of the run, whatever ends it.
void SnapshotWriter::operator()(const record::Event& event) {
  if (const auto* evaluated = std::get_if<record::Evaluated>(&event)) {
    if (part_(evaluated->epoch) > last_part_) write(evaluated->epoch, evaluated->time_s);
  } else if (const auto* finished = std::get_if<record::RunFinished>(&event)) {
    if (finished->epochs > 0 && finished->complete) write(finished->epochs, finished->time_s);
  }
}

}  // namespace sagips::run

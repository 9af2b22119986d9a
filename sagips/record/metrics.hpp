#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sagips/record/event.hpp"

namespace sagips::record {

/// Writes each event as one JSON line: {"event": "epoch_done", "epoch": 1, ...}. NaN becomes null.
/// Flushed every second and at the end.
///
/// A run that goes on gives the length that the file had when its state was kept: what stands
/// behind is cut off, so that no epoch stands there twice.
///
/// Epochs are thinned where a picture shows no difference (`ThinnedEpochs`).
///
/// Metrics must not lose a run: when the disk is full, the first failed write throws, and from then
/// on the writer does nothing. So an owner that catches the error, warns and goes on hears of it
/// once; the file then ends early, perhaps within a line (`read_metrics` copes with that).
///
/// throws: StorageError
class MetricsWriter {
 public:
  /// keep_bytes: where to go on; 0: a new file
  explicit MetricsWriter(const std::string& path, double epoch_period_s = 0.25,
                         std::int64_t keep_bytes = 0);
  ~MetricsWriter();
  void operator()(const Event& event);
  std::int64_t bytes() const;  ///< of what has been written, a line that waits for its turn aside
  void flush();

 private:
  struct Output;
  std::unique_ptr<Output> output_;
};

/// What stands in a metrics file, read back (for figures and tests). A last line that was cut off
/// by a crash is left out. throws: DataError for a file or any other line that cannot be read
std::vector<Event> read_metrics(const std::string& path);

}  // namespace sagips::record

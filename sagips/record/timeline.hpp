#pragma once
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "sagips/core/file.hpp"
#include "sagips/core/tracer.hpp"

namespace sagips::record {

/// The one clock of a trace, that of rank 0's wall, as a rank finds it.
struct TraceClock {
  std::int64_t offset_ns = 0;       ///< it is this rank's steady clock and this
  std::int64_t uncertainty_ns = 0;  ///< of the offset against other ranks'
};

/// What one rank did when, as a piece of a trace for ui.perfetto.dev or chrome://tracing: one process a
/// rank, one row for each kind of work of a thread.
///
/// What is added stands in the file a second later at most, when the next span is added, so a process that
/// is killed leaves a piece that can be opened. From `most_spans` on, some 30 MB, the rest is counted and left out.
/// format: "Trace Event Format" of Chromium, array form, complete events ("ph": "X"), times in microseconds;
///         a closing bracket may be missing
class Timeline final : public core::Tracer {
 public:
  explicit Timeline(int rank, TraceClock clock = {}, std::size_t most_spans = 200'000);

  void add(const core::TracedSpan& span) noexcept override;
  /// Opens the file; what was added before goes there, too. start: of this process, as the trace marks it
  /// throws: StorageError
  void begin(const std::string& path, const std::string& start);
  /// Leaves out all spans from now on: the run goes on, the trace is long enough.
  void stop();
  /// Writes the rest and closes the file. throws: StorageError, also for what failed before
  void end();
  std::size_t left_out() const { return left_out_; }  ///< spans

 private:
  void write_out() noexcept;
  void append(std::string& text, const core::TracedSpan& span, int thread);
  const std::string& row_of(std::string& text, core::TraceRow row, int thread);

  int rank_;
  TraceClock clock_;
  std::size_t most_spans_;
  std::mutex mutex_;
  core::Descriptor file_;
  std::string path_, problem_;  ///< why it could not be written; empty: it could
  bool stopped_ = false;
  std::size_t spans_ = 0, left_out_ = 0;
  Clock::time_point written_ = Clock::now();
  std::map<std::thread::id, int> threads_;
  std::vector<std::string> rows_;                          ///< those whose names are in the file
  std::vector<std::pair<core::TracedSpan, int>> waiting_;  ///< to be written, with their threads
};

/// Joins what all ranks and starts of a run have left in its timeline/ in one trace. Lines that a killed
/// process has not finished are left out. Nothing is done where there is none, or the trace is newer.
/// throws: StorageError, DataError
void join_timeline(const std::string& run_folder);

}  // namespace sagips::record

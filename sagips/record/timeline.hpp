#pragma once
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "sagips/core/tracer.hpp"

namespace sagips::record {

/// What one rank did when, as a trace for ui.perfetto.dev or chrome://tracing: one row a thread, one
/// process a rank. Times are those of the wall clock, so that the ranks' files lie side by side.
///
/// Kept in memory until `write`; from `most_spans` on the rest is counted and left out.
/// format: "Trace Event Format" of Chromium, complete events ("ph": "X"), times in microseconds
class Timeline final : public core::Tracer {
 public:
  explicit Timeline(int rank, std::size_t most_spans = 1'000'000);

  void add(const char* name, Clock::time_point begin, Clock::time_point end) override;
  /// Leaves out all spans from now on: the run goes on, the trace is long enough.
  void stop();

  /// throws: StorageError
  void write(const std::string& path) const;

 private:
  struct Entry {
    const char* name;
    Clock::time_point begin, end;
    int thread;
  };
  int rank_;
  std::size_t most_spans_;
  Clock::time_point steady_start_ = Clock::now();
  std::chrono::system_clock::time_point wall_start_ = std::chrono::system_clock::now();
  mutable std::mutex mutex_;
  bool stopped_ = false;
  std::size_t left_out_ = 0;
  std::map<std::thread::id, int> threads_;
  std::vector<Entry> entries_;
};

}  // namespace sagips::record

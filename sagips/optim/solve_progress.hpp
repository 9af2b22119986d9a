#pragma once
#include <atomic>
#include <cstdint>
#include <limits>

namespace sagips::optim {

/// How far a solver has come: it writes, whoever shows it reads, from another thread.
struct SolveProgress {
  std::atomic<const char*> phase = "begins";  ///< a literal
  std::atomic<std::int64_t> evaluations = 0;  ///< of the pipeline at one parameter vector
  std::atomic<std::int64_t> calls = 0;        ///< of the pipelines, each at several of these
  std::atomic<std::int64_t> expected = 0;     ///< calls until the end, roughly; 0: not known
  std::atomic<double> score = std::numeric_limits<double>::quiet_NaN();  ///< the best so far

  /// The solver goes over to something else, and expects so many more calls.
  void begin(const char* what, std::int64_t further_calls) {
    phase = what;
    expected = calls + further_calls;
  }
  void called(std::int64_t points) {
    evaluations += points;
    ++calls;
  }
};

}  // namespace sagips::optim

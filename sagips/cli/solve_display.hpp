#pragma once
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "sagips/cli/live_lines.hpp"
#include "sagips/core/log.hpp"
#include "sagips/optim/solve_progress.hpp"

namespace sagips::cli {

/// Says how far a solver has come while it lives: one live line on a terminal, else a line of the log now
/// and then. What takes less than two seconds says nothing.
class SolveDisplay {
 public:
  /// Both outlive it. limit_s: time that the solver is given, infinite without one
  SolveDisplay(const optim::SolveProgress& progress, core::Log& log, double limit_s);
  ~SolveDisplay();
  SolveDisplay(const SolveDisplay&) = delete;
  SolveDisplay& operator=(const SolveDisplay&) = delete;

 private:
  void show();
  std::string line(double elapsed_s) const;

  const optim::SolveProgress& progress_;
  core::Log& log_;
  LiveLines lines_;
  double limit_s_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::mutex mutex_;
  std::condition_variable ends_;
  bool ended_ = false;
  std::thread thread_;  ///< last: it uses the others
};

}  // namespace sagips::cli

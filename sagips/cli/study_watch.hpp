#pragma once
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include "sagips/cli/commands.hpp"
#include "sagips/cli/interrupt.hpp"
#include "sagips/cli/live_lines.hpp"
#include "sagips/study/study_run.hpp"

namespace sagips::cli {

/// What a person sees of a study while it works, and the signals that may stop it.
class StudyWatch {
 public:
  /// log: outlives it. noun: "trainings"
  StudyWatch(const Arguments& arguments, core::Log& log, std::string noun);

  /// As the command line asks for it; children run this program.
  study::StudyOptions options();
  LiveLines& lines() { return lines_; }

 private:
  void show(const study::StudyProgress& progress);

  const Arguments& arguments_;
  std::string noun_;
  LiveLines lines_;
  std::optional<InterruptGuard> interrupt_;
  std::optional<CheckpointSignal> checkpoint_;
  std::optional<std::size_t> done_at_start_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

/// Prints what a study found and where, on the first rank. Returns its exit code.
core::ExitCode show(const study::StudyEnd& ended, const Arguments& arguments);

}  // namespace sagips::cli

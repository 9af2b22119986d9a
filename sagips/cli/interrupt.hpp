#pragma once
#include "sagips/run/requests.hpp"

namespace sagips::cli {

/// From now on Ctrl-C, SIGTERM and SIGHUP end the program as they do anyway, but leave nothing that was being
/// written beside its place. Signals that are ignored stay so.
void leave_no_unfinished_files();

/// While it lives, Ctrl-C and SIGTERM set a flag instead of ending the program; one more, over a
/// second later, ends it.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  static bool requested();
  static double seconds_ago();  ///< since it was; 0: it was not

 private:
  using Handler = void (*)(int);
  Handler on_interrupt_ = nullptr, on_terminate_ = nullptr;  ///< before
};

/// While it lives, SIGUSR1 asks for a checkpoint instead of ending the program.
class CheckpointSignal {
 public:
  CheckpointSignal();
  ~CheckpointSignal();
  CheckpointSignal(const CheckpointSignal&) = delete;
  CheckpointSignal& operator=(const CheckpointSignal&) = delete;

  /// True once for each time that it was asked for.
  static bool take();
};

/// What these two guards have been told, for whoever computes.
run::Requests requests();

}  // namespace sagips::cli

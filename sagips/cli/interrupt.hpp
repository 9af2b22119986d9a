#pragma once

namespace sagips::cli {

/// While it lives, Ctrl-C and SIGTERM set a flag instead of ending the program; a second one ends
/// it.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  static bool requested();
};

}  // namespace sagips::cli

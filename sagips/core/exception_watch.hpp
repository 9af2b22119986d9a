#pragma once
#include <atomic>

namespace sagips::core {

/// A program that is Python throws on there what its functions have raised; null: this one is not.
inline std::atomic<void (*)()> exception_watch = nullptr;

/// Called in a handler that goes on without what has failed, or makes another exception of it: what a
/// function of the user has raised is thrown on as it is.
inline void pass_on_raised() {
  if (void (*const look)() = exception_watch) look();
}

}  // namespace sagips::core

#pragma once
#include <atomic>

namespace sagips::core {

/// Called in a handler, of an exception from elsewhere that is about to become one of SAGIPS; null: nobody. A program
/// that is Python keeps there what its functions have raised.
inline std::atomic<void (*)()> exception_watch = nullptr;

inline void look_at_exception() {
  if (void (*const look)() = exception_watch) look();
}

}  // namespace sagips::core

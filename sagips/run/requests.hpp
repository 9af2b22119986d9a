#pragma once
#include <functional>

namespace sagips::run {

/// What somebody outside asks of a computation while it runs. Each is called often, by one thread.
struct Requests {
  std::function<bool()> stop = [] { return false; };
  /// Since it was asked to stop; 0: it was not.
  std::function<double()> stop_age_s = [] { return 0.0; };
  /// True once for each time it is asked for.
  std::function<bool()> checkpoint = [] { return false; };
  /// Called once, when all is read and the work begins: until then a process that ends loses nothing.
  std::function<void()> begun = [] {};
};

}  // namespace sagips::run

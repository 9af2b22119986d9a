#pragma once
#include <chrono>
#include <exception>
#include <functional>

namespace sagips::core {

/// What a thread has to do now and then while it computes, until the end of the scope: other ranks want
/// answers. Whoever computes for long calls `poll` between its pieces.
///
/// It takes a twentieth of the thread's time: after each time it rests for twenty times as long, but for
/// 0.1 s at most, since others wait for answers.
class PollScope {
 public:
  /// poll: outlives the scope; empty: there is nothing to do
  explicit PollScope(const std::function<void()>& poll);
  ~PollScope();
  PollScope(const PollScope&) = delete;
  PollScope& operator=(const PollScope&) = delete;
  /// What it threw within a computation, now that this may be left; after that it is not called any more.
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  friend void poll() noexcept;

  const std::function<void()>& poll_;
  PollScope* outer_;
  std::exception_ptr error_;
};

/// Does what this thread's scope says; without one, or before it is time again, nothing. Throws nothing,
/// since libraries that call back are not to be left by an exception.
void poll() noexcept;
/// How long it rests after a poll that took so long.
constexpr std::chrono::nanoseconds rest_after(std::chrono::nanoseconds poll) {
  constexpr std::chrono::nanoseconds longest = std::chrono::milliseconds(100);
  return poll < longest / 20 ? 20 * poll : longest;
}
/// Whether there is such a scope.
bool is_polled() noexcept;

}  // namespace sagips::core

#include "sagips/core/poll.hpp"

#include <chrono>
#include <utility>

namespace sagips::core {

namespace {

using Clock = std::chrono::steady_clock;

thread_local PollScope* innermost = nullptr;
thread_local Clock::time_point next{};  // also of the next scope: steps may be shorter than a rest

}  // namespace

PollScope::PollScope(const std::function<void()>& poll)
    : poll_(poll), outer_(std::exchange(innermost, poll ? this : nullptr)) {}

PollScope::~PollScope() { innermost = outer_; }

void poll() noexcept {
  PollScope* const scope = innermost;
  if (scope == nullptr || scope->error_) return;
  const auto begun = Clock::now();
  if (begun < next) return;
  try {
    scope->poll_();
  } catch (...) {
    scope->error_ = std::current_exception();
  }
  const auto ended = Clock::now();
  next = ended + rest_after(ended - begun);
}

bool is_polled() noexcept { return innermost != nullptr; }

}  // namespace sagips::core

#include "sagips/cli/interrupt.hpp"

#include <atomic>
#include <csignal>
#include <cstdint>
#include <ctime>

namespace sagips::cli {

namespace {

// A signal handler reaches nothing but a file-scope flag.
volatile std::sig_atomic_t stop_requested = 0;
volatile std::sig_atomic_t checkpoint_requested = 0;

std::atomic<std::int64_t> requested_at_ns = 0;
int guards = 0, listeners = 0;  // alive, one inside the other; on the main thread

std::int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);  // may be called in a signal handler
  return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
}

constexpr std::int64_t impatience_ns = 1'000'000'000;

// `timeout` and launchers send a signal to the process and to its group, so it comes twice at once;
// somebody who asks again later means it.
void request_stop(int signal) {
  if (stop_requested == 0) {
    requested_at_ns = now_ns();
    stop_requested = 1;
  } else if (now_ns() - requested_at_ns > impatience_ns) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
}

void request_checkpoint(int) { checkpoint_requested = 1; }

}  // namespace

InterruptGuard::InterruptGuard() {
  if (guards++ > 0) return;  // a study's guard covers the trainings inside it
  stop_requested = 0;
  std::signal(SIGINT, request_stop);
  std::signal(SIGTERM, request_stop);
}

// After a request the handlers stay: the program is on its way out, and a second signal must not cut that short.
InterruptGuard::~InterruptGuard() {
  if (--guards > 0 || requested()) return;
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

bool InterruptGuard::requested() { return stop_requested != 0; }

double InterruptGuard::seconds_ago() {
  return requested() ? static_cast<double>(now_ns() - requested_at_ns) * 1e-9 : 0;
}

CheckpointSignal::CheckpointSignal() {
  if (listeners++ > 0) return;
  checkpoint_requested = 0;
  std::signal(SIGUSR1, request_checkpoint);
}

// One that is on its way may still come: the default action would end the program.
CheckpointSignal::~CheckpointSignal() {
  if (--listeners == 0) std::signal(SIGUSR1, SIG_IGN);
}

bool CheckpointSignal::take() {
  if (checkpoint_requested == 0) return false;
  checkpoint_requested = 0;
  return true;
}

run::Requests requests() {
  return {InterruptGuard::requested, InterruptGuard::seconds_ago, CheckpointSignal::take};
}

}  // namespace sagips::cli

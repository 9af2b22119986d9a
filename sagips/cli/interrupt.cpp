#include "sagips/cli/interrupt.hpp"

#include <atomic>
#include <csignal>
#include <cstdint>
#include <ctime>

#include "sagips/core/file.hpp"

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

// The signal is delivered again, and ends the program, once this returns.
void end_program(int signal) {
  core::remove_unfinished_files();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

// `timeout` and launchers send a signal to the process and to its group, so it comes twice at once;
// somebody who asks again later means it.
void request_stop(int signal) {
  if (stop_requested == 0) {
    requested_at_ns = now_ns();
    stop_requested = 1;
  } else if (now_ns() - requested_at_ns > impatience_ns) {
    end_program(signal);
  }
}

void request_checkpoint(int) { checkpoint_requested = 1; }

}  // namespace

void leave_no_unfinished_files() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP})
    if (std::signal(signal, end_program) == SIG_IGN) std::signal(signal, SIG_IGN);  // nohup
}

InterruptGuard::InterruptGuard() {
  if (guards++ > 0) return;  // a study's guard covers the trainings inside it
  stop_requested = 0;
  on_interrupt_ = std::signal(SIGINT, request_stop);
  on_terminate_ = std::signal(SIGTERM, request_stop);
}

// After a request the handlers stay: the program is on its way out, and a second signal must not cut that short.
InterruptGuard::~InterruptGuard() {
  if (--guards > 0 || requested()) return;
  std::signal(SIGINT, on_interrupt_);
  std::signal(SIGTERM, on_terminate_);
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

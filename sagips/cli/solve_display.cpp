#include "sagips/cli/solve_display.hpp"

#include <algorithm>
#include <cmath>

#include "sagips/core/text.hpp"

namespace sagips::cli {

namespace {

constexpr double silence_s = 2, live_period_s = 0.5, plain_period_s = 10;

}  // namespace

SolveDisplay::SolveDisplay(const optim::SolveProgress& progress, core::Log& log, double limit_s)
    : progress_(progress), log_(log), lines_(log), limit_s_(limit_s), thread_([this] { show(); }) {}

SolveDisplay::~SolveDisplay() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  ends_.notify_all();
  thread_.join();
}

void SolveDisplay::show() {
  std::unique_lock lock(mutex_);
  for (double next_s = silence_s;; next_s += lines_.are_live() ? live_period_s : plain_period_s) {
    const auto when = began_ + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                   std::chrono::duration<double>(next_s));
    if (ends_.wait_until(lock, when, [this] { return ended_; })) break;
    if (lines_.are_live())
      lines_.show(line(next_s));
    else
      log_.info(line(next_s));
  }
}

std::string SolveDisplay::line(double elapsed_s) const {
  const std::int64_t calls = progress_.calls, expected = progress_.expected;
  const double score = progress_.score;
  double left_s = limit_s_ - elapsed_s;
  if (calls > 0 && expected > calls)
    left_s = std::min(
        left_s, elapsed_s * static_cast<double>(expected - calls) / static_cast<double>(calls));
  std::string line = progress_.phase.load();
  if (const std::int64_t count = progress_.evaluations; count > 0)
    line += core::text(": ", core::with_thousands(count), " evaluations");
  line += " in " + core::duration(elapsed_s);
  if (std::isfinite(score)) line += ", score " + core::significant(score, 4);
  if (std::isfinite(left_s) && left_s > 0)
    line += core::text(", about ", core::duration(left_s), " left");
  return line;
}

}  // namespace sagips::cli

#include "sagips/train/phase_clock.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace sagips::train {

namespace {

using record::TimeSplit;

double seconds(PhaseClock::Clock::duration time) {
  return std::chrono::duration<double>(time).count();
}

core::TraceRow row_of(PhaseClock::Part part) {
  using core::TraceRow;
  return part == &TimeSplit::compute_s    ? TraceRow::compute
         : part == &TimeSplit::exchange_s ? TraceRow::exchange
         : part == &TimeSplit::update_s   ? TraceRow::update
         : part == &TimeSplit::loading_s  ? TraceRow::loading
                                          : TraceRow::step;
}

}  // namespace

PhaseClock::Clock::time_point PhaseClock::change(Part to) {
  const Clock::time_point now = Clock::now();
  // with a name, since GCC 12 adds to a copy of (a ? b : c).*member
  TimeSplit& split = running_ == &TimeSplit::evaluation_s ? split_ : step_;
  split.*running_ += seconds(now - last_);
  last_ = now;
  running_ = to;
  return now;
}

void PhaseClock::begin_step() {
  change(&TimeSplit::other_s);
  step_ = {};
}

// Of a step that was left nothing stays.
void PhaseClock::note_beside() {
  change(&TimeSplit::evaluation_s);
  step_ = {};
}

double PhaseClock::end_step(bool of_first_epoch) {
  const double took_s = end_wait();
  (of_first_epoch ? first_epoch_ : later_).add(took_s);
  return took_s;
}

double PhaseClock::end_wait() {
  change(&TimeSplit::evaluation_s);
  for (const record::TimePart& part : record::time_parts)
    if (part.seconds != &TimeSplit::total_s) step_.total_s += step_.*part.seconds;
  for (const record::TimePart& part : record::time_parts)
    split_.*part.seconds += step_.*part.seconds;
  const double took_s = step_.total_s;
  step_ = {};
  return took_s;
}

// source: B. P. Welford, "Note on a method for calculating corrected sums of squares and products",
// Technometrics 4 (1962) 419
void PhaseClock::Steps::add(double s) {
  const double away = s - mean;
  mean += away / ++count;
  squares += away * (s - mean);
  maximum = std::max(maximum, s);
}

record::StepTimes PhaseClock::steps() const {
  const Steps& shown = later_.count > 0 ? later_ : first_epoch_;
  return {.count = static_cast<std::int64_t>(shown.count),
          .mean_s = shown.mean,
          .spread_s = shown.count > 1 ? std::sqrt(shown.squares / (shown.count - 1)) : 0,
          .maximum_s = shown.maximum,
          .first_epoch_s = first_epoch_.count * first_epoch_.mean};
}

std::vector<double> PhaseClock::numbers() const {
  std::vector<double> all;
  for (const record::TimePart& part : record::time_parts) all.push_back(split_.*part.seconds);
  for (const Steps* steps : {&first_epoch_, &later_})
    all.insert(all.end(), {steps->count, steps->mean, steps->squares, steps->maximum});
  return all;
}

void PhaseClock::take(const std::vector<double>& numbers) {
  auto next = numbers.begin();
  const auto taken = [&] { return next != numbers.end() ? *next++ : 0; };
  for (const record::TimePart& part : record::time_parts) split_.*part.seconds = taken();
  for (Steps* steps : {&first_epoch_, &later_})
    *steps = {.count = taken(), .mean = taken(), .squares = taken(), .maximum = taken()};
}

PhaseClock::Scope::Scope(PhaseClock& clock, Part part, const char* name, std::int64_t step,
                         const char* network)
    : clock_(&clock),
      outer_(clock.running_),
      span_{.name = name, .row = row_of(part), .network = network, .step = step} {
  if (part == &TimeSplit::exchange_s && name != nullptr && clock.waited_s_)
    waited_s_ = clock.waited_s_();
  const bool is_beside = outer_ == &TimeSplit::evaluation_s;  // an exchange that a state waits for
  span_.begin = clock.change(is_beside ? outer_ : part);
}

void PhaseClock::Scope::end() {
  if (clock_ == nullptr) return;
  PhaseClock& clock = *std::exchange(clock_, nullptr);
  const bool may_wait = clock.running_ == &TimeSplit::exchange_s && clock.waited_s_;
  span_.end = clock.change(outer_);
  if (span_.name == nullptr) return;
  if (clock.tracer_ != nullptr) clock.tracer_->add(span_);
  if (may_wait) clock.note_waiting(span_, clock.waited_s_() - waited_s_);
}

// Who waits does so at the beginning of a call: nothing can be done before the others are there.
void PhaseClock::note_waiting(core::TracedSpan call, double waited_s) {
  const Clock::duration waited = std::min(
      call.end - call.begin,
      std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(waited_s)));
  if (waited <= Clock::duration::zero()) return;
  step_.exchange_s -= seconds(waited);
  step_.idle_s += seconds(waited);
  call.name = "waiting for ranks";
  call.end = call.begin + waited;
  if (tracer_ != nullptr) tracer_->add(call);
}

}  // namespace sagips::train

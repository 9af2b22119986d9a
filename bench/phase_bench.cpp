// What watching a training costs, by itself: the readings of the clock that a GAN's step on several ranks makes, a span
// of a trace, written, and a look of the monitor. Prints nanoseconds as JSON.
#include <algorithm>
#include <iostream>
#include <limits>

#include "sagips/record/timeline.hpp"
#include "sagips/run/monitor.hpp"
#include "sagips/train/phase_clock.hpp"

namespace {

using sagips::record::TimeSplit;
using sagips::train::PhaseClock;

void take_step(PhaseClock& clock) {
  clock.begin_step();
  {
    const PhaseClock::Scope whole(clock, &TimeSplit::other_s, "step", 1);
    { const PhaseClock::Scope drawing(clock, &TimeSplit::loading_s, "draw", 1); }
    for (const char* network : {"generator", "discriminator"}) {
      { const PhaseClock::Scope computing(clock, &TimeSplit::compute_s, "gradients", 1); }
      { const PhaseClock::Scope call(clock, &TimeSplit::exchange_s, "exchange start", 1, network); }
      {
        const PhaseClock::Scope call(clock, &TimeSplit::exchange_s, "exchange finish", 1, network);
      }
      const PhaseClock::Scope updating(clock, &TimeSplit::update_s, "update", 1, network);
      const PhaseClock::Scope call(clock, &TimeSplit::exchange_s, "exchange of weights", 1,
                                   network);
    }
    const PhaseClock::Scope freeing(clock, &TimeSplit::loading_s, nullptr);
  }
  clock.end_step(false);
}

void add_span(sagips::record::Timeline& timeline) {
  const auto begin = PhaseClock::Clock::now();
  timeline.add({.name = "exchange start",
                .row = sagips::core::TraceRow::exchange,
                .begin = begin,
                .end = PhaseClock::Clock::now(),
                .network = "generator",
                .step = 1});
}

/// Nanoseconds of one call, the least of several measurements.
template <class Work>
double nanoseconds(int calls, const Work& work) {
  constexpr int measurements = 20;
  double least_ns = std::numeric_limits<double>::max();
  for (int i = 0; i < measurements; ++i) {
    const auto start = PhaseClock::Clock::now();
    for (int call = 0; call < calls; ++call) work();
    const std::chrono::duration<double, std::nano> took = PhaseClock::Clock::now() - start;
    least_ns = std::min(least_ns, took.count() / calls);
  }
  return least_ns;
}

}  // namespace

// file: of the trace
int main(int count, char** words) {
  if (count != 2) return 2;
  PhaseClock clock(nullptr, [] { return 0.0; });
  sagips::record::Timeline timeline(0, {}, std::numeric_limits<std::size_t>::max());
  timeline.begin(words[1], "begins");
  sagips::run::Monitor monitor;
  std::cout << "{\"step_ns\": " << nanoseconds(2000, [&] { take_step(clock); })
            << ", \"span_ns\": " << nanoseconds(20000, [&] { add_span(timeline); })
            << ", \"look_ns\": " << nanoseconds(50, [&] { monitor.since_last(0); }) << "}\n";
}

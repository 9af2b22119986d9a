#pragma once
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "sagips/core/tracer.hpp"
#include "sagips/record/event.hpp"

namespace sagips::train {

/// Splits a rank's time into the parts of `record::TimeSplit`. The clock is read once where one part ends
/// and the next begins, so nothing falls between them: the parts of a step add up to its time.
class PhaseClock {
 public:
  using Clock = core::Tracer::Clock;
  using Part = double record::TimeSplit::*;

  /// tracer: is told of named parts; nullptr: nobody. waited_s: how long this rank has waited for others in
  /// the exchange's calls so far [s]; empty: it never does
  PhaseClock(core::Tracer* tracer, std::function<double()> waited_s)
      : tracer_(tracer), waited_s_(std::move(waited_s)) {}

  void begin_step();
  /// Adds the step that is running. returns: how long it took [s]
  double end_step(bool of_first_epoch);
  /// The same of training time that is no step.
  double end_wait();
  /// What has passed since the last step is beside the training.
  void note_beside();

  /// Of the steps that are over.
  const record::TimeSplit& split() const { return split_; }
  record::StepTimes steps() const;
  /// For the state of a run: the numbers of both, in the order of files.
  std::vector<double> numbers() const;
  /// Empty: a state of before they were measured.
  void take(const std::vector<double>& numbers);

  /// A part of the step that is running, until the end of the scope; then the one around it goes on. Between
  /// steps everything is beside the training.
  class Scope {
   public:
    /// name: for the trace; nullptr: not shown there
    Scope(PhaseClock& clock, Part part, const char* name, std::int64_t step = 0,
          const char* network = nullptr);
    ~Scope() { end(); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    void end();

   private:
    PhaseClock* clock_;
    Part outer_;
    core::TracedSpan span_;
    double waited_s_ = 0;  ///< before
  };

 private:
  /// How long steps took: Welford's sums.
  struct Steps {
    double count = 0, mean = 0, squares = 0, maximum = 0;
    void add(double s);
  };
  Clock::time_point change(Part to);
  void note_waiting(core::TracedSpan call, double waited_s);

  core::Tracer* tracer_;
  std::function<double()> waited_s_;
  Clock::time_point last_ = Clock::now();
  Part running_ = &record::TimeSplit::evaluation_s;
  record::TimeSplit step_, split_;  ///< of the step that is running; of those that are over
  Steps first_epoch_, later_;
};

}  // namespace sagips::train

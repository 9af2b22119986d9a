#pragma once
#include <chrono>
#include <cstdint>
#include <map>
#include <string>

#include "sagips/data/torch.hpp"
#include "sagips/env/events.hpp"

namespace sagips::env {

/// What a stage from outside gives, by name:
///   values   [samples, ...]     the stage's output; what follows belongs to events, and then these
///                               are [samples, rows, observables]
///   counts   [samples]          only the first so many rows of a sample exist; `rows` may be fewer
///                               than the events that were asked for
///   mask     [samples, rows]    0 where the detector lost the event
///   weights  [samples, rows]    at least 0
using OutsideArrays = std::map<std::string, torch::Tensor>;

/// Counts what a stage takes on the CPU where events are on a GPU: its work, copies, and the wait for the GPU.
class CpuTime {
 public:
  explicit CpuTime(const torch::Tensor& events);
  ~CpuTime();
  CpuTime(const CpuTime&) = delete;
  CpuTime& operator=(const CpuTime&) = delete;
  static double total_s();  ///< of all in this process

 private:
  bool counts_;
  std::chrono::steady_clock::time_point start_;
};

/// Makes as many rows as events were asked for, so that later stages find one for each of their
/// random numbers, and a mask of what does not exist: rows beyond `counts`, and where
/// `nan_is_lost` rows with a number that is not finite.
/// throws: ShapeError that names the stage
void fill_up(const std::string& stage, OutsideArrays& arrays, std::int64_t events,
             bool nan_is_lost);

/// Events behind the stage: its values, masks joined, weights multiplied.
/// throws: ShapeError that names the stage
Events events_behind(const std::string& stage, Events before, const OutsideArrays& arrays);

}  // namespace sagips::env

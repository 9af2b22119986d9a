#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sagips/core/config/config.hpp"

namespace sagips::simulate {

/// What a rank does in an epoch beside its messages, in simulated time.
struct ScenarioConfig {
  /// When an exchange is under way.
  enum class Overlap {
    none,             ///< begun and completed after the computation
    one_update_late,  ///< begun after an epoch's computation, completed after that of the next one
  };
  double compute_s = 0;  ///< mean computation of an epoch
  double jitter = 0;     ///< its spread from epoch to epoch, as a share of the mean; log-normal
  std::vector<double> sample;    ///< measured computation times; drawn from instead, in seconds
  std::int64_t straggler = -1;   ///< a rank that is slower; -1: none
  double slowdown = 5;           ///< of the straggler
  std::int64_t pause_every = 0;  ///< epochs between checkpoints of all ranks; 0: none
  double pause_s = 0;            ///< what a checkpoint takes
  /// Events that go to the GPU in each epoch, at the rate of its copies.
  std::int64_t data_bytes = 0;
  Overlap overlap = Overlap::none;
  std::int64_t polls = 32;  ///< pieces of an epoch's computation; exchanges move between them
  std::int64_t seed = 1;

  void fields(core::FieldList& list);
};

/// How long a rank computes in an epoch, in seconds; the same for the same scenario, rank and epoch.
double compute_time(const ScenarioConfig& scenario, int rank, std::int64_t epoch);

}  // namespace sagips::simulate

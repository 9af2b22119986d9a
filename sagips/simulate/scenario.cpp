#include "sagips/simulate/scenario.hpp"

#include <cmath>
#include <numbers>
#include <span>

#include "sagips/core/random.hpp"

namespace sagips::simulate {
namespace {

using core::Range;

/// The same words for times that are drawn and times that are picked: a scenario does only one.
core::RandomStream stream_of(const ScenarioConfig& scenario, std::int64_t epoch) {
  return {static_cast<std::uint64_t>(scenario.seed), "simulated computation",
          static_cast<std::uint32_t>(epoch)};
}

// source: Box and Muller, Ann. Math. Stat. 29 (1958) 610
double normal_number(const core::RandomStream& stream, std::uint32_t rank) {
  double uniform[2];
  stream.uniform(rank, 0, std::span<double>(uniform));
  return std::sqrt(-2 * std::log(uniform[0])) * std::cos(2 * std::numbers::pi * uniform[1]);
}

// exp(mu + sigma x) has the mean exp(mu + sigma^2 / 2) and the relative variance exp(sigma^2) - 1.
double log_normal(double mean, double spread, double normal) {
  const double variance = std::log1p(spread * spread);
  return mean * std::exp(std::sqrt(variance) * normal - variance / 2);
}

}  // namespace

void ScenarioConfig::fields(core::FieldList& list) {
  list.add("compute_s", compute_s, "mean computation of an epoch, in seconds", Range::at_least(0));
  list.add("jitter", jitter,
           "standard deviation of an epoch's computation over its mean; log-normal",
           Range::at_least(0));
  list.add("sample", sample,
           "measured computation times of epochs, in seconds; drawn from instead of compute_s and "
           "jitter",
           Range::at_least(0));
  list.add("straggler", straggler, "a rank that is slower; -1: none", Range::at_least(-1));
  list.add("slowdown", slowdown, "the straggler's computation over that of others",
           Range::at_least(1));
  list.add("pause_every", pause_every, "epochs between checkpoints of all ranks; 0: none",
           Range::at_least(0));
  list.add("pause_s", pause_s, "what a checkpoint takes, in seconds", Range::at_least(0));
  list.add(
      "data_bytes", data_bytes,
      "bytes of events that go to the GPU in each epoch, at the rate of the platform's gpu_copy",
      Range::at_least(0));
  list.choice("overlap", overlap,
              {{"none", Overlap::none}, {"one_update_late", Overlap::one_update_late}},
              "none: the exchange follows the computation; one_update_late: it goes on during the "
              "next epoch's");
  list.add("polls", polls, "pieces of an epoch's computation; exchanges move between them",
           Range::at_least(1));
  list.add("seed", seed, "of computation times");
}

double compute_time(const ScenarioConfig& scenario, int rank, std::int64_t epoch) {
  const core::RandomStream stream = stream_of(scenario, epoch);
  const auto name = static_cast<std::uint32_t>(rank);
  double seconds = scenario.compute_s;
  if (!scenario.sample.empty()) {
    std::int64_t row = 0;
    stream.integers(name, 0, scenario.sample.size(), std::span<std::int64_t>(&row, 1));
    seconds = scenario.sample[static_cast<std::size_t>(row)];
  } else if (scenario.jitter > 0) {
    seconds = log_normal(seconds, scenario.jitter, normal_number(stream, name));
  }
  return rank == scenario.straggler ? seconds * scenario.slowdown : seconds;
}

}  // namespace sagips::simulate

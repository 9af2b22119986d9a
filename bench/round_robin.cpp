#include "bench/round_robin.hpp"

#include <algorithm>

#include "bench/measuring.hpp"
#include "bench/plain_mpi.hpp"
#include "bench/seat.hpp"

namespace sagips::bench {

namespace {

double since(std::int64_t start_ns) {
  return static_cast<double>(comm::now_ns() - start_ns) * 1e-9;
}

// Enough calls in a row for the clock and the start not to count, in whole periods.
std::int64_t calls_in_a_row(const Candidate& candidate, std::size_t floats) {
  const auto wanted = std::clamp<std::int64_t>(
      static_cast<std::int64_t>((1U << 20U) / std::max<std::size_t>(floats, 1)), 2, 16);
  const std::int64_t period = candidate.period();
  return (wanted + period - 1) / period * period;
}

/// What this rank has clocked for one candidate.
struct Log {
  std::vector<double> calls_s, insides_s, loops_s;
};

void one_round(Candidate& candidate, std::size_t floats, Log& log) {
  for (std::int64_t k = 0; k < candidate.period(); ++k) {
    const double inside_before = candidate.inside_s();
    mpi_barrier();
    const std::int64_t start = comm::now_ns();
    candidate.call();
    const double call = since(start);
    log.calls_s.push_back(call);
    log.insides_s.push_back(inside_before < 0 ? call : candidate.inside_s() - inside_before);
  }
  const std::int64_t row = calls_in_a_row(candidate, floats);
  mpi_barrier();
  const std::int64_t start = comm::now_ns();
  for (std::int64_t k = 0; k < row; ++k) candidate.call();
  log.loops_s.push_back(since(start) / static_cast<double>(row));
}

// The slowest rank of each entry; entries of a period are averaged; the median of what remains.
double digest(comm::Communicator& communicator, const std::vector<double>& mine,
              std::int64_t period) {
  const std::vector<double> all = gather(communicator, mine);
  std::vector<double> slowest(mine.size(), 0), means;
  for (std::size_t i = 0; i < all.size(); ++i)
    slowest[i % mine.size()] = std::max(slowest[i % mine.size()], all[i]);
  const auto step = static_cast<std::size_t>(period);
  for (std::size_t first = 0; first + step <= slowest.size(); first += step) {
    double sum = 0;
    for (std::size_t i = first; i < first + step; ++i) sum += slowest[i];
    means.push_back(sum / static_cast<double>(period));
  }
  return median(std::move(means));
}

// Its own arrays back into the cache; some alternate between two. A whole number of periods.
void warm_up(Candidate& candidate) {
  const std::int64_t calls = std::max<std::int64_t>(candidate.period(), 2);
  for (std::int64_t k = 0; k < calls; ++k) candidate.call();
}

// Whole rounds, alternating; how many there were.
std::int64_t run_rounds(comm::Communicator& communicator,
                        const std::vector<std::unique_ptr<Candidate>>& candidates,
                        std::size_t floats, const RoundLimits& limits, std::vector<Log>& logs) {
  constexpr std::int64_t at_least = 3;
  const std::int64_t start = comm::now_ns();
  std::int64_t rounds = 0;
  for (bool more = true; more; ++rounds) {
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      warm_up(*candidates[i]);
      one_round(*candidates[i], floats, logs[i]);
    }
    const bool time_left = agree(communicator, since(start)) < limits.seconds;
    more = rounds + 1 < at_least || (rounds + 1 < limits.rounds && time_left);
  }
  return rounds;
}

}  // namespace

std::vector<Times> measure(comm::Communicator& communicator,
                           const std::vector<std::string>& exchanges, std::size_t floats,
                           const RoundLimits& limits) {
  const auto candidates = make_candidates(communicator, exchanges, floats);
  std::vector<Log> forgotten(candidates.size()), logs(candidates.size());
  run_rounds(communicator, candidates, floats, {.rounds = 1, .seconds = 0}, forgotten);
  const std::int64_t rounds = run_rounds(communicator, candidates, floats, limits, logs);
  std::vector<Times> times;
  for (std::size_t i = 0; i < candidates.size(); ++i)
    times.push_back({.name = candidates[i]->name(),
                     .promise = candidates[i]->promise(),
                     .floats = floats,
                     .rounds = rounds,
                     .call_s = digest(communicator, logs[i].calls_s, candidates[i]->period()),
                     .loop_s = digest(communicator, logs[i].loops_s, 1),
                     .inside_s = digest(communicator, logs[i].insides_s, candidates[i]->period())});
  mpi_barrier();  // nobody's memory goes while others look
  return times;
}

}  // namespace sagips::bench

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "bench/measuring.hpp"
#include "sagips/comm/exchange_driver.hpp"
#include "sagips/comm/exchanges.hpp"
#include "sagips/comm/mpi_communicator.hpp"
#include "sagips/comm/ranks.hpp"
#include "sagips/core/text.hpp"

// Workers and central weights: `mpirun -n N served_bench` prints a line of JSON with the updates a second and
// the time that a worker spends in a step's exchange. bench/served_bench.py compares.

namespace {

using namespace sagips;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

comm::ExchangesConfig config_of(const bench::Options& options) {
  comm::ExchangesConfig config;
  config.served.owners =
      options.text("owners") == "master" ? comm::Served::Owners::master : comm::Served::Owners::all;
  return config;
}

// A worker works for so long, in pieces between which the exchange is polled, and sleeps so that more ranks
// than processors do not slow each other down.
void compute(double seconds, comm::ExchangeDriver& driver) {
  constexpr int pieces = 20;
  for (int k = 0; k < pieces && seconds > 0; ++k) {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds / pieces));
    driver.progress();
  }
}

void run(comm::Communicator& communicator, const bench::Options& options) {
  comm::Ranks ranks(communicator);
  const auto floats = static_cast<std::size_t>(options.number("floats"));
  const auto steps = static_cast<std::int64_t>(options.number("steps"));
  const bool is_slow = communicator.rank() == communicator.size() - 1 && options.number("slow") > 1;
  double work_s = options.number("work_ms") * 1e-3;
  if (is_slow) work_s *= options.number("slow");

  comm::Site site = ranks.site(floats, 1);
  site.update = [](std::span<float> weights) {
    return [=](std::span<const float> gradients, double) {
      for (std::size_t k = 0; k < weights.size(); ++k) weights[k] -= 1e-3F * gradients[k];
    };
  };
  comm::ExchangeDriver driver(comm::make_exchange("served", config_of(options), site), site, 0,
                              "bench");
  std::vector<float> weights(floats, 1.0F), gradients(floats, 1e-3F);
  const bool computes = driver.exchange().central_weights()->computes();
  const auto own_steps =
      is_slow ? static_cast<std::int64_t>(static_cast<double>(steps) / options.number("slow"))
              : steps;
  ranks.gather(0);
  const auto start = Clock::now();
  double exchange_s = 0;
  for (std::int64_t step = 1; step <= (computes ? own_steps : steps); ++step) {
    if (!computes) {
      driver.serve({weights, gradients}, {step});
      continue;
    }
    compute(work_s, driver);
    const auto entered = Clock::now();
    driver.start({weights, gradients}, {step});
    driver.finish();
    driver.after_update({weights, gradients}, {step});
    exchange_s += seconds_since(entered);
  }
  const double own_s = seconds_since(start);
  driver.close();
  const double whole_s = seconds_since(start);

  struct Row {
    double computes, steps, own_s, exchange_s;
  } mine{computes ? 1.0 : 0.0, static_cast<double>(own_steps), own_s,
         exchange_s / static_cast<double>(own_steps)};
  std::vector<Row> rows(static_cast<std::size_t>(ranks.size()));
  communicator.all_gather(std::as_bytes(std::span(&mine, 1)),
                          std::as_writable_bytes(std::span(rows)));
  if (!ranks.is_first()) return;
  double updates = 0, slowest_exchange_s = 0, rate = 0;
  for (const Row& row : rows) {
    if (row.computes == 0) continue;
    updates += row.steps;
    slowest_exchange_s = std::max(slowest_exchange_s, row.exchange_s);
    if (rate == 0)
      rate = row.steps / row.own_s;  // of the first worker, which is never the slow one
  }
  std::printf("{\"updates_a_second\": %.6g, \"exchange_ms\": %.6g, \"steps_a_second\": %.6g}\n",
              updates / whole_s, slowest_exchange_s * 1e3, rate);
}

}  // namespace

int main(int argc, char** argv) {
  const auto communicator = comm::make_mpi_communicator();
  try {
    run(*communicator, bench::Options({{"owners", "all"},
                                       {"floats", "600810"},
                                       {"steps", "100"},
                                       {"work_ms", "0"},
                                       {"slow", "1"}},
                                      argc, argv));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "served_bench: %s\n", error.what());
    communicator->abort(1);
  }
}

#include "sagips/nn/device.hpp"

#include <ATen/Parallel.h>
#include <torch/types.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <future>
#include <thread>

#include "sagips/core/error.hpp"
#include "sagips/core/processors.hpp"
#include "sagips/core/text.hpp"

namespace sagips::nn {

torch::Device device_from_name(const std::string& name) {
  if (name == "cpu") return torch::Device(torch::kCPU);
  if (name.rfind("cuda", 0) == 0)
    throw core::ConfigError("device", core::text("'", name,
                                                 "' is not built into this program (it was "
                                                 "compiled for the CPU alone). Use device=cpu."));
  throw core::ConfigError("device", core::text("unknown device '", name, "', known: cpu"));
}

int allowed_processors() {
  const cpu_set_t allowed = core::allowed_processors();
  return CPU_COUNT(&allowed);
}

namespace {

// Threads of GNU's OpenMP wait for their next work without sleeping, some milliseconds each time,
// unless there are more of them than processors (its manual, GOMP_SPINCOUNT). On processors that
// others use too, that costs many times what the threads give. Hence some that do nothing.
void let_waiting_threads_sleep() {
  static const bool idle_threads = [] {
    constexpr std::int64_t shared_numbers = 100'000;  // more than LibTorch leaves to one thread
    const int team = allowed_processors() + 1;
    std::promise<void> started;
    std::thread([team, &started] {
      at::set_num_threads(team);
      torch::zeros({shared_numbers}).add_(1);  // the first operation starts them
      started.set_value();
      for (;;) ::pause();
    }).detach();
    started.get_future().wait();
    return true;
  }();
  static_cast<void>(idle_threads);
}

}  // namespace

int set_threads(std::int64_t threads, int sharing) {
  // at start LibTorch follows OMP_NUM_THREADS; whoever set it means it
  if (threads == 0 && std::getenv("OMP_NUM_THREADS")) threads = at::get_num_threads();
  if (threads == 0) threads = std::max(1, allowed_processors() / sharing);
  constexpr int most_processors =
      64;  // of more, threads that do nothing would meet limits of processes
  if (threads > 1 && allowed_processors() <= most_processors) let_waiting_threads_sleep();
  at::set_num_threads(static_cast<int>(threads));
  return at::get_num_threads();
}

}  // namespace sagips::nn

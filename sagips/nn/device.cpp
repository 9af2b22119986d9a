#include "sagips/nn/device.hpp"

#include <sched.h>

#include <algorithm>
#include <cstdlib>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::nn {

torch::Device device_from_name(const std::string& name) {
  if (name == "cpu") return torch::Device(torch::kCPU);
  if (name.rfind("cuda", 0) == 0)
    throw core::ConfigError(
        "device", core::text("'", name,
                             "' is not built into this program (it was compiled for the CPU "
                             "alone). Use device=cpu."));
  throw core::ConfigError("device", core::text("unknown device '", name, "', known: cpu"));
}

int allowed_processors() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  return sched_getaffinity(0, sizeof(allowed), &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
}

int set_threads(std::int64_t threads, int sharing) {
  // at start LibTorch follows OMP_NUM_THREADS; whoever set it means it
  if (threads == 0 && std::getenv("OMP_NUM_THREADS")) return at::get_num_threads();
  if (threads == 0) threads = std::max(1, allowed_processors() / sharing);
  at::set_num_threads(static_cast<int>(threads));
  return at::get_num_threads();
}

}  // namespace sagips::nn

#include "sagips/nn/device.hpp"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cstdlib>

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

int set_threads(std::int64_t threads, int sharing) {
  // at start LibTorch follows OMP_NUM_THREADS; whoever set it means it
  if (threads == 0 && std::getenv("OMP_NUM_THREADS")) return at::get_num_threads();
  if (threads == 0) threads = std::max(1, allowed_processors() / sharing);
  at::set_num_threads(static_cast<int>(threads));
  return at::get_num_threads();
}

}  // namespace sagips::nn

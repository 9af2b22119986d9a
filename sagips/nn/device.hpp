#pragma once
#include <string>

#include <torch/types.h>

namespace sagips::nn {

/// The device a config names. throws: ConfigError for anything but "cpu" in a build without CUDA
torch::Device device_from_name(const std::string& name);

/// Sets the threads LibTorch uses inside one operation; those that wait for work sleep. 0: OMP_NUM_THREADS where it is set, else as
/// many as the process may use, divided by the number of processes that share them. Returns the
/// number in force.
int set_threads(std::int64_t threads, int sharing = 1);

/// Processors this process may run on, by its affinity mask.
int allowed_processors();

}  // namespace sagips::nn

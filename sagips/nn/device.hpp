#pragma once
#include <string>

#include <torch/types.h>

namespace sagips::nn {

/// The device that a config names: cpu, cuda (of several GPUs the one whose turn it is), cuda:N, a part of a GPU
/// by its name (MIG-...), or auto, which is cuda where there is a GPU. What works there is opened first, so that a
/// program needs no library of CUDA before. throws: ConfigError where that is not to be had
torch::Device device_from_name(const std::string& name);

/// How products are rounded on GPUs, from here on: in passes of ours that are made later, and in LibTorch's.
enum class Precision {
  float32,  ///< ours multiply three times in tf32, which loses nothing that matters
  tf32,     ///< factors of 10 bits
  bfloat16  ///< ours of dense layers: factors of 7 bits; all others as tf32
};
void set_precision(Precision precision);
Precision precision();
/// Makes LibTorch's products again what they were before `set_precision`, for who goes on in this process.
void leave_precision();

/// Returns when a GPU is done with what this thread has given it; a CPU is. What other ranks have a share in goes on.
void wait_for(const torch::Device& device);

/// Whether a GPU still has work of this thread's to do.
bool works(const torch::Device& device);
/// Of a GPU [bytes]; most_taken: by this process so far.
struct GpuMemory {
  std::int64_t free, all, most_taken;
};
GpuMemory memory_of(const torch::Device& device);

/// Which of how many GPUs it is, and whether passes of ours are there; of a CPU why `auto` is none, else empty.
std::string described(const torch::Device& device);

/// Processes of a machine take turns over its GPUs: this one is the number-th of them.
void take_turn(int number);

/// Sets the threads LibTorch uses inside one operation; those that wait for work sleep. 0: OMP_NUM_THREADS where it is set, else as
/// many as the process may use, divided by the number of processes that share them. Returns the
/// number in force.
int set_threads(std::int64_t threads, int sharing = 1);

/// Processors this process may run on, by its affinity mask.
int allowed_processors();

}  // namespace sagips::nn

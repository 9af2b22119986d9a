#pragma once
#include <memory>

#include <torch/types.h>

#include "sagips/comm/exchange.hpp"
#include "sagips/comm/ranks.hpp"

namespace sagips::train {

/// What adds up numbers of all ranks' GPUs: NCCL, from LibTorch's wheel or the system and opened at run time, or an
/// MPI that reaches GPUs.
class GpuSums {
 public:
  /// collective. throws: ConfigError where neither is there, or NCCL refuses these GPUs
  GpuSums(comm::Ranks& ranks, torch::Device device);
  ~GpuSums();
  GpuSums(const GpuSums&) = delete;
  GpuSums& operator=(const GpuSums&) = delete;
  /// Gives NCCL's memory back. collective: who fails leaves it, as others would be waited for
  void close();

 private:
  friend class GpuMean;
  struct Nccl;
  std::unique_ptr<Nccl> nccl_;  ///< null: MPI
  torch::Device device_;
};

/// The mean of all ranks' gradients, which stay on the GPUs: an exact exchange whose way through the ranks is the
/// library's. It begins behind what the GPU has been given, and goes on beside what it is given then.
///
/// cost: one call of the library with the whole array; what it sends is its own affair. MPI's returns when it is done.
class GpuMean final : public comm::Exchange {
 public:
  GpuMean(const comm::Site& site, std::shared_ptr<GpuSums> sums);

  /// replica: in the GPU's memory
  comm::Task gradients(comm::ReplicaView replica, comm::Step step) override;
  comm::Cost cost(std::size_t floats, comm::Step) const override {
    return {1, floats * sizeof(float)};
  }
  comm::Promise promise() const override { return {.exact = true, .waits = true, .repeats = true}; }
  std::vector<int> partners(comm::Step) const override { return site_.all_ranks(); }
  std::string description() const override;

 private:
  comm::Site site_;
  std::shared_ptr<GpuSums> sums_;
  torch::Tensor own_;  ///< what is handed to MPI, which does not add in place
};

}  // namespace sagips::train

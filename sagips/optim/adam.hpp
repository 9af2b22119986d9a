#pragma once
#include <cstdint>
#include <memory>

#include <torch/torch.h>

#include "sagips/core/config.hpp"
#include "sagips/nn/replica.hpp"
#include "sagips/nn/state.hpp"

namespace sagips::optim {

struct AdamConfig {
  double learning_rate = 1e-4;
  double beta1 = 0.5, beta2 = 0.999;
  double epsilon = 1e-8;
  double final_rate =
      1;  ///< share of the learning rate that is left at the last epoch, reached along a cosine

  void fields(core::FieldList& list);
};

/// LibTorch's Adam on a replica's flat weights.
/// source: Kingma and Ba, ICLR 2015, algorithm 1; the SAGIPS paper's code uses betas (0.5, 0.999)
class Adam {
 public:
  Adam(const nn::Replica& replica, AdamConfig config);

  /// One update from the replica's gradients. progress: share of the run that is over, 0 to 1.
  void step(double progress);
  void state(nn::StateList& list);

 private:
  AdamConfig config_;
  torch::Tensor weights_;  ///< leaf over the replica's flat weights
  std::unique_ptr<torch::optim::Adam> adam_;
};

}  // namespace sagips::optim

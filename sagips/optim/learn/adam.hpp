#pragma once
#include <cstdint>

#include "sagips/core/config/config.hpp"
#include "sagips/data/torch.hpp"
#include "sagips/nn/replica.hpp"
#include "sagips/nn/state.hpp"

namespace sagips::optim {

struct AdamConfig {
  double learning_rate = 1e-4;
  double beta1 = 0.5, beta2 = 0.999;
  double epsilon = 1e-8;
  double final_rate =
      1;  ///< share of the learning rate that is left at the last epoch, reached along a cosine
  bool optimistic = false;

  void fields(core::FieldList& list);
};

/// LibTorch's Adam on a replica's flat weights, in its form that makes one sweep over them.
///
/// Optimistic, a step is w - 2 rate d_t + rate d_(t-1) with d the direction of a plain step and
/// d_0 = 0: it goes where the direction seems to be heading, which damps the circles that two
/// players run around their equilibrium.
/// source: Kingma and Ba, ICLR 2015, algorithm 1; the SAGIPS paper's code uses betas (0.5, 0.999);
/// optimistic: Daskalakis et al., ICLR 2018, algorithm 1
class Adam {
 public:
  Adam(const nn::Replica& replica, AdamConfig config);

  /// One update from the replica's gradients. progress: share of the run that is over, 0 to 1.
  void step(double progress);
  void state(nn::StateList& list);

 private:
  void step_optimistically(double rate);

  AdamConfig config_;
  torch::Tensor weights_, gradients_;  ///< the replica's flat arrays
  torch::Tensor mean_, square_;        ///< running ones of the gradient and of its square
  torch::Tensor direction_;            ///< of the last step; undefined unless optimistic
  std::int64_t steps_ = 0;
};

}  // namespace sagips::optim

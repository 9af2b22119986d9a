#pragma once
#include <cstdint>
#include <memory>

#include "sagips/core/config.hpp"
#include "sagips/data/torch.hpp"
#include "sagips/env/environment.hpp"
#include "sagips/nn/replica.hpp"
#include "sagips/nn/state.hpp"
#include "sagips/optim/moments.hpp"

namespace sagips::optim {

struct NewtonConfig {
  std::int64_t every = 0;  ///< epochs after which the information is computed anew; 0: off
  double rate = 0.02;      ///< share of a Newton step
  double longest = 0.3;    ///< step of a logit
  void fields(core::FieldList& list);
};

/// Newton steps of a generator's last biases, where Adam steps each parameter by itself.
///
/// The biases move all proposals together, so their gradient is the discriminator's opinion about
/// the mean proposal. Where parameters act alike (the proxy's N, a and b), one by one they creep
/// along a valley; the inverse of the information that one event's features hold about them points
/// along it. With the `logit` loss a rate of 1 is Newton's step if the discriminator is perfect; a
/// small one averages its noise. All other weights are Adam's.
///
/// The information is computed at the mean proposal: among scattered ones noise hides the soft
/// directions.
/// cost:   a Jacobian of the moments every so many epochs
/// source: natural gradient, Amari, Neural Comput. 10 (1998) 251
class NewtonBias {
 public:
  NewtonBias(const NewtonConfig& config, nn::Replica& generator,
             const env::Environment& environment, const MomentsConfig& moments, std::uint64_t seed);

  /// Before an epoch's gradient: keeps the biases, and renews the information when it is time.
  void before(std::uint32_t epoch, const torch::Tensor& mean_logits);
  /// After Adam's step: puts the biases where Newton's lead.
  void after();
  void state(nn::StateList& list);

 private:
  NewtonConfig config_;
  const env::Environment& environment_;
  MomentsConfig moments_;
  std::uint64_t seed_;
  torch::Tensor bias_, gradient_;  ///< views into the replica's flat arrays. shape: [free]
  torch::Tensor kept_;             ///< the biases before the update
  torch::Tensor inverse_;          ///< of one event's information. shape: [free, free], float64
  std::int64_t renewed_ = 0;       ///< epoch of `inverse_`; 0: never
};

}  // namespace sagips::optim

#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "sagips/core/config/config.hpp"
#include "sagips/data/torch.hpp"
#include "sagips/env/environment.hpp"
#include "sagips/nn/fused_mlp.hpp"
#include "sagips/nn/mlp.hpp"
#include "sagips/nn/replica.hpp"
#include "sagips/nn/spectral_norm.hpp"
#include "sagips/optim/gan/gradient_penalty.hpp"
#include "sagips/optim/gan/objective.hpp"
#include "sagips/optim/learn/update_rule.hpp"
#include "sagips/optim/learn/update_step.hpp"
#include "sagips/problem/rank_place.hpp"

namespace sagips::optim {

struct DiscriminatorConfig {
  enum class Input { raw, standardised };
  nn::MlpConfig network;
  Input input = Input::standardised;
  /// How ranks exchange its gradients; "none": each rank has its own (SAGIPS paper).
  std::string exchange = "none";
  nn::SharedPart shared = nn::SharedPart::all;
  GradientPenaltyConfig gradient_penalty;
  bool spectral_norm = false;
  /// Deviation of what is added to all events at the start of the run, in deviations of the data.
  double instance_noise = 0;
  void fields(core::FieldList& list);
};

/// The events of a tile as a discriminator sees them.
struct DiscriminatorInput {
  torch::Tensor real;       ///< [rows, observables], constant; undefined where nobody asks
  torch::Tensor synthetic;  ///< [samples, events, observables], in the graph of the events
  env::Events events;       ///< whose weights and mask count
  double share = 1;         ///< of the batch
  double penalty_factor = 0;
  torch::Tensor places;  ///< as in PenaltyRows
};

/// A loss as observers are told it: outside the graph. shape: []
inline torch::Tensor told(const torch::Tensor& loss) { return loss.detach().to(torch::kFloat64); }

/// The network that tells synthetic events of a channel from measured ones.
class Discriminator {
 public:
  Discriminator(const DiscriminatorConfig& config, const UpdateConfig& update,
                const nn::DenseConfig& dense, AdversarialObjective objective,
                const env::Channel& channel, std::uint64_t seed, torch::Device device,
                const problem::RankPlace& place);
  Discriminator(Discriminator&&) = delete;  // its step points into it

  UpdateStep step(const std::string& name);
  nn::Replica& replica() { return replica_; }
  const DiscriminatorConfig& config() const { return config_; }
  const AdversarialObjective& objective() const { return objective_; }
  /// The weights that are used from now on; on one thread.
  void pack();

  /// What the network sees of events: their distance from the mean in deviations, or as they are.
  torch::Tensor input(const torch::Tensor& events) const;
  /// One deviation of the data, in units of `input`. shape: [observables] or []
  torch::Tensor unit() const;

  /// What the generator's loss is computed from: logits of the synthetic events, differentiable by
  /// these, minus their partners' where the loss compares pairs. Nobody gets gradients of the
  /// weights.
  /// shape: [samples, events]
  torch::Tensor score(const DiscriminatorInput& input) const;

  /// Losses on a tile, divided by their equilibrium, and what the penalty adds (0 without one), outside
  /// the graph. shapes: [], float64
  struct Losses {
    torch::Tensor real, synthetic, penalty;
  };
  /// Adds the gradients of the discriminator's loss to the leaves' accumulators.
  /// scores: null, or where `score` of the same input goes
  Losses learn(const DiscriminatorInput& input, nn::Leaves& leaves, torch::Tensor* scores) const;

  /// What the network makes of an event now, from -1 (synthetic) to 1 (measured): a feature for the
  /// moments. Later learning does not change it.
  env::Feature feature() const;

  void state(nn::StateList& list, const std::string& name);

 private:
  Losses learn_plain(const DiscriminatorInput& input, nn::Leaves& leaves) const;
  Losses learn_fused(const DiscriminatorInput& input, const torch::Tensor& shares,
                     nn::Leaves& leaves, torch::Tensor* scores) const;
  Losses learn_known(const DiscriminatorInput& input, nn::Leaves& leaves) const;
  torch::Tensor logits(const torch::Tensor& input) const;
  torch::Tensor judged(const nn::Leaves& leaves, const torch::Tensor& input) const;

  DiscriminatorConfig config_;
  AdversarialObjective objective_;
  std::shared_ptr<const nn::Network> network_;
  nn::Replica replica_;
  std::unique_ptr<UpdateRule> rule_;
  std::unique_ptr<nn::FusedMlp> fused_;              ///< null: LibTorch evaluates the network
  std::unique_ptr<nn::SpectralNorm> spectral_norm_;  ///< null: weights are as large as they like
  nn::Leaves constant_;           ///< the weights, of which nobody gets gradients
  torch::Tensor centre_, scale_;  ///< of the observables; undefined where nobody asks
};

}  // namespace sagips::optim

#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sagips/data/torch.hpp"
#include "sagips/env/environment.hpp"
#include "sagips/optim/gan/gan.hpp"

namespace sagips::golden {

/// What one step computed: losses by name, gradients by weight or bias tensor ("layer0.weight").
struct StepOutcome {
  using Gradients = std::map<std::string, torch::Tensor>;

  std::map<std::string, double> losses;
  Gradients generator, discriminator;
};

/// A dump of tools/golden/gan_steps.py: all that went into some steps of the proxy1d GAN, and what
/// came out.
///
/// Weights and gradients are flat: weight and bias of each layer in turn, as in PyTorch's
/// `parameters()`.
struct RecordedRun {
  /// Reads the folder of a case. throws: DataError, ConfigError
  explicit RecordedRun(const std::string& name);

  std::int64_t steps() const { return losses.size(0); }
  /// What step `index` (from 0) worked on; its epoch is index + 1.
  optim::GanBatch batch(std::int64_t index) const;
  /// Replays the sampler's recorded numbers, for Gan::set_noise.
  optim::Gan::NoiseMaker noise_maker() const;
  /// The proxy with the recorded data. pipeline: YAML laid over the workload's own settings.
  env::Environment environment(const std::string& pipeline) const;
  StepOutcome outcome(std::int64_t index) const;

  optim::GanConfig settings;
  torch::Tensor data;                   ///< [measured events, 2]
  torch::Tensor reference;              ///< [2]: norm_1, norm_2
  torch::Tensor generator_noise;        ///< [steps, samples, noise dimensions]
  torch::Tensor real_events;            ///< [steps, samples * events, 2]
  torch::Tensor generator_uniform;      ///< [steps, samples, 2, events]
  torch::Tensor discriminator_uniform;  ///< the same; undefined with generator_first
  torch::Tensor losses;                 ///< [steps, 4]
  torch::Tensor generator_weights;  ///< [steps + 1, size]: row i before step i, row i + 1 after it
  torch::Tensor discriminator_weights;
  torch::Tensor generator_gradients;  ///< [steps, size]
  torch::Tensor discriminator_gradients;
};

/// A flat array of a replica, in the order of a dump.
torch::Tensor in_network_order(const nn::Replica& replica, const torch::Tensor& flat);
/// The way back: copies a flat array of a dump into one that is laid out like the replica's.
void copy_from_network_order(const nn::Replica& replica, const torch::Tensor& recorded,
                             torch::Tensor flat);
/// A flat array of a dump in pieces. throws: StateError when the dump is of another network
StepOutcome::Gradients by_tensor(const std::vector<nn::ParameterTensor>& tensors,
                                 const torch::Tensor& recorded);

}  // namespace sagips::golden

#pragma once
#include <cstdint>
#include <memory>

#include "sagips/core/config/config.hpp"
#include "sagips/core/random.hpp"
#include "sagips/data/torch.hpp"
#include "sagips/env/parameter.hpp"
#include "sagips/nn/fused_mlp.hpp"
#include "sagips/nn/mlp.hpp"
#include "sagips/nn/replica.hpp"

namespace sagips::optim {

struct GeneratorConfig {
  /// Where the proposals begin.
  enum class Start {
    random,   ///< wherever random weights put them (SAGIPS paper)
    moments,  ///< at the solution of the moments, scattered by its errors
  };
  Start start = Start::random;
  /// What a run's answer is.
  enum class Finish {
    networks,  ///< the mean proposal (SAGIPS paper)
    moments,   ///< the solution of the moments next to it, with what the discriminators learned
  };
  Finish finish = Finish::moments;
  nn::MlpConfig network;
  std::int64_t noise_dimensions = 6;
  nn::SharedPart shared = nn::SharedPart::weights_only;
  double spread_penalty =
      0;  ///< factor of the proposals' variance (logit, mean over parameters) in the loss
  double average = 0;  ///< memory of the running mean of weights that predicts; 0: the last weights
  void fields(core::FieldList& list);
};

/// The network that proposes parameters: noise -> logits of the free parameters -> physical units.
class Generator {
 public:
  Generator(const GeneratorConfig& config, const nn::DenseConfig& dense,
            const env::ParameterSet& parameters, std::uint64_t seed, torch::Device device);

  /// Input noise, N(0, 1): rows first, first + 1, ... of the stream.
  /// shape: [rows, noise_dimensions]
  torch::Tensor noise(const core::RandomStream& stream, std::int64_t rows,
                      std::int64_t first = 0) const;
  /// shape: noise [rows, noise_dimensions] -> [rows, free parameters], logit
  torch::Tensor logits(const nn::Leaves& leaves, const torch::Tensor& noise) const;
  /// The weights that `packed_logits` uses from now on; on one thread.
  void pack();
  /// The same for the tiles of a pass, through the fused layers where there are any. Gradients go to
  /// the leaves' accumulators.
  torch::Tensor packed_logits(nn::Leaves& leaves, const torch::Tensor& noise) const;
  /// shape: noise [rows, noise_dimensions] -> [rows, parameters], physical
  torch::Tensor propose(const nn::Leaves& leaves, const torch::Tensor& noise) const;
  /// `rows` proposals without a graph, on the CPU; from the same noise vectors for every seed.
  torch::Tensor predict(std::int64_t rows) const { return predict(rows, replica_.leaves()); }
  torch::Tensor predict(std::int64_t rows, const nn::Leaves& leaves) const;

  /// Changes the last layer so that the proposals have this mean and covariance, and otherwise stay
  /// what they were. shape: theta [free], covariance [free, free], logit
  void begin_at(const torch::Tensor& theta, const torch::Tensor& covariance);

  nn::Replica& replica() { return replica_; }
  const nn::Leaves& leaves() const { return replica_.leaves(); }

 private:
  std::shared_ptr<const nn::Network> network_;
  nn::Replica replica_;
  std::unique_ptr<nn::FusedMlp> fused_;  ///< null: LibTorch evaluates the network
  env::ParameterSet parameters_;
  std::int64_t noise_dimensions_;
  std::uint64_t seed_;
  torch::Device device_;
};

}  // namespace sagips::optim

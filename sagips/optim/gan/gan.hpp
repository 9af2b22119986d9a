#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sagips/core/config/config.hpp"
#include "sagips/core/tracer.hpp"
#include "sagips/env/constant.hpp"
#include "sagips/env/environment.hpp"
#include "sagips/nn/fused_mlp.hpp"
#include "sagips/nn/replica.hpp"
#include "sagips/optim/gan/discriminator.hpp"
#include "sagips/optim/gan/gan_batch.hpp"
#include "sagips/optim/gan/generator.hpp"
#include "sagips/optim/learn/optimizer.hpp"
#include "sagips/optim/learn/update_rule.hpp"
#include "sagips/optim/learn/weight_average.hpp"
#include "sagips/problem/rank_place.hpp"

namespace sagips::optim {

/// Which network learns first in an epoch.
enum class UpdateOrder {
  discriminator_first,  ///< discriminator step, then the generator's on fresh events (SAGIPS paper)
  generator_first,  ///< generator's gradient, discriminator step on the same events, generator's
                    ///< update
};

struct BatchConfig {
  enum class OverRanks { each, divided };
  /// Where the pipelines' random numbers come from.
  enum class Noise { pseudo_random, sobol };
  std::int64_t samples = 1024;
  std::int64_t events = 100;
  OverRanks over_ranks = OverRanks::each;
  Noise noise = Noise::pseudo_random;
  /// Parameter samples of one rank, eq. (10) of the SAGIPS paper when divided.
  /// throws: ConfigError when nothing is left for a rank
  std::int64_t samples_of_rank(const problem::RankPlace& place) const;
  void fields(core::FieldList& list);
};

/// Whether the networks learn in turn or from one pass.
enum class UpdateMode {
  alternating,   ///< each from events of its own, in the update order (SAGIPS paper)
  simultaneous,  ///< both from the same synthetic events and the weights of the epoch before
};

/// What the generator's exchange between ranks may overlap with.
enum class Overlap {
  exact,            ///< only what changes no number: the discriminator step of generator_first
  one_update_late,  ///< the next discriminator step, which then sees a generator one update old
};

struct GanOptimizerConfig {
  UpdateMode update = UpdateMode::alternating;
  UpdateOrder order = UpdateOrder::discriminator_first;
  Overlap overlap = Overlap::exact;
  std::int64_t discriminator_steps = 1;  ///< for each of the generator's
  UpdateConfig generator{.learning_rate = 1e-5};
  UpdateConfig discriminator{.learning_rate = 1e-4};
  void fields(core::FieldList& list);
};

/// Settings of the GAN; defaults are the paper's.
struct GanConfig {
  AdversarialObjective::Config objective;
  GeneratorConfig generator;
  DiscriminatorConfig discriminator;
  BatchConfig batch;
  GanOptimizerConfig optimizer;
  nn::DenseConfig dense;
  void fields(core::FieldList& list);
};

/// A generator network proposes parameters, a discriminator a channel tells the events they lead to
/// from measured ones.
/// source: SAGIPS paper, Sec. IV; facts of the authors' tool kit for what it leaves open
/// throws: ConfigError for settings that contradict each other
class Gan final : public Optimizer {
 public:
  Gan(const GanConfig& config, const env::Environment& environment, std::uint64_t seed,
      torch::Device device, const problem::RankPlace& place = {});
  Gan(Gan&&) = delete;  // its steps point into it

  std::unique_ptr<Batch> draw(std::uint32_t step) const override {
    return std::make_unique<GanBatch>(batch(step));
  }
  Graphs graphs_of(std::uint32_t step) const override;
  void redraw(Batch& batch, std::uint32_t step) const override;
  /// What `draw` draws.
  GanBatch batch(std::uint32_t step) const;
  std::vector<UpdateStep>& steps() override { return steps_; }
  std::vector<Pass>& passes() override { return passes_; }
  std::vector<Action> schedule() const override;
  std::string origin_of_non_finite(const Batch& drawn) override;
  /// `rows` proposals in physical units, always from the same noise vectors. shape: [rows,
  /// parameters]
  torch::Tensor predict(std::int64_t rows);
  void state(nn::StateList& list) override;

  nn::Replica& generator() { return generator_.replica(); }
  nn::Replica& discriminator(std::size_t channel) { return discriminators_[channel]->replica(); }
  /// The generator's weights that predict, on the CPU: their running mean where there is one. shape: [size]
  torch::Tensor predicting_weights();
  std::size_t channels() const { return discriminators_.size(); }
  /// See Discriminator.
  env::Feature feature(std::size_t channel) const { return discriminators_[channel]->feature(); }
  /// See Generator.
  void begin_at(const torch::Tensor& theta, const torch::Tensor& covariance) {
    generator_.begin_at(theta, covariance);
  }
  /// Replaces the sources of the pipeline's noise, by step name; for comparisons with a recorded
  /// run.
  using NoiseMaker = std::function<std::shared_ptr<const env::NoiseSource>(
      const std::string& step, std::size_t channel, std::uint32_t epoch)>;
  void set_noise(NoiseMaker maker) { make_noise_ = std::move(maker); }
  /// Is told what each piece of a tile takes; null: nobody is.
  void set_tracer(core::Tracer* tracer) { tracer_ = tracer; }

 private:
  void add_alternating_passes();
  void add_simultaneous_pass();
  Pass generator_pass();
  Pass discriminator_pass(std::size_t channel, std::int64_t further);
  void name_losses(Pass& pass, std::size_t channel) const;
  void list_losses(const Discriminator::Losses& of_channel,
                   std::vector<torch::Tensor>& losses) const;
  void check() const;
  void check_slope(const AdversarialObjective& objective) const;
  GanBatch batch(std::uint32_t step, std::int64_t further) const;
  std::string suffix(std::size_t channel) const;
  torch::Tensor measured_events(std::size_t channel, std::int64_t count,
                                const core::RandomStream& stream, std::int64_t first) const;
  void prepare_generator(GanBatch& batch, std::int64_t tiles);
  env::Events synthesise(const std::string& step, std::size_t channel, const GanBatch& batch,
                         const Tile& tile, const torch::Tensor& parameters) const;
  torch::Tensor spread(const GanBatch& batch, const torch::Tensor& logits) const;
  DiscriminatorInput discriminator_input(const std::string& step, std::size_t channel,
                                         const GanBatch& batch, const Tile& tile,
                                         const env::Events& events) const;
  torch::Tensor blurred(const std::string& purpose, std::size_t channel, const GanBatch& batch,
                        const Tile& tile, const torch::Tensor& input) const;
  env::Events fresh_events(const std::string& step, std::size_t channel, const GanBatch& batch,
                           const Tile& tile);
  using Score = std::function<torch::Tensor(std::size_t channel, const DiscriminatorInput& input)>;
  torch::Tensor generator_gradients(GanBatch& batch, const Tile& tile, nn::Leaves& leaves,
                                    const Score& score) const;
  torch::Tensor simultaneous_gradients(GanBatch& batch, const Tile& tile,
                                       std::span<nn::Leaves* const> leaves) const;
  bool is_penalised() const {
    return config_.discriminator.gradient_penalty.kind != GradientPenaltyConfig::Kind::none;
  }
  bool is_simultaneous() const { return config_.optimizer.update == UpdateMode::simultaneous; }
  bool keeps_events() const { return config_.optimizer.order == UpdateOrder::generator_first; }

  GanConfig config_;
  std::int64_t samples_;        ///< parameter samples of this rank
  std::int64_t first_sample_;   ///< number of its first one in the batch of all ranks
  bool has_reference_ = false;  ///< a channel's objective compares reference numbers
  const env::Environment& environment_;
  std::uint64_t seed_;
  torch::Device device_;
  Generator generator_;
  std::unique_ptr<UpdateRule> generator_rule_;
  std::unique_ptr<WeightAverage> average_;  ///< null: the last weights predict
  std::vector<std::unique_ptr<Discriminator>> discriminators_;
  std::vector<UpdateStep> steps_;
  std::vector<Pass> passes_;
  std::vector<env::Constant> measured_;  ///< events of the channels
  NoiseMaker make_noise_;
  core::Tracer* tracer_ = nullptr;
};

}  // namespace sagips::optim

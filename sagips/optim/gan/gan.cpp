#include "sagips/optim/gan/gan.hpp"

#include <algorithm>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/nn/device_library.hpp"
#include "sagips/optim/gan/sobol_noises.hpp"

namespace sagips::optim {

namespace {

// What names the events and noise of the discriminator's steps beyond the first.
std::string words_for(std::int64_t further) {
  return further > 0 ? core::text(" of discriminator step ", further + 1) : std::string();
}

void require_gradient(const env::Channel& channel) {
  const std::vector<std::string> without = channel.pipeline.without_gradient();
  if (without.empty()) return;
  throw core::ConfigError(
      "pipeline '" + channel.name + "'",
      core::text(
          "the stage '", core::join(without, "', '"),
          "' has no gradient (a GAN learns through the pipeline's). Use a method that needs none, "
          "such as sagips solve with solve.method=moments, or give the stage a gradient."));
}

}  // namespace

Gan::Gan(const GanConfig& config, const env::Environment& environment, std::uint64_t seed,
         torch::Device device, const problem::RankPlace& place)
    : config_(config),
      samples_(config.batch.samples_of_rank(place)),
      first_sample_(place.rank * samples_),
      environment_(environment),
      seed_(seed),
      device_(device),
      generator_(config.generator, config.dense, environment.parameters, seed, device),
      generator_rule_(make_update_rule(generator_.replica(), config.optimizer.generator,
                                       "optimizer.generator")) {
  check();
  for (const env::Channel& channel : environment.channels) {
    require_gradient(channel);
    const std::int64_t last = (first_sample_ + samples_) * config.batch.events - 1;
    data::draw_events(channel.training, 1, core::RandomStream(seed, "weights"),
                      last);  // refuses some
    measured_.push_back(env::Constant::as_given(channel.training.values));
  }
  steps_.push_back({"generator", &generator_.replica(), generator_rule_.get()});
  steps_.back().keys = {"exchange", "generator.shared", "optimizer.generator"};
  if (config.generator.average > 0) {
    average_ = std::make_unique<WeightAverage>(generator_.replica(), config.generator.average);
    steps_[0].updated = [this] { average_->add(); };
  }
  for (const env::Channel& channel : environment.channels) {
    AdversarialObjective objective(config.objective, channel.training.reference);
    check_slope(objective);
    discriminators_.push_back(std::make_unique<Discriminator>(
        config.discriminator, config.optimizer.discriminator, config.dense, std::move(objective),
        channel, seed, device, place));
    has_reference_ = has_reference_ || (config.objective.reference_terms != ReferenceTerms::none &&
                                        !channel.training.reference.empty());
    steps_.push_back(
        discriminators_.back()->step("discriminator" + suffix(discriminators_.size() - 1)));
    steps_.back().keys = {"discriminator.exchange", "discriminator.shared",
                          "optimizer.discriminator"};
  }
  if (is_simultaneous())
    add_simultaneous_pass();
  else
    add_alternating_passes();
  make_noise_ = [this](const std::string& step, std::size_t channel, std::uint32_t epoch) {
    return std::make_shared<env::PhiloxNoise>(
        core::RandomStream(seed_, step + " events " + environment_.channels[channel].name, epoch));
  };
  if (config.batch.noise == BatchConfig::Noise::sobol)
    make_noise_ = [noises = std::make_shared<SobolNoises>(environment, config.batch.events, seed)](
                      const std::string& step, std::size_t channel, std::uint32_t epoch) {
      return (*noises)(step, channel, epoch);
    };
}

void Gan::check() const {
  const GanOptimizerConfig& optimizer = config_.optimizer;
  const bool in_turn = optimizer.order == UpdateOrder::discriminator_first && !is_simultaneous();
  if (optimizer.overlap == Overlap::one_update_late &&
      optimizer.order == UpdateOrder::generator_first)
    throw core::ConfigError("optimizer.overlap",
                            "one_update_late needs order discriminator_first (generator_first "
                            "already hides the exchange exactly). Use overlap=exact.");
  if (is_simultaneous() &&
      (optimizer.order != UpdateOrder::discriminator_first || optimizer.overlap != Overlap::exact))
    throw core::ConfigError("optimizer.update",
                            "simultaneous updates know no order and hide no exchange behind the "
                            "other network. Leave optimizer.order and optimizer.overlap alone.");
  if (optimizer.discriminator_steps > 1 && !in_turn)
    throw core::ConfigError("optimizer.discriminator_steps",
                            "more than one step needs events of its own for each, which "
                            "simultaneous updates and generator_first do not draw. Use "
                            "update=alternating and order=discriminator_first, or one step.");
}

void Gan::check_slope(const AdversarialObjective& objective) const {
  if (objective.needs_bounded_slope() && !is_penalised() && !config_.discriminator.spectral_norm)
    throw core::ConfigError(
        "objective.loss",
        core::text("with ", objective.config().loss,
                   " nothing bounds the discriminator's output (its loss would fall for ever). Set "
                   "discriminator.gradient_penalty.kind or discriminator.spectral_norm."));
}

GanBatch Gan::batch(std::uint32_t step) const {
  GanBatch batch = this->batch(step, 0);
  for (std::int64_t further = 1; further < config_.optimizer.discriminator_steps; ++further)
    batch.further.push_back(this->batch(step, further));
  return batch;
}

// What depends on how much of the run is over, or is drawn on the CPU, would stay as it is in a graph.
Optimizer::Graphs Gan::graphs_of(std::uint32_t step) const {
  const bool draws_on_cpu =
      config_.batch.noise != BatchConfig::Noise::pseudo_random ||
      std::any_of(environment_.channels.begin(), environment_.channels.end(),
                  [](const env::Channel& channel) { return channel.training.weights.has_value(); });
  if (nn::device_library(device_) == nullptr || config_.discriminator.instance_noise != 0 ||
      draws_on_cpu)
    return {};
  return {.number = config_.discriminator.gradient_penalty.factor_in(step) > 0 ? 1 : 0,
          .draws = true};
}

void Gan::redraw(Batch& drawn, std::uint32_t step) const {
  const auto take = [](GanBatch& batch, const GanBatch& fresh) {
    batch.step = fresh.step;
    batch.noise.copy_(fresh.noise);
    for (std::size_t k = 0; k < fresh.channels.size(); ++k)
      batch.channels[k].real.copy_(fresh.channels[k].real);
  };
  auto& batch = static_cast<GanBatch&>(drawn);
  const GanBatch fresh = this->batch(step);
  take(batch, fresh);
  for (std::size_t i = 0; i < fresh.further.size(); ++i) take(batch.further[i], fresh.further[i]);
}

// Each step's events and noise have names of their own, so they do not depend on how many there are.
GanBatch Gan::batch(std::uint32_t step, std::int64_t further) const {
  const std::string words = words_for(further);
  GanBatch batch;
  batch.step = step;
  batch.samples = samples_;
  batch.events = config_.batch.events;
  batch.noise = generator_.noise(core::RandomStream(seed_, "generator noise" + words, step),
                                 batch.samples, first_sample_);
  for (std::size_t k = 0; k < environment_.channels.size(); ++k)
    batch.channels.push_back(
        {measured_events(
             k, batch.samples * batch.events,
             core::RandomStream(seed_, "measured events " + environment_.channels[k].name + words,
                                step),
             first_sample_ * batch.events),
         {}});
  return batch;
}

// On a GPU the same events are drawn there, if they are alike: weights want sums in float64.
torch::Tensor Gan::measured_events(std::size_t channel, std::int64_t count,
                                   const core::RandomStream& stream, std::int64_t first) const {
  const data::Dataset& events = environment_.channels[channel].training;
  if (nn::device_library(device_) == nullptr || events.weights ||
      events.values.scalar_type() != torch::kFloat32)
    return data::draw_events(events, count, stream, first).to(device_);
  const torch::Tensor table = measured_[channel].on(device_);
  torch::Tensor drawn = torch::empty({count, table.size(1)}, table.options());
  nn::on_device(device_, &nn::DeviceLibrary::draw_rows, nn::stream_name(stream), 0U,
                std::int64_t{1}, 0U, static_cast<std::uint32_t>(first), count,
                table.data_ptr<float>(), table.size(0), table.size(1), drawn.data_ptr<float>());
  return drawn;
}

std::vector<Action> Gan::schedule() const {
  using Kind = Action::Kind;
  if (is_simultaneous()) {
    std::vector<Action> schedule = {{Kind::gradients, 0}};
    for (std::size_t step = 1; step < steps_.size(); ++step)
      schedule.push_back({Kind::update, step});
    schedule.push_back({Kind::update, 0});
    return schedule;
  }
  // pass i fills the gradients of step i; those of the discriminators' further steps come behind
  const bool late = config_.optimizer.overlap == Overlap::one_update_late;
  std::vector<Action> discriminators, schedule;
  for (std::size_t step = 1; step < steps_.size(); ++step) {
    for (std::size_t pass = step; pass < passes_.size(); pass += discriminators_.size()) {
      discriminators.push_back({Kind::gradients, pass});
      discriminators.push_back({Kind::update, step});
    }
  }
  if (config_.optimizer.order == UpdateOrder::discriminator_first) schedule = discriminators;
  if (late) {  // the update of the epoch before, whose exchange had the discriminator step's time
    schedule.push_back({Kind::update, 0});
    schedule.push_back({Kind::gradients, 0});
    return schedule;
  }
  schedule.push_back({Kind::gradients, 0});
  if (config_.optimizer.order == UpdateOrder::generator_first)
    schedule.insert(schedule.end(), discriminators.begin(), discriminators.end());
  schedule.push_back({Kind::update, 0});
  return schedule;
}

torch::Tensor Gan::predict(std::int64_t rows) {
  return average_ ? generator_.predict(rows, average_->leaves()) : generator_.predict(rows);
}

torch::Tensor Gan::predicting_weights() {
  return (average_ ? average_->weights() : generator_.replica().weights()).cpu();
}

std::string Gan::suffix(std::size_t channel) const { return environment_.suffix(channel); }

env::Events Gan::synthesise(const std::string& step, std::size_t channel, const GanBatch& batch,
                            const Tile& tile, const torch::Tensor& parameters) const {
  env::Noise noise(make_noise_(step, channel, batch.step), tile.samples, batch.events,
                   first_sample_ + tile.first, torch::kFloat32, device_);
  const core::Span synthesising(tracer_, "pipeline");
  return environment_.channels[channel].pipeline(parameters, noise);
}

// The batch once more, without tiles: a search that nobody waits for in a run that works. The noise
// of both steps, since either may have met the bad number.
std::string Gan::origin_of_non_finite(const Batch& drawn) {
  const auto& batch = static_cast<const GanBatch&>(drawn);
  const torch::Tensor logits = generator_.logits(generator_.leaves(), batch.noise).detach();
  const torch::Tensor parameters = environment_.parameters.physical_from_logit(logits);
  if (!torch::isfinite(parameters).all().item<bool>())
    return "the generator proposes NaN or infinity";
  for (std::size_t k = 0; k < environment_.channels.size(); ++k) {
    const env::Channel& channel = environment_.channels[k];
    for (const std::string step : {"discriminator", "generator"}) {
      env::Noise noise(make_noise_(step, k, batch.step), batch.samples, batch.events, first_sample_,
                       torch::kFloat32, device_);
      const auto found = channel.pipeline.find_non_finite(parameters, noise);
      if (!found) continue;
      std::vector<std::string> values;
      for (std::int64_t i = 0; i < found->parameters.size(0); ++i)
        values.push_back(core::text(environment_.parameters.all()[static_cast<std::size_t>(i)].name,
                                    " = ",
                                    core::significant(found->parameters[i].item<double>(), 5)));
      return core::text(
          "stage '", found->stage, "' of the pipeline '", channel.name, "' ",
          found->in_gradient ? "has a gradient of NaN or infinity" : "gives NaN or infinity",
          " for ", core::join(values, ", "));
    }
  }
  return "a loss gave NaN or infinity";
}

void Gan::state(nn::StateList& list) {
  list.part("generator", generator_.replica());
  list.part("generator_update", *generator_rule_);
  if (average_) list.part("generator_average", *average_);
  for (std::size_t k = 0; k < discriminators_.size(); ++k)
    discriminators_[k]->state(list, "discriminator_" + environment_.channels[k].name);
}

}  // namespace sagips::optim

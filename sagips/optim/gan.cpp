#include "sagips/optim/gan.hpp"

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/nn/initialise.hpp"

namespace sagips::optim {

namespace {

// The generator is a hundredth of the work: rounding there would save nothing.
nn::DenseConfig in_float32(nn::DenseConfig config) {
  config.precision = nn::DenseConfig::Precision::float32;
  return config;
}

void require_gradient(const env::Channel& channel) {
  const std::vector<std::string> without = channel.pipeline.without_gradient();
  if (without.empty()) return;
  throw core::ConfigError(
      "pipeline '" + channel.name + "'",
      core::text("the stage '", core::join(without, "', '"),
                 "' has no gradient (a GAN learns through the pipeline's). Use a method that needs "
                 "none, such as sagips solve with method=moments, or give the stage a gradient."));
}

}  // namespace

Gan::Discriminator::Discriminator(const GanConfig& config, const env::Channel& channel,
                                  std::uint64_t seed, torch::Device device, const RankPlace& place)
    : network(channel.observables(), 1, config.discriminator.network),
      replica(network.parameters(), config.discriminator.shared, device),
      adam(replica, config.optimizer.discriminator),
      fused(nn::FusedMlp::make(network, config.dense, device)),
      is_raw(config.discriminator.input == DiscriminatorConfig::Input::raw) {
  // networks that exchange gradients begin alike, the others do not
  const bool common = config.discriminator.exchange != "none";
  const core::RandomStream stream(seed, "discriminator weights " + channel.name,
                                  common ? 0 : static_cast<std::uint32_t>(place.rank));
  nn::initialise_kaiming_normal(replica, config.discriminator.network.negative_slope, stream);
  if (is_raw) return;
  const env::Moments moments = channel.moments_or_own();
  centre = moments.mean.to(device);
  scale = moments.deviation.to(device);
}

Gan::Gan(const GanConfig& config, const env::Environment& environment, std::uint64_t seed,
         torch::Device device, const RankPlace& place)
    : config_(config),
      samples_(config.batch.samples_of_rank(place)),
      first_sample_(place.rank * samples_),
      environment_(environment),
      seed_(seed),
      device_(device),
      generator_(config.generator, in_float32(config.dense), environment.parameters, seed, device),
      generator_adam_(generator_.replica(), config.optimizer.generator) {
  if (config.optimizer.overlap == Overlap::one_update_late &&
      config.optimizer.order == UpdateOrder::generator_first)
    throw core::ConfigError("optimizer.overlap",
                            "one_update_late needs order discriminator_first (generator_first "
                            "already hides the exchange exactly). Use overlap=exact.");
  if (is_simultaneous() && (config.optimizer.order != UpdateOrder::discriminator_first ||
                            config.optimizer.overlap != Overlap::exact))
    throw core::ConfigError("optimizer.update",
                            "simultaneous updates know no order and hide no exchange behind the "
                            "other network. Leave optimizer.order and optimizer.overlap alone.");
  for (const env::Channel& channel : environment.channels) require_gradient(channel);
  steps_.push_back({"generator", &generator_.replica(), &generator_adam_});
  for (const env::Channel& channel : environment.channels) {
    discriminators_.push_back(
        std::make_unique<Discriminator>(config, channel, seed, device, place));
    has_reference_ = has_reference_ ||
                     (channel.objective.config().reference_terms != env::ReferenceTerms::none &&
                      !channel.training.reference.empty());
    steps_.push_back({"discriminator" + suffix(discriminators_.size() - 1),
                      &discriminators_.back()->replica, &discriminators_.back()->adam});
  }
  if (is_simultaneous())
    add_simultaneous_pass();
  else
    add_alternating_passes();
  make_noise_ = [this](const std::string& step, std::size_t channel, std::uint32_t epoch) {
    return std::make_shared<env::PhiloxNoise>(
        core::RandomStream(seed_, step + " events " + environment_.channels[channel].name, epoch));
  };
}

Batch Gan::draw(std::uint32_t epoch) const {
  Batch batch;
  batch.epoch = epoch;
  batch.samples = samples_;
  batch.events = config_.batch.events;
  batch.noise = generator_.noise(core::RandomStream(seed_, "generator noise", epoch), batch.samples,
                                 first_sample_);
  for (const env::Channel& channel : environment_.channels)
    batch.channels.push_back(
        {data::draw_events(channel.training, batch.samples * batch.events,
                           core::RandomStream(seed_, "measured events " + channel.name, epoch),
                           first_sample_ * batch.events)
             .to(device_),
         {}});
  return batch;
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
  // pass i fills the gradients of step i
  const bool late = config_.optimizer.overlap == Overlap::one_update_late;
  std::vector<Action> discriminators, schedule;
  for (std::size_t step = 1; step < steps_.size(); ++step) {
    discriminators.push_back({Kind::gradients, step});
    discriminators.push_back({Kind::update, step});
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

std::string Gan::suffix(std::size_t channel) const {
  return environment_.channels.size() > 1 ? " " + environment_.channels[channel].name
                                          : std::string();
}

env::Events Gan::synthesise(const std::string& step, std::size_t channel, const Batch& batch,
                            const Tile& tile, const torch::Tensor& parameters) const {
  env::Noise noise(make_noise_(step, channel, batch.epoch), tile.samples, batch.events,
                   first_sample_ + tile.first, torch::kFloat32, device_);
  return environment_.channels[channel].pipeline(parameters, noise);
}

// The batch once more, without tiles: a search that nobody waits for in a run that works. The noise
// of both steps, since either may have met the bad number.
std::string Gan::origin_of_non_finite(const Batch& batch) {
  const torch::Tensor logits = generator_.logits(generator_.leaves(), batch.noise).detach();
  const torch::Tensor parameters = environment_.parameters.physical_from_logit(logits);
  if (!torch::isfinite(parameters).all().item<bool>())
    return "the generator proposes NaN or infinity";
  for (std::size_t k = 0; k < environment_.channels.size(); ++k) {
    const env::Channel& channel = environment_.channels[k];
    for (const std::string step : {"discriminator", "generator"}) {
      env::Noise noise(make_noise_(step, k, batch.epoch), batch.samples, batch.events,
                       first_sample_, torch::kFloat32, device_);
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
  return {};
}

void Gan::state(nn::StateList& list) {
  list.part("generator", generator_.replica());
  list.part("generator_adam", generator_adam_);
  for (std::size_t k = 0; k < discriminators_.size(); ++k) {
    const std::string name = "discriminator_" + environment_.channels[k].name;
    list.part(name, discriminators_[k]->replica);
    list.part(name + "_adam", discriminators_[k]->adam);
  }
}

}  // namespace sagips::optim

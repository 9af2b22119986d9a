#include "tests/golden/replay.hpp"

#include <cmath>
#include <utility>

#include "sagips/core/text.hpp"

namespace sagips::golden {

namespace {

// weights, batches and noise all come from the dump
constexpr std::uint64_t any_seed = 1;

optim::GanConfig with_library(optim::GanConfig config, const std::string& library) {
  config.dense.library = library;
  return config;
}

}  // namespace

Replay::Replay(RecordedRun run, const train::EngineConfig& engine, const std::string& pipeline,
               const std::string& library)
    : run_(std::move(run)),
      environment_(run_.environment(pipeline)),
      gan_(with_library(run_.settings, library), environment_, any_seed, torch::kCPU),
      engine_(engine) {
  gan_.set_noise(run_.noise_maker());
}

void Replay::put_weights_of(std::size_t step, std::int64_t row) {
  const nn::Replica& replica = *gan_.steps()[step].replica;
  const torch::Tensor& rows =
      is_generator(step) ? run_.generator_weights : run_.discriminator_weights;
  copy_from_network_order(replica, rows[row], replica.weights());
}

void Replay::put_weights(std::int64_t index) {
  for (std::size_t step = 0; step < gan_.steps().size(); ++step) put_weights_of(step, index);
}

StepOutcome Replay::step(std::int64_t index) {
  StepOutcome outcome;
  optim::GanBatch batch = run_.batch(index);
  put_weights(index);
  for (const optim::Action& action : gan_.schedule()) {
    if (action.kind == optim::Action::Kind::update) {
      put_weights_of(action.index, index + 1);
      continue;
    }
    const optim::Pass& pass = gan_.passes()[action.index];
    const torch::Tensor losses = engine_.gradients(pass, gan_.steps(), batch, {});
    for (std::int64_t i = 0; i < losses.size(0); ++i)
      outcome.losses[pass.loss_names.at(static_cast<std::size_t>(i))] = losses[i].item<double>();
    for (const std::size_t step : pass.steps) {
      const nn::Replica& replica = *gan_.steps()[step].replica;
      (is_generator(step) ? outcome.generator : outcome.discriminator) =
          by_tensor(replica.parameters(), in_network_order(replica, replica.gradients()));
    }
  }
  return outcome;
}

double relative_difference(const torch::Tensor& ours, const torch::Tensor& theirs) {
  const torch::Tensor precise = theirs.to(torch::kFloat64);
  return ((ours.to(torch::kFloat64) - precise).norm() / precise.norm()).item<double>();
}

void Largest::add(double another, const std::string& place) {
  // NaN counts as largest and stays
  if (std::isnan(value) || another <= value) return;
  value = another;
  where = place;
}

std::string Largest::text() const { return core::text(where, ": ", value); }

void Differences::add(const StepOutcome& ours, const StepOutcome& theirs) {
  for (const auto& [name, value] : ours.losses)
    loss.add(std::abs(value / theirs.losses.at(name) - 1), name);
  for (const auto& [name, gradient] : ours.generator)
    generator.add(relative_difference(gradient, theirs.generator.at(name)), name);
  for (const auto& [name, gradient] : ours.discriminator)
    discriminator.add(relative_difference(gradient, theirs.discriminator.at(name)), name);
}

}  // namespace sagips::golden

#include "tests/golden/replay.hpp"

#include <cmath>
#include <utility>

#include "sagips/core/text.hpp"

namespace sagips::golden {

namespace {

// weights, batches and noise all come from the dump
constexpr std::uint64_t any_seed = 1;

}  // namespace

Replay::Replay(RecordedRun run, std::int64_t tile_samples, const std::string& pipeline)
    : run_(std::move(run)),
      environment_(run_.environment(pipeline)),
      gan_(run_.settings.gan, environment_, any_seed, torch::kCPU),
      engine_({.tile_samples = tile_samples}) {
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
  optim::Batch batch = run_.batch(index);
  put_weights(index);
  for (const optim::Action& action : gan_.schedule()) {
    if (action.kind == optim::Action::Kind::update) {
      put_weights_of(action.step, index + 1);
      continue;
    }
    const optim::UpdateStep& step = gan_.steps()[action.step];
    const std::vector<double> losses = engine_.gradients(step, batch, {});
    for (std::size_t i = 0; i < losses.size(); ++i)
      outcome.losses[step.loss_names.at(i)] = losses[i];
    (is_generator(action.step) ? outcome.generator : outcome.discriminator) = by_tensor(
        step.replica->parameters(), in_network_order(*step.replica, step.replica->gradients()));
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

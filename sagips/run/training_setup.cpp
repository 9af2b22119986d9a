#include "sagips/run/training_setup.hpp"

#include "sagips/nn/device.hpp"
#include "sagips/optim/gan/warm_start.hpp"

namespace sagips::run {

namespace {

optim::GanConfig gan_config(const Job& job, std::int64_t ranks) {
  optim::GanConfig config = job.settings.gan;
  config.optimizer.generator.learning_rate *=
      train::traits_of(job.settings.exchange_choice(), static_cast<int>(ranks))
          .learning_rate_factor;
  return config;
}

}  // namespace

TrainingSetup::TrainingSetup(const Job& job, env::Environment seen, std::uint64_t seed,
                             const problem::RankPlace& place)
    : environment(std::move(seen)),
      gan(gan_config(job, place.ranks), environment, seed,
          nn::device_from_name(job.settings.device), place),
      loop(job.settings.loop) {
  loop.engine.threads = at::get_num_threads();  // as `threads` was settled: they take tiles
}

std::optional<optim::Solution> TrainingSetup::begin(const Job& job, const env::Environment& events,
                                                    const optim::SolveContext& context) {
  if (job.settings.gan.generator.start != optim::GeneratorConfig::Start::moments)
    return std::nullopt;
  return optim::warm_start(gan, events, job.settings.solvers.moments, context);
}

}  // namespace sagips::run

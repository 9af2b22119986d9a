#include "sagips/run/training_setup.hpp"

#include <algorithm>
#include <utility>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/optim/gan/warm_start.hpp"

namespace sagips::run {

namespace {

optim::GanConfig gan_config(const Job& job, std::int64_t ranks) {
  optim::GanConfig config = job.inverse().gan;
  config.optimizer.generator.learning_rate *=
      train::traits_of(job.exchange_choice(), static_cast<int>(ranks)).learning_rate_factor;
  for (const auto& [name, update] : {std::pair("generator", &config.optimizer.generator),
                                     std::pair("discriminator", &config.optimizer.discriminator)})
    check_plateau(*update, core::text("optimizer.", name), ranks);
  return config;
}

}  // namespace

train::LoopConfig loop_of(const Job& job) {
  train::LoopConfig loop = job.settings.loop;
  const bool is_on_gpu = !job.settings.made_device().is_cpu();
  loop.engine.threads = is_on_gpu ? 1 : at::get_num_threads();
  loop.engine.chooses_threads = true;
  loop.engine.takes_whole_batches = is_on_gpu;
  return loop;
}

void check_plateau(const optim::UpdateConfig& rule, const std::string& place, std::int64_t ranks) {
  if (ranks > 1 && rule.waits_for_plateau())
    throw core::ConfigError(place + ".schedule",
                            "ranks see different evaluations, so each would lower its rate at "
                            "another time. Use cosine or steps, or one rank.");
}

void check_metric(const train::EarlyStopConfig& watched, bool waits_for_plateau, bool keeps_best,
                  const std::vector<std::string>& known) {
  const bool waits = watched.watches() || waits_for_plateau;
  if (!waits && (!keeps_best || known.empty())) return;
  if (known.empty())
    throw core::ConfigError(
        watched.watches() ? "early_stop" : "optimizer.schedule",
        "waits for evaluations, and data.held_out=0 keeps nothing aside for them. Leave either "
        "out.");
  if (std::find(known.begin(), known.end(), watched.metric) == known.end())
    throw core::ConfigError("early_stop.metric",
                            core::text("no evaluation has a '", watched.metric,
                                       "'. There are: ", core::join(known, ", "), "."));
}

TrainingSetup::TrainingSetup(const Job& job, env::Environment seen, std::uint64_t seed,
                             const problem::RankPlace& place)
    : environment(std::move(seen)),
      gan(gan_config(job, place.ranks), environment, seed, job.settings.made_device(), place),
      loop(loop_of(job)) {}

std::optional<optim::Solution> TrainingSetup::begin(const Job& job, const env::Environment& events,
                                                    const optim::SolveContext& context) {
  if (job.inverse().gan.generator.start != optim::GeneratorConfig::Start::moments)
    return std::nullopt;
  return optim::warm_start(gan, events, job.inverse().solvers.moments, context);
}

}  // namespace sagips::run

#include "sagips/optim/workload.hpp"

#include "sagips/core/error.hpp"

namespace sagips::optim {

namespace {

class Simple final : public Workload {
 public:
  explicit Simple(SimpleWorkload plan) : plan_(std::move(plan)) {}

  void fields(core::FieldList& list) override {
    core::FieldList inner;
    for (env::Parameter& parameter : plan_.parameters)
      inner.group(parameter.name, parameter, parameter.help);
    list.add_group("parameters", std::move(inner), "what is to be found");
  }
  std::vector<env::Parameter> parameters() const override { return plan_.parameters; }
  std::vector<ChannelPlan> channels() const override {
    return {{"events", plan_.pipeline, std::nullopt, plan_.observables, {}, plan_.features}};
  }

 private:
  SimpleWorkload plan_;
};

data::Dataset training_data(const DataSettings& settings, const ChannelPlan& plan,
                            const env::ParameterSet& parameters, std::uint64_t seed,
                            const DataShare& share) {
  std::vector<std::string> names;
  for (const Observable& observable : plan.observables) names.push_back(observable.name);
  if (settings.data.file.empty())
    return env::toy_data(plan.pipeline, parameters.truth(), settings.toy_events, names,
                         core::RandomStream(seed, "toy data " + plan.name));
  data::DatasetConfig config = settings.data;
  if (share.sharded)
    config.rows = {static_cast<std::size_t>(share.place.rank),
                   static_cast<std::size_t>(share.place.ranks)};
  if (config.cuts.empty()) config.cuts = plan.cuts;
  return data::load_dataset(config, names);
}

// A rank's own events, and the moments of all ranks' events.
void take_share(env::Channel& channel, const DataShare& share, std::uint64_t seed) {
  const auto [rank, ranks] = share.place;
  if (ranks == 1 && share.fraction >= 1) return;
  if (!share.sharded && channel.training.size() < ranks)
    throw core::ConfigError("ranks",
                            core::text("there are more ranks (", ranks, ") than training events (",
                                       channel.training.size(), "). Use fewer ranks."));
  if (!share.sharded) channel.moments = env::Moments::of(channel.training.values);
  if (share.divided && !share.sharded) {
    const torch::Tensor rows = torch::arange(rank, channel.training.size(), ranks);
    channel.training.values = channel.training.values.index_select(0, rows);
    if (channel.training.weights)
      channel.training.weights = channel.training.weights->index_select(0, rows);
  }
  const core::RandomStream stream(seed, "sub-sample of a rank " + channel.name,
                                  static_cast<std::uint32_t>(rank));
  if (share.fraction < 1)
    channel.training = data::subsample(channel.training, share.fraction, stream);
}

}  // namespace

std::string laptop_settings() {
  return "threads: 1\n"
         "toy: {events: 10000}\n"
         "batch: {samples: 32, events: 128}\n"
         "generator: {width: 64, spread_penalty: 0.3}\n"
         "discriminator: {width: 64}\n"
         "objective: {loss: cross_entropy}\n"
         "optimizer:\n"
         "  generator: {learning_rate: 1e-3, final_rate: 0.05}\n"
         "  discriminator: {learning_rate: 3e-3, final_rate: 0.05}\n"
         "train: {epochs: 1500}\n"
         "evaluation: {samples: 500}\n";
}

SimpleWorkload::operator WorkloadEntry() const {
  const std::string chosen = settings.empty() ? laptop_settings() : settings;
  return {name, summary, {{"default", chosen}}, [plan = *this] {
            return std::make_unique<Simple>(plan);
          }};
}

env::Environment make_environment(const Workload& workload, const DataSettings& settings,
                                  Split split, std::uint64_t seed, const DataShare& share) {
  env::Environment environment;
  environment.parameters = env::ParameterSet(workload.parameters());
  if (settings.data.file.empty()) {
    if (share.sharded)
      throw core::ConfigError("ranks.data",
                              "sharded is for a file of measured events, and data.file is empty. "
                              "Set data.file, or use distributed.");
    settings.data.check_toy_data();
    environment.parameters = environment.parameters.at_toy_values();
  }
  for (const ChannelPlan& plan : workload.channels()) {
    plan.pipeline.check(environment.parameters, static_cast<std::int64_t>(plan.observables.size()));
    const DataShare::Load load = [&] {
      return training_data(settings, plan, environment.parameters, seed, share);
    };
    data::Dataset all = share.distribute ? share.distribute(load) : load();
    if (all.dimensions() != static_cast<std::int64_t>(plan.observables.size()))
      throw core::ConfigError(
          "data.columns",
          core::text("the data have ", all.dimensions(), " columns, the pipeline '", plan.name,
                     "' makes ", plan.observables.size(), ". Name as many in data.columns."));
    all = data::subsample(all, settings.data.fraction,
                          core::RandomStream(seed, "sub-sample " + plan.name));
    data::Dataset held_out;
    if (split == Split::held_out)
      std::tie(all, held_out) = data::hold_out(all, settings.data.held_out,
                                               core::RandomStream(seed, "held out " + plan.name));
    // after the split, so that no held-out event is trained on
    if (settings.data.bootstrap)
      all = data::bootstrap(all, core::RandomStream(seed, "bootstrap " + plan.name));
    env::AdversarialObjective objective(settings.objective, all.reference);
    environment.channels.push_back({plan.name, plan.pipeline, std::move(all), std::move(held_out),
                                    std::move(objective), plan.density});
    environment.channels.back().features = plan.features;
    take_share(environment.channels.back(), share, seed);
  }
  return environment;
}

}  // namespace sagips::optim

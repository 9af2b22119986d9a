#include "sagips/problem/workload.hpp"

#include "sagips/core/error.hpp"

namespace sagips::problem {

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
  std::vector<DensityCurve> densities() const override { return plan_.densities; }

 private:
  SimpleWorkload plan_;
};

/// One channel's data as the config describes them.
struct Source {
  std::string group;  ///< of the config
  data::DatasetConfig config;
  std::int64_t toy_events;
};

Source source_of(const DataSettings& settings, const ChannelPlan& plan) {
  const auto own = settings.channels.find(plan.name);
  if (own == settings.channels.end()) return {"data", settings.data, settings.toy_events};
  Source source{"channels." + plan.name, own->second.data,
                own->second.toy_events > 0 ? own->second.toy_events : settings.toy_events};
  source.config.fraction = settings.data.fraction;
  source.config.bootstrap = settings.data.bootstrap;
  source.config.held_out = settings.data.held_out;
  return source;
}

// Whether the events are made: of all channels or of none, since toy data have truths.
bool are_toys(const std::vector<ChannelPlan>& plans, const DataSettings& settings) {
  if (!settings.channels.empty() && !settings.data.file.empty())
    throw core::ConfigError("data.file",
                            core::text("the workload has several channels (all would read the same "
                                       "events). Set channels.",
                                       plans.front().name, ".file and so on."));
  std::string with, without;
  for (const ChannelPlan& plan : plans)
    (source_of(settings, plan).config.file.empty() ? without : with) = plan.name;
  if (!with.empty() && !without.empty())
    throw core::ConfigError(
        "channels",
        core::text("'", with, "' has a file and '", without,
                   "' has none (toy data have true parameters, measured events do not). Set "
                   "channels.",
                   without, ".file, or channels.", without, ".enabled=false."));
  return with.empty();
}

data::Dataset training_data(const Source& source, const ChannelPlan& plan,
                            const env::ParameterSet& parameters, std::uint64_t seed,
                            const DataShare& share) {
  std::vector<std::string> names;
  for (const Observable& observable : plan.observables) names.push_back(observable.name);
  if (source.config.file.empty())
    return env::toy_data(plan.pipeline, parameters.truth(), source.toy_events, names,
                         core::RandomStream(seed, "toy data " + plan.name));
  data::DatasetConfig config = source.config;
  if (share.sharded)
    config.rows = {static_cast<std::size_t>(share.place.rank),
                   static_cast<std::size_t>(share.place.ranks)};
  if (config.cuts.empty()) config.cuts = plan.cuts;
  return data::load_dataset(config, names);
}

// Each pipeline's dry run; together they must depend on every free parameter.
void check_pipelines(const std::vector<ChannelPlan>& plans, const env::ParameterSet& parameters) {
  const auto reach = plans.size() > 1 ? env::Reach::some_parameter : env::Reach::every_parameter;
  std::vector<bool> reached(parameters.free().size(), false);
  for (const ChannelPlan& plan : plans) {
    const env::PipelineReport report =
        plan.pipeline.check(parameters, static_cast<std::int64_t>(plan.observables.size()), reach);
    for (std::size_t i = 0; i < reached.size(); ++i) reached[i] = reached[i] || report.reaches[i];
  }
  for (std::size_t i = 0; i < reached.size(); ++i)
    if (!reached[i]) {
      const std::string& name = parameters.all()[parameters.free()[i]].name;
      throw core::ConfigError("channels",
                              core::text("no channel's events depend on the parameter '", name,
                                         "' (it could never be learned). Switch a channel on, or "
                                         "fix it: parameters.",
                                         name, ".fixed=VALUE"));
    }
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

std::vector<std::string> Workload::channel_names() const {
  std::vector<std::string> names;
  for (const ChannelPlan& plan : channels()) names.push_back(plan.name);
  return names;
}

void ChannelSettings::fields(core::FieldList& list) {
  list.add("enabled", enabled, "whether this channel is looked at");
  list.add("weight", weight, "factor of its part of the generator's loss", core::Range::positive());
  list.add("toy_events", toy_events, "toy events when its file is empty; 0: toy.events",
           core::Range::between(0, 1e10));
  data.file_fields(list);
}

void DataSettings::channel_fields(core::FieldList& list, const Workload& workload) {
  const std::vector<std::string> names = workload.channel_names();
  if (names.size() < 2) return;
  core::FieldList inner;
  for (const std::string& name : names)
    inner.group(name, channels[name], "the data set '" + name + "'");
  list.add_group("channels", std::move(inner), "the data sets, each with a pipeline of its own");
}

std::vector<ChannelPlan> channels_in_use(const Workload& workload, const DataSettings& settings) {
  std::vector<ChannelPlan> plans = workload.channels();
  std::erase_if(plans, [&](const ChannelPlan& plan) {
    const auto found = settings.channels.find(plan.name);
    return found != settings.channels.end() && !found->second.enabled;
  });
  if (plans.empty())
    throw core::ConfigError("channels",
                            "every channel is switched off (nothing is left to look "
                            "at). Set channels.NAME.enabled=true.");
  return plans;
}

env::Environment make_environment(const Workload& workload, const DataSettings& settings,
                                  Split split, std::uint64_t seed, const DataShare& share) {
  const std::uint64_t data_seed = settings.data.seed_or(seed);
  const std::uint64_t bootstrap_seed = settings.data.bootstrap_seed_or(data_seed);
  env::Environment environment;
  environment.parameters = env::ParameterSet(workload.parameters());
  const std::vector<ChannelPlan> plans = channels_in_use(workload, settings);
  if (are_toys(plans, settings)) {
    if (share.sharded)
      throw core::ConfigError("ranks.data",
                              "sharded is for a file of measured events, and data.file is empty. "
                              "Set data.file, or use distributed.");
    environment.parameters = environment.parameters.at_toy_values();
  }
  check_pipelines(plans, environment.parameters);
  for (const ChannelPlan& plan : plans) {
    const Source source = source_of(settings, plan);
    if (source.config.file.empty()) source.config.check_toy_data(source.group);
    const DataShare::Load load = [&] {
      return training_data(source, plan, environment.parameters, data_seed, share);
    };
    data::Dataset all = share.distribute ? share.distribute(load) : load();
    if (all.dimensions() != static_cast<std::int64_t>(plan.observables.size()))
      throw core::ConfigError(
          source.group + ".columns",
          core::text("the data have ", all.dimensions(), " columns, the pipeline '", plan.name,
                     "' makes ", plan.observables.size(), ". Name as many in ", source.group,
                     ".columns."));
    all = data::subsample(all, source.config.fraction,
                          core::RandomStream(data_seed, "sub-sample " + plan.name));
    data::Dataset held_out;
    if (split == Split::held_out)
      std::tie(all, held_out) = data::hold_out(
          all, source.config.held_out, core::RandomStream(data_seed, "held out " + plan.name));
    // after the split, so that no held-out event is trained on
    if (source.config.bootstrap)
      all = data::bootstrap(all, core::RandomStream(bootstrap_seed, "bootstrap " + plan.name));
    environment.channels.push_back(
        {plan.name, plan.pipeline, std::move(all), std::move(held_out), plan.density});
    environment.channels.back().features = plan.features;
    if (source.group != "data")
      environment.channels.back().weight = settings.channels.at(plan.name).weight;
    take_share(environment.channels.back(), share, seed);
  }
  return environment;
}

}  // namespace sagips::problem

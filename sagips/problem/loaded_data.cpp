#include "sagips/problem/loaded_data.hpp"

#include "sagips/core/crc32c.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::problem {

namespace {

/// One channel's data as the config describes them.
struct Source {
  std::string group;  ///< of the config
  data::DatasetConfig config;
  std::int64_t toy_events;
  env::ToyWeights toy_weights;
};

Source source_of(const DataSettings& settings, const ChannelPlan& plan) {
  if (!plan.settings && settings.channels.count(plan.name) == 0)
    return {"data", settings.data, settings.toy_events, settings.toy_weights};
  Source source{core::text("channels.", plan.name, ".data"), settings.of(plan).data,
                settings.toy_events_of(plan), settings.toy_weights};
  source.config.fraction = settings.data.fraction;
  source.config.bootstrap = settings.data.bootstrap;
  source.config.held_out = settings.data.held_out;
  return source;
}

// Whether the events are made: of all channels or of none, since toy data have truths.
bool are_toys(const std::vector<ChannelPlan>& plans, const DataSettings& settings) {
  const bool several = plans.front().settings || !settings.channels.empty();
  std::vector<std::string> of_one = settings.data.keys_of_a_file();
  if (!settings.data.file.empty()) of_one = {"file"};
  if (several && !of_one.empty())
    throw core::ConfigError(
        "data." + of_one.front(),
        core::text("is of one file, and the workload has several channels (it "
                   "is not said whose). Set channels.",
                   plans.front().name, ".data.", of_one.front(), " and so on."));
  std::string with, without;
  for (const ChannelPlan& plan : plans)
    (source_of(settings, plan).config.file.empty() ? without : with) = plan.name;
  if (!with.empty() && !without.empty())
    throw core::ConfigError(
        "channels",
        core::text("'", with, "' has a file and '", without,
                   "' has none (toy data have true parameters, measured events do not). Set "
                   "channels.",
                   without, ".data.file, or channels.", without, ".enabled=false."));
  return with.empty();
}

data::Dataset events_of(const Source& source, const ChannelPlan& plan,
                        const env::ParameterSet& parameters, std::uint64_t seed,
                        const core::RowShare& rows) {
  std::vector<std::string> names;
  for (const Observable& observable : plan.observables) names.push_back(observable.name);
  if (source.config.file.empty())
    return env::toy_data(plan.pipeline, parameters.truth(), source.toy_events, names,
                         core::RandomStream(seed, "toy data " + plan.name), source.toy_weights);
  data::DatasetConfig config = source.config;
  config.rows = rows;
  if (config.cuts.empty()) config.cuts = plan.cuts;
  return data::load_dataset(config, names);
}

// Each pipeline's dry run; several must together depend on every free parameter where that is asked.
void check_pipelines(const std::vector<ChannelPlan>& plans, const env::ParameterSet& parameters,
                     bool needs_gradient) {
  const auto reach = !needs_gradient    ? env::Reach::nothing
                     : plans.size() > 1 ? env::Reach::some_parameter
                                        : env::Reach::every_parameter;
  std::vector<bool> reached(parameters.free().size(), false);
  for (const ChannelPlan& plan : plans) {
    const env::PipelineReport report =
        plan.pipeline.check(parameters, static_cast<std::int64_t>(plan.observables.size()), reach);
    for (std::size_t i = 0; i < reached.size(); ++i) reached[i] = reached[i] || report.reaches[i];
  }
  // what changes nothing in a single pipeline is answered as open; among several one may be switched off
  for (std::size_t i = 0; i < reached.size() && plans.size() > 1; ++i)
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

std::vector<data::Dataset> read_events(const Workload& workload, const DataSettings& settings,
                                       std::uint64_t seed, const core::RowShare& rows) {
  env::ParameterSet parameters(workload.parameters());
  const std::vector<ChannelPlan> plans = channels_in_use(workload, settings);
  const bool toys = are_toys(plans, settings);
  if (toys && rows.count > 1)
    throw core::ConfigError("ranks.data",
                            "sharded is for a file of measured events, and data.file is empty. "
                            "Set data.file, or use distributed.");
  if (toys) parameters = parameters.at_toy_values();
  check_pipelines(plans, parameters, settings.needs_gradient);
  std::vector<data::Dataset> events;
  for (const ChannelPlan& plan : plans) {
    const Source source = source_of(settings, plan);
    if (toys) source.config.check_toy_data(source.group);
    events.push_back(events_of(source, plan, parameters, settings.data.seed_or(seed), rows));
    if (events.back().dimensions() != static_cast<std::int64_t>(plan.observables.size()))
      throw core::ConfigError(
          source.group + ".columns",
          core::text("the data have ", events.back().dimensions(), " columns, the pipeline '",
                     plan.name, "' makes ", plan.observables.size(), ". Name as many in ",
                     source.group, ".columns."));
  }
  return events;
}

LoadedData::LoadedData(const Workload& workload, const DataSettings& settings, std::uint64_t seed,
                       std::vector<data::Dataset> events)
    : parameters_(workload.parameters()),
      seed_(seed),
      data_seed_(settings.data.seed_or(seed)),
      bootstrap_seed_(settings.data.bootstrap_seed_or(data_seed_)) {
  const std::vector<ChannelPlan> plans = channels_in_use(workload, settings);
  toys_ = are_toys(plans, settings);
  if (toys_) parameters_ = parameters_.at_toy_values();  // their true ones
  for (std::size_t k = 0; k < plans.size(); ++k) {
    const Source source = source_of(settings, plans[k]);
    channels_.push_back(
        {plans[k], settings.of(plans[k]).weight, source.config.held_out, source.config.bootstrap,
         data::subsample(events.at(k), source.config.fraction,
                         core::RandomStream(data_seed_, "sub-sample " + plans[k].name))});
  }
}

std::string LoadedData::fingerprint() const {
  if (toys_) return {};
  std::int64_t events = 0;
  std::uint32_t checksum = 0;
  const auto add = [&checksum](const torch::Tensor& values) {
    const torch::Tensor dense = values.contiguous();
    checksum = core::crc32c({static_cast<const char*>(dense.data_ptr()), dense.nbytes()}, checksum);
  };
  for (const Channel& channel : channels_) {
    events += channel.events.size();
    add(channel.events.values);
    if (channel.events.weights) add(*channel.events.weights);
  }
  return core::text(events, " events, checksum ", checksum);
}

std::vector<std::string> LoadedData::remarks() const {
  std::vector<std::string> all;
  for (const Channel& channel : channels_)
    if (!toys_ && channel.plan.remark) all.push_back(channel.plan.remark(channel.events));
  std::erase(all, "");
  return all;
}

env::Environment LoadedData::view(const std::function<Kept(const Channel& channel)>& split,
                                  const DataShare& share) const {
  env::Environment environment;
  environment.parameters = parameters_;
  for (const Channel& channel : channels_) {
    auto [training, held_out] = split(channel);
    // after the split, so that no held-out event is trained on
    if (channel.bootstrap)
      training = data::bootstrap(
          training, core::RandomStream(bootstrap_seed_, "bootstrap " + channel.plan.name));
    environment.channels.push_back({channel.plan.name, channel.plan.pipeline, std::move(training),
                                    std::move(held_out), channel.plan.density});
    environment.channels.back().features = channel.plan.features;
    environment.channels.back().weight = channel.weight;
    take_share(environment.channels.back(), share, seed_);
  }
  return environment;
}

env::Environment LoadedData::all(const DataShare& share) const {
  return view([](const Channel& channel) { return Kept(channel.events, {}); }, share);
}

env::Environment LoadedData::training(const DataShare& share) const {
  return view(
      [this](const Channel& channel) {
        return data::hold_out(channel.events, channel.held_out,
                              core::RandomStream(data_seed_, "held out " + channel.plan.name));
      },
      share);
}

env::Environment LoadedData::fold(std::int64_t number, std::int64_t count) const {
  return view(
      [&](const Channel& channel) {
        return data::fold(channel.events, number, count,
                          core::RandomStream(data_seed_, "folds " + channel.plan.name));
      },
      {});
}

LoadedData load_data(const Workload& workload, const DataSettings& settings, std::uint64_t seed) {
  return {workload, settings, seed, read_events(workload, settings, seed)};
}

}  // namespace sagips::problem

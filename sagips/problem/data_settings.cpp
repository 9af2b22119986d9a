#include "sagips/problem/data_settings.hpp"

#include <algorithm>

#include "sagips/core/config/effects.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/data/cuts.hpp"

namespace sagips::problem {

void ChannelSettings::fields(core::FieldList& list) {
  list.add("enabled", enabled, "whether this channel is looked at");
  list.add("weight", weight, "factor of its part of the generator's loss", core::Range::positive());
  list.add("toy_events", toy_events, "toy events when its file is empty; 0: toy.events",
           core::Range::between(0, 1e10));
  core::FieldList source;
  data.file_fields(source);
  list.add_group("data", std::move(source), "its events");
  core::needs(list, enabled, "enabled=true", {"weight", "toy_events", "data"});
  core::needs(list, data.file.empty(), "no data.file", {"toy_events"});
}

void DataSettings::channel_fields(core::FieldList& list, const Workload& workload) {
  const std::vector<std::string> names = workload.channel_names();
  if (names.size() < 2) return;
  core::FieldList inner;
  for (const std::string& name : names)
    inner.group(name, channels[name], "the data set '" + name + "'");
  list.add_group("channels", std::move(inner), "the data sets, each with a pipeline of its own");
}

ChannelSettings DataSettings::of(const ChannelPlan& plan) const {
  const auto found = channels.find(plan.name);
  return found == channels.end() ? plan.settings.value_or(ChannelSettings{}) : found->second;
}

std::int64_t DataSettings::toy_events_of(const ChannelPlan& plan) const {
  const std::int64_t own = of(plan).toy_events;
  return own > 0 ? own : toy_events;
}

namespace {

/// Does to synthetic events what the cuts do to measured ones, in both forms.
struct CutsOnObservables {
  std::vector<std::pair<std::int64_t, data::Cut>> cuts;  ///< with the observable's number

  env::Events operator()(env::Events events, env::Noise&) const {
    for (const auto& [observable, cut] : cuts) {
      const torch::Tensor passes = cut.passes(events.values.detach().select(2, observable));
      events.mask = events.mask ? *events.mask & passes : passes;
    }
    return events;
  }
  std::string name() const { return "data.cuts"; }
};

// The observable of a column by its name or, where the file has none, by its number. Nothing for a column that the
// pipeline does not make, such as a label.
std::optional<std::int64_t> observable_of(const data::Cut& cut, const ChannelPlan& plan,
                                          const data::DatasetConfig& config) {
  std::vector<std::string> names = config.columns;
  if (names.empty())
    for (std::size_t i = 0; i < plan.observables.size(); ++i) names.push_back(core::text(i));
  for (std::size_t i = 0; i < plan.observables.size(); ++i)
    if (cut.column().name == plan.observables[i].name ||
        (i < names.size() && cut.column().name == names[i]))
      return static_cast<std::int64_t>(i);
  return std::nullopt;
}

void add_cuts(ChannelPlan& plan, const data::DatasetConfig& config) {
  CutsOnObservables stage;
  for (const std::string& condition : config.cuts) {
    const data::Cut cut(condition);
    if (const auto observable = observable_of(cut, plan, config))
      stage.cuts.emplace_back(*observable, cut);
  }
  if (!stage.cuts.empty()) plan.pipeline.append(stage);
}

}  // namespace

std::vector<ChannelPlan> channels_in_use(const Workload& workload, const DataSettings& settings) {
  std::vector<ChannelPlan> plans = workload.channels();
  std::erase_if(plans, [&](const ChannelPlan& plan) { return !settings.of(plan).enabled; });
  if (plans.empty())
    throw core::ConfigError("channels",
                            "every channel is switched off (nothing is left to look "
                            "at). Set channels.NAME.enabled=true.");
  for (ChannelPlan& plan : plans)
    if (plan.cuts_select_events)
      add_cuts(plan, plan.settings ? plan.settings->data : settings.data);
  return plans;
}

}  // namespace sagips::problem

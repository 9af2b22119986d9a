#include "sagips/problem/data_settings.hpp"

#include "sagips/core/error.hpp"

namespace sagips::problem {

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

}  // namespace sagips::problem

#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sagips/core/config/config.hpp"
#include "sagips/data/dataset.hpp"
#include "sagips/problem/workload.hpp"

namespace sagips::problem {

struct DataSettings {
  data::DatasetConfig data;
  std::int64_t toy_events = 100000;  ///< made at the parameters' toy values when data.file is empty
  env::ToyWeights toy_weights = env::ToyWeights::accepted;
  bool needs_gradient = true;  ///< of the pipelines; no key: who solves the problem says it
  std::map<std::string, ChannelSettings> channels;  ///< by name; empty: the workload has one

  /// Lists `channels` where a workload has several and names them itself.
  void channel_fields(core::FieldList& list, const Workload& workload);
  /// What the config says of a channel; those of a single one are its defaults.
  ChannelSettings of(const ChannelPlan& plan) const;
  std::int64_t toy_events_of(const ChannelPlan& plan) const;
};

/// The workload's channels without those that are switched off.
/// throws: ConfigError when none is left
std::vector<ChannelPlan> channels_in_use(const Workload& workload, const DataSettings& settings);

}  // namespace sagips::problem

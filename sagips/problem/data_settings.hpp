#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sagips/core/config/config.hpp"
#include "sagips/data/dataset.hpp"
#include "sagips/problem/workload.hpp"

namespace sagips::problem {

/// What belongs to one of several channels.
struct ChannelSettings {
  bool enabled = true;
  double weight = 1;
  std::int64_t toy_events = 0;  ///< 0: as many as `toy.events` says
  data::DatasetConfig data;     ///< what its file_fields list; the rest is common to all channels

  void fields(core::FieldList& list);
};

struct DataSettings {
  data::DatasetConfig data;
  std::int64_t toy_events = 100000;  ///< made at the parameters' toy values when data.file is empty
  env::ToyWeights toy_weights = env::ToyWeights::accepted;
  bool needs_gradient = true;  ///< of the pipelines; no key: who solves the problem says it
  std::map<std::string, ChannelSettings> channels;  ///< by name; empty: the workload has one

  /// Lists `channels` where a workload has several.
  void channel_fields(core::FieldList& list, const Workload& workload);
};

/// The workload's channels without those that are switched off.
/// throws: ConfigError when none is left
std::vector<ChannelPlan> channels_in_use(const Workload& workload, const DataSettings& settings);

}  // namespace sagips::problem

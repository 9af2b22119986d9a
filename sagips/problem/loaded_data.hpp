#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "sagips/core/npy.hpp"
#include "sagips/data/dataset.hpp"
#include "sagips/env/environment.hpp"
#include "sagips/problem/data_settings.hpp"
#include "sagips/problem/rank_place.hpp"

namespace sagips::problem {

/// What a rank of several sees of the events.
struct DataShare {
  RankPlace place;
  bool sharded = false;  ///< the events are rows of its own of the file, which no other rank has
  bool divided = false;  ///< the ranks take parts of the training events that do not overlap
  double fraction = 1;   ///< of the training events, drawn without replacement by each rank
};

/// Reads or makes the events of each channel in use. Runs the pipelines' dry run first.
/// rows: of the files, that this rank reads
/// throws: what data::load_dataset and Pipeline::check throw
std::vector<data::Dataset> read_events(const Workload& workload, const DataSettings& settings,
                                       std::uint64_t seed, const core::RowShare& rows = {});

/// The events of a problem, read once, and the environments that see some of them. Views share memory
/// with the events where they can.
class LoadedData {
 public:
  /// events: as `read_events` gives them, or another rank has read them. throws: ConfigError
  LoadedData(const Workload& workload, const DataSettings& settings, std::uint64_t seed,
             std::vector<data::Dataset> events);

  /// Tells these events from others: their number and a checksum. Empty for toy data.
  std::string fingerprint() const;
  /// What its channels remark on measured events.
  std::vector<std::string> remarks() const;
  /// All events, none held out; of these the rank's share.
  /// throws: ConfigError when there are more ranks than events
  env::Environment all(const DataShare& share = {}) const;
  /// The same with `data.held_out` of the events kept aside.
  env::Environment training(const DataShare& share = {}) const;
  /// Part `number` of `count` is kept aside: of all parts together each event is held out once.
  /// throws: ConfigError when there are more parts than events
  env::Environment fold(std::int64_t number, std::int64_t count) const;

 private:
  struct Channel {
    ChannelPlan plan;
    double weight = 1, held_out = 0;
    bool bootstrap = false;
    data::Dataset events;
  };
  using Kept = std::pair<data::Dataset, data::Dataset>;
  env::Environment view(const std::function<Kept(const Channel& channel)>& split,
                        const DataShare& share) const;

  bool toys_ = false;
  env::ParameterSet parameters_;
  std::vector<Channel> channels_;
  std::uint64_t seed_, data_seed_, bootstrap_seed_;
};

/// What one process alone reads.
LoadedData load_data(const Workload& workload, const DataSettings& settings, std::uint64_t seed);

}  // namespace sagips::problem

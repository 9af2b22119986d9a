#pragma once
#include <cstdint>
#include <optional>

#include "sagips/core/config/config.hpp"

namespace sagips::train {

/// How several ranks train together, beside their exchange.
struct RankConfig {
  /// Where a rank's events come from.
  enum class Data {
    distributed,  ///< rank 0 reads all and sends them; each rank draws its sub-sample
    sharded,      ///< each rank reads rows of its own, for data that one rank cannot hold
  };
  /// Which channels a rank works on.
  enum class Channels {
    all,
    divided,  ///< rank r on channel r mod channels; the exchange brings their gradients together
  };
  Data data = Data::distributed;
  Channels channels = Channels::all;
  std::optional<double> fraction;  ///< of the events for each rank; none: the exchange's own choice
  double timeout_s = 300;

  void fields(core::FieldList& list);
  void timeout_field(core::FieldList& list);  ///< what has nothing to do with events
};

}  // namespace sagips::train

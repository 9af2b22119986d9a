#pragma once
#include <cstdint>
#include <optional>

#include "sagips/core/config.hpp"

namespace sagips::train {

/// How several ranks train together, beside their exchange.
struct RankConfig {
  /// Where a rank's events come from.
  enum class Data {
    distributed,  ///< rank 0 reads all and sends them; each rank draws its sub-sample
    sharded,      ///< each rank reads rows of its own, for data that one rank cannot hold
  };
  Data data = Data::distributed;
  std::optional<double> fraction;  ///< of the events for each rank; none: the exchange's own choice
  double timeout_s = 300;

  void fields(core::FieldList& list);
};

}  // namespace sagips::train

#pragma once
#include <cstdint>
#include <string>

#include "sagips/comm/exchanges.hpp"
#include "sagips/simulate/platform.hpp"

namespace sagips::study {

/// What an exchange says of itself for so many ranks of a platform; nothing is sent for that.
struct ExchangeFacts {
  std::int64_t period = 1;
  bool exact = false;
  bool has_centre = false;  ///< central weights, which take some epochs to be what they then are
  bool through_memory = false;  ///< its ranks read each other's memory: of a node, or one-sided
  double busiest = 0;   ///< messages an epoch of the rank that sends most, of those that were asked
  double messages = 0;  ///< of all ranks together, an epoch; estimated from those of the first node
};

/// throws: ConfigError when it cannot run there, or its settings are wrong
ExchangeFacts exchange_facts(const std::string& name, const comm::ExchangesConfig& config,
                             const simulate::PlatformConfig& platform, std::int64_t ranks,
                             std::int64_t floats);

}  // namespace sagips::study

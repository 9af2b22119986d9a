#pragma once
#include <optional>
#include <string>

#include "sagips/simulate/platform.hpp"

namespace sagips::simulate {

/// The first key of a platform that no cluster can have, and why; for who knows where it was set.
struct PlatformFault {
  std::string key;      ///< dotted, "network.bandwidth"
  std::string message;  ///< names the key, too
};
std::optional<PlatformFault> fault_of(const PlatformConfig& platform);

}  // namespace sagips::simulate

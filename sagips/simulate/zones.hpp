#pragma once
#include <string>
#include <vector>

#include "sagips/simulate/platform.hpp"

namespace sagips::simulate {

/// Builds the cluster inside SimGrid's present Engine, which must hold none yet. The result is the
/// name of the host of each node, in order: neighbours hang on the same router or switch. Cables
/// are full-duplex, a message has a loopback for itself.
/// throws: ConfigError for what no cluster can be
std::vector<std::string> make_zones(const PlatformConfig& platform);

}  // namespace sagips::simulate

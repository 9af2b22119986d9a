#pragma once

namespace sagips::simulate {

/// The files of sagips/simulate/platforms.
extern const char* const polaris_platform;
extern const char* const fat_tree_platform;
extern const char* const ethernet_platform;
extern const char* const one_node_platform;

}  // namespace sagips::simulate

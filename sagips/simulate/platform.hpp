#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sagips/core/config/config.hpp"

namespace sagips::simulate {

/// A cable, each direction by itself.
struct LinkConfig {
  double latency_s = 0;
  double bandwidth = 0;  ///< bytes/s
  void fields(core::FieldList& list);
};

/// Groups of chassis of routers, all-to-all at each level.
/// source: Kim et al., ISCA 2008; SimGrid's <cluster topology="DRAGONFLY">
struct DragonflyConfig {
  std::int64_t groups = 10, links_between_groups = 2;
  std::int64_t chassis = 1, links_between_chassis = 1;   ///< of a group
  std::int64_t routers = 14, links_between_routers = 1;  ///< of a chassis
  std::int64_t nodes = 4;                                ///< of a router
  void fields(core::FieldList& list);
};

/// Switches in levels, the first one above the nodes.
/// source: Leiserson, IEEE Trans. Comp. 34 (1985) 892; SimGrid's <cluster topology="FAT_TREE">
struct FatTreeConfig {
  std::vector<std::int64_t> down = {16, 16};  ///< children of a switch, by level
  std::vector<std::int64_t> up = {1, 16};     ///< parents of a child, by level
  std::vector<std::int64_t> cables = {1, 1};  ///< to each parent, by level
  void fields(core::FieldList& list);
};

/// What moving an array between a GPU and the memory that messages go from costs, each way.
struct CopyConfig {
  double latency_s = 0;
  double bandwidth = 0;  ///< bytes/s; 0: costs nothing (messages go straight from the GPU)
  void fields(core::FieldList& list);
};

/// A cluster to simulate, as a file describes it.
struct PlatformConfig {
  enum class Topology {
    dragonfly,
    fat_tree,
    one_switch,  ///< all nodes on one switch that never blocks
    one_node,
  };
  std::string description;  ///< one line, with the source of its numbers
  Topology topology = Topology::dragonfly;
  std::int64_t ranks_per_node = 4;
  std::int64_t nodes = 0;  ///< of one_switch; the other topologies count theirs
  LinkConfig network;      ///< every cable
  LinkConfig loopback;     ///< between ranks of a node
  DragonflyConfig dragonfly;
  FatTreeConfig fat_tree;
  CopyConfig gpu_copy;
  /// The rate at which a rank reads what another one of its node wrote, and adds to it, bytes/s;
  /// 0: no cost.
  double memory_bandwidth = 0;

  void fields(core::FieldList& list);
  std::int64_t node_count() const;
  std::int64_t most_ranks() const { return node_count() * ranks_per_node; }
  /// throws: ConfigError for what no cluster can be, and for more ranks than it has places
  void check(std::int64_t ranks) const;
};

/// The first key of a platform that no cluster can have, and why; for who knows where it was set.
struct PlatformFault {
  std::string key;      ///< dotted, "network.bandwidth"
  std::string message;  ///< names the key, too
};
std::optional<PlatformFault> fault_of(const PlatformConfig& platform);

/// Reads a platform that comes with the program, by name ("polaris", "fat_tree", "ethernet",
/// "one_node"), or a file of the same form. throws: ConfigError with what, where, what to do
PlatformConfig read_platform(const std::string& name_or_file);
std::vector<std::string> known_platforms();  ///< those names

}  // namespace sagips::simulate

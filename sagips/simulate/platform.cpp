#include "sagips/simulate/platform.hpp"

#include <algorithm>
#include <cstddef>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::simulate {
namespace {

using core::text;
using Topology = PlatformConfig::Topology;

constexpr double most_cables = 1e6;  // some gigabytes of memory

const core::Range count = core::Range::between(1, 1e6);

// Products of counts that somebody typed must not overflow.
constexpr double beyond_all = 1e15;

double product(const std::vector<std::int64_t>& factors, std::size_t begin, std::size_t end) {
  double all = 1;
  for (std::size_t i = begin; i < end; ++i)
    all = std::min(all * static_cast<double>(factors[i]), beyond_all);
  return all;
}

// Level by level: the children of all switches of a level, each with its parents there.
double cables_of(const FatTreeConfig& tree) {
  double all = 0;
  for (std::size_t level = 0; level < tree.down.size(); ++level)
    all += product(tree.down, level, tree.down.size()) * product(tree.up, 0, level + 1) *
           static_cast<double>(tree.cables[level]);
  return all;
}

double cables_of(const DragonflyConfig& dragonfly) {
  const auto groups = static_cast<double>(dragonfly.groups);
  const auto chassis = static_cast<double>(dragonfly.chassis);
  const auto routers = static_cast<double>(dragonfly.routers);
  const double all_routers = groups * chassis * routers;
  return groups * (groups - 1) / 2 + all_routers * (chassis - 1) / 2 +
         all_routers * (routers - 1) / 2 + all_routers * static_cast<double>(dragonfly.nodes);
}

double cables_of(const PlatformConfig& platform) {
  switch (platform.topology) {
    case Topology::dragonfly:
      return cables_of(platform.dragonfly);
    case Topology::fat_tree:
      return cables_of(platform.fat_tree);
    case Topology::one_switch:
      return static_cast<double>(platform.nodes);
    case Topology::one_node:
      return 0;
  }
  return 0;
}

using Fault = std::optional<PlatformFault>;

// The message begins with the key.
template <class... Parts>
PlatformFault fault_at(const std::string& key, const Parts&... parts) {
  return {key, text(key, parts...)};
}

Fault below_one(const std::string& key, std::int64_t value) {
  if (value >= 1) return {};
  return fault_at(key, " is ", value, " (a cluster has one at least). Set 1 or more.");
}

Fault below_one(const std::string& key, const std::vector<std::int64_t>& values) {
  for (const std::int64_t value : values)
    if (Fault fault = below_one(key, value)) return fault;
  return {};
}

Fault fault_of(const std::string& name, const LinkConfig& link) {
  // written so that NaN fails, too
  if (!(link.bandwidth > 0))
    return fault_at(name + ".bandwidth", " is ", link.bandwidth,
                    " (a message would never arrive). Set bytes/s above 0.");
  if (!(link.latency_s >= 0))
    return fault_at(name + ".latency_s", " is ", link.latency_s,
                    " (a message would arrive before it is sent). Set seconds, 0 or more.");
  return {};
}

Fault fault_of(const DragonflyConfig& dragonfly) {
  const std::pair<const char*, std::int64_t> counts[] = {
      {"groups", dragonfly.groups},   {"links_between_groups", dragonfly.links_between_groups},
      {"chassis", dragonfly.chassis}, {"links_between_chassis", dragonfly.links_between_chassis},
      {"routers", dragonfly.routers}, {"links_between_routers", dragonfly.links_between_routers},
      {"nodes", dragonfly.nodes}};
  for (const auto& [name, value] : counts)
    if (Fault fault = below_one(text("dragonfly.", name), value)) return fault;
  // SimGrid hangs the cable to group g on router g of the first chassis, and routes wrongly or
  // crashes where there is none.
  if (dragonfly.groups > dragonfly.routers)
    return fault_at("dragonfly.groups", " is ", dragonfly.groups, " and dragonfly.routers ",
                    dragonfly.routers,
                    " (each group has its cable on a router of its own, in SimGrid). Take as many "
                    "routers a chassis as groups, or more.");
  return {};
}

Fault fault_of(const FatTreeConfig& tree) {
  if (tree.down.empty())
    return fault_at(
        "fat_tree.down",
        " is empty (no switch, no node). List the children of a switch, level by level.");
  if (tree.up.size() != tree.down.size() || tree.cables.size() != tree.down.size())
    return PlatformFault{
        tree.up.size() != tree.down.size() ? "fat_tree.up" : "fat_tree.cables",
        text("fat_tree.down has ", tree.down.size(), " levels, fat_tree.up ", tree.up.size(),
             " and fat_tree.cables ", tree.cables.size(), ". Make them equally long.")};
  if (Fault fault = below_one("fat_tree.down", tree.down)) return fault;
  if (Fault fault = below_one("fat_tree.up", tree.up)) return fault;
  return below_one("fat_tree.cables", tree.cables);
}

Fault fault_of_topology(const PlatformConfig& platform) {
  switch (platform.topology) {
    case Topology::dragonfly:
      return fault_of(platform.dragonfly);
    case Topology::fat_tree:
      return fault_of(platform.fat_tree);
    case Topology::one_switch:
      return below_one("nodes", platform.nodes);
    case Topology::one_node:
      break;
  }
  return {};
}

Fault fault_of_costs(const PlatformConfig& platform) {
  const CopyConfig& copy = platform.gpu_copy;
  if (!(copy.latency_s >= 0) || !(copy.bandwidth >= 0))
    return fault_at("gpu_copy", " is negative. Set seconds and bytes/s, 0 or more.");
  if (copy.latency_s > 0 && copy.bandwidth == 0)
    return fault_at("gpu_copy.latency_s",
                    " is set and gpu_copy.bandwidth is 0 (copies cost nothing then). Set both, or "
                    "neither.");
  if (!(platform.memory_bandwidth >= 0))
    return fault_at("memory_bandwidth", " is negative. Set bytes/s, 0 or more.");
  return {};
}

}  // namespace

Fault fault_of(const PlatformConfig& platform) {
  if (Fault fault = below_one("ranks_per_node", platform.ranks_per_node)) return fault;
  if (Fault fault = fault_of_topology(platform)) return fault;
  if (cables_of(platform) > most_cables)
    return PlatformFault{"topology",
                         text("the platform has ", core::significant(cables_of(platform), 3),
                              " cables (more than ", core::significant(most_cables, 3),
                              " need more memory than a computer has). Describe a smaller one.")};
  // One node has no cables.
  if (platform.topology != Topology::one_node)
    if (Fault fault = fault_of("network", platform.network)) return fault;
  if (Fault fault = fault_of("loopback", platform.loopback)) return fault;
  return fault_of_costs(platform);
}

void LinkConfig::fields(core::FieldList& list) {
  list.add("latency_s", latency_s, "time of an empty message through it, in seconds",
           core::Range::at_least(0));
  list.add("bandwidth", bandwidth, "bytes/s in each direction", core::Range::positive());
}

void DragonflyConfig::fields(core::FieldList& list) {
  list.add("groups", groups,
           "groups, each with a cable to each other one; at most as many as routers", count);
  list.add("links_between_groups", links_between_groups, "cables in parallel between two groups",
           count);
  list.add("chassis", chassis, "chassis of a group", count);
  list.add("links_between_chassis", links_between_chassis,
           "cables in parallel between routers of the same place in two chassis", count);
  list.add("routers", routers, "routers of a chassis", count);
  list.add("links_between_routers", links_between_routers,
           "cables in parallel between two routers of a chassis", count);
  list.add("nodes", nodes, "nodes of a router", count);
}

void FatTreeConfig::fields(core::FieldList& list) {
  list.add("down", down, "children of a switch, level by level, the one above the nodes first",
           count);
  list.add("up", up, "parents of a child in that level", count);
  list.add("cables", cables, "cables in parallel from a child to each of its parents", count);
}

void CopyConfig::fields(core::FieldList& list) {
  list.add("latency_s", latency_s, "what a copy takes beside its bytes, in seconds",
           core::Range::at_least(0));
  list.add("bandwidth", bandwidth, "bytes/s; 0: no copies, messages go straight from the GPU",
           core::Range::at_least(0));
}

void PlatformConfig::fields(core::FieldList& list) {
  list.add("description", description, "one line, with the source of the numbers");
  list.choice("topology", topology,
              {{"dragonfly", Topology::dragonfly},
               {"fat_tree", Topology::fat_tree},
               {"one_switch", Topology::one_switch},
               {"one_node", Topology::one_node}},
              "how nodes are connected");
  list.add("ranks_per_node", ranks_per_node, "ranks on a node, as a rule one a GPU", count);
  list.add("nodes", nodes, "nodes on the switch of one_switch; other topologies count theirs",
           core::Range::between(0, 1e6));
  list.group("network", network, "every cable of the network");
  list.group("loopback", loopback, "between ranks of a node: shared memory or NVLink");
  list.group("dragonfly", dragonfly,
             "sizes of a dragonfly (Kim et al., ISCA 2008; as in SimGrid, minimal routes)");
  list.group(
      "fat_tree", fat_tree,
      "sizes of a fat tree (Leiserson, IEEE Trans. Comp. 34 (1985) 892; destination-mod-k routes)");
  list.group("gpu_copy", gpu_copy, "between a GPU and the memory that messages go from, each way");
  list.add("memory_bandwidth", memory_bandwidth,
           "bytes/s at which a rank adds what another rank of its node wrote; 0: at no cost",
           core::Range::at_least(0));
}

std::int64_t PlatformConfig::node_count() const {
  switch (topology) {
    case Topology::dragonfly: {
      const std::vector<std::int64_t> factors = {dragonfly.groups, dragonfly.chassis,
                                                 dragonfly.routers, dragonfly.nodes};
      return static_cast<std::int64_t>(product(factors, 0, factors.size()));
    }
    case Topology::fat_tree:
      return static_cast<std::int64_t>(product(fat_tree.down, 0, fat_tree.down.size()));
    case Topology::one_switch:
      return nodes;
    case Topology::one_node:
      return 1;
  }
  return 0;
}

void PlatformConfig::check(std::int64_t ranks) const {
  if (const Fault fault = fault_of(*this)) throw core::ConfigError("platform", fault->message);
  if (ranks < 1)
    throw core::ConfigError("platform", text(ranks, " ranks cannot be simulated. Take 1 or more."));
  if (ranks > most_ranks())
    throw core::ConfigError(
        "platform", text(core::with_thousands(ranks), " ranks have no place (",
                         core::with_thousands(node_count()), " nodes of ", ranks_per_node, " hold ",
                         core::with_thousands(most_ranks()),
                         "). Take fewer ranks, or a platform file with more nodes."));
}

}  // namespace sagips::simulate

#include <filesystem>
#include <map>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/simulate/platform.hpp"
#include "sagips/simulate/shipped_platforms.hpp"

namespace sagips::simulate {
namespace {

using core::ConfigDocument;
using core::ConfigError;
using core::text;
using Topology = PlatformConfig::Topology;

struct Shipped {
  const char* name;
  const char* const* yaml;
};

// By pointers to the texts: other sources initialise them.
constexpr Shipped shipped[] = {{"polaris", &polaris_platform},
                               {"fat_tree", &fat_tree_platform},
                               {"ethernet", &ethernet_platform},
                               {"one_node", &one_node_platform}};

const Shipped* find(const std::string& name) {
  for (const Shipped& platform : shipped)
    if (platform.name == name) return &platform;
  return nullptr;
}

std::string how_to_name_one(const std::string& name) {
  const std::string near = core::nearest(name, known_platforms());
  return text("no such platform", near.empty() ? "." : text(", did you mean '", near, "'?"),
              " Name one of these (", core::join(known_platforms(), ", "), ") or a YAML file.");
}

/// Keys that mean nothing in other topologies.
const std::map<std::string, Topology> own_keys = {{"dragonfly", Topology::dragonfly},
                                                  {"fat_tree", Topology::fat_tree},
                                                  {"nodes", Topology::one_switch}};

std::vector<std::string> needed_keys(Topology topology) {
  std::vector<std::string> keys = {"ranks_per_node", "loopback.latency_s", "loopback.bandwidth"};
  if (topology != Topology::one_node)
    keys.insert(keys.end(), {"network.latency_s", "network.bandwidth"});
  for (const auto& [key, owner] : own_keys)
    if (owner == topology) keys.push_back(key);
  return keys;
}

// Defaults would stand in for what was forgotten without a word, and the times would be another
// cluster's.
void check_keys(const ConfigDocument& document, const std::string& origin, Topology topology) {
  if (document.where("topology").empty())
    throw ConfigError(origin,
                      "topology is missing. Set dragonfly, fat_tree, one_switch or one_node.");
  for (const std::string& key : needed_keys(topology))
    if (document.where(key).empty())
      throw ConfigError(origin, text(key,
                                     " is missing (it has no value that fits all clusters). "
                                     "Set it; the shipped platforms show how."));
  for (const auto& [key, owner] : own_keys)
    if (owner != topology && !document.where(key).empty())
      throw ConfigError(
          document.where(key),
          text(key, " says nothing about this topology. Take it out, or set topology."));
}

PlatformConfig platform_from(const ConfigDocument& document, const std::string& origin) {
  PlatformConfig platform = core::read_config(document, PlatformConfig{});
  check_keys(document, origin, platform.topology);
  if (const auto fault = fault_of(platform)) {
    const std::string where = document.where(fault->key);
    throw ConfigError(where.empty() ? origin : where, fault->message);
  }
  // No cables are there; but a config that is written must read back.
  if (platform.topology == Topology::one_node) platform.network = platform.loopback;
  return platform;
}

}  // namespace

std::vector<std::string> known_platforms() {
  std::vector<std::string> names;
  for (const Shipped& platform : shipped) names.emplace_back(platform.name);
  return names;
}

PlatformConfig read_platform(const std::string& name_or_file) {
  if (const Shipped* const known = find(name_or_file))
    return platform_from(ConfigDocument::from_text(*known->yaml, name_or_file), name_or_file);
  const bool looks_like_a_file = name_or_file.find_first_of("./") != std::string::npos;
  if (!looks_like_a_file && !std::filesystem::exists(name_or_file))
    throw ConfigError(name_or_file, how_to_name_one(name_or_file));
  return platform_from(ConfigDocument::from_file(name_or_file), name_or_file);
}

}  // namespace sagips::simulate

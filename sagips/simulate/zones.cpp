#include "sagips/simulate/zones.hpp"

#include <simgrid/s4u.hpp>
#include <utility>

#include "sagips/core/text.hpp"

namespace sagips::simulate {
namespace {

using simgrid::kernel::routing::NetPoint;
using simgrid::s4u::ClusterCallbacks;
using simgrid::s4u::Host;
using simgrid::s4u::Link;
using simgrid::s4u::LinkInRoute;
using simgrid::s4u::NetZone;
using Topology = PlatformConfig::Topology;

constexpr double flops = 1e9;  // nobody computes there: computation is simulated time, given
constexpr auto policy = Link::SharingPolicy::SPLITDUPLEX;
constexpr const char* zone_name = "cluster";

std::string host_name(unsigned long node) { return core::text("node-", node); }

Host* make_host(NetZone* zone, unsigned long node) {
  return zone->create_host(host_name(node), flops)->seal();
}

Link* make_loopback(NetZone* zone, const LinkConfig& loopback, unsigned long node) {
  return zone->create_link(core::text("loopback-", node), loopback.bandwidth)
      ->set_sharing_policy(Link::SharingPolicy::FATPIPE)
      ->set_latency(loopback.latency_s)
      ->seal();
}

using Coordinates = std::vector<unsigned long>;

std::pair<NetPoint*, NetPoint*> make_place(NetZone* zone, const Coordinates&, unsigned long node) {
  NetPoint* const no_gateway = nullptr;
  return {make_host(zone, node)->get_netpoint(), no_gateway};
}

ClusterCallbacks callbacks_for(const LinkConfig& loopback) {
  ClusterCallbacks callbacks(make_place);
  callbacks.loopback = [loopback](NetZone* zone, const Coordinates&, unsigned long node) {
    return make_loopback(zone, loopback, node);
  };
  return callbacks;
}

unsigned whole(std::int64_t value) { return static_cast<unsigned>(value); }

std::vector<unsigned> whole(const std::vector<std::int64_t>& values) {
  return {values.begin(), values.end()};
}

NetZone* make_dragonfly(const PlatformConfig& platform) {
  const DragonflyConfig& sizes = platform.dragonfly;
  return simgrid::s4u::create_dragonfly_zone(
      zone_name, nullptr,
      {{whole(sizes.groups), whole(sizes.links_between_groups)},
       {whole(sizes.chassis), whole(sizes.links_between_chassis)},
       {whole(sizes.routers), whole(sizes.links_between_routers)},
       whole(sizes.nodes)},
      callbacks_for(platform.loopback), platform.network.bandwidth, platform.network.latency_s,
      policy);
}

NetZone* make_fat_tree(const PlatformConfig& platform) {
  const FatTreeConfig& sizes = platform.fat_tree;
  return simgrid::s4u::create_fatTree_zone(
      zone_name, nullptr,
      {static_cast<unsigned>(sizes.down.size()), whole(sizes.down), whole(sizes.up),
       whole(sizes.cables)},
      callbacks_for(platform.loopback), platform.network.bandwidth, platform.network.latency_s,
      policy);
}

// Nodes with a cable each to a switch that has room for all; one node has no cable.
NetZone* make_star(const PlatformConfig& platform) {
  NetZone* const zone = simgrid::s4u::create_star_zone(zone_name);
  for (std::int64_t i = 0; i < platform.node_count(); ++i) {
    const auto node = static_cast<unsigned long>(i);
    NetPoint* const place = make_host(zone, node)->get_netpoint();
    const Link* const loopback = make_loopback(zone, platform.loopback, node);
    zone->add_route(place, place, nullptr, nullptr, {LinkInRoute(loopback)});
    if (platform.topology == Topology::one_node) continue;
    const Link* const cable =
        zone->create_split_duplex_link(core::text("cable-", node), platform.network.bandwidth)
            ->set_latency(platform.network.latency_s)
            ->seal();
    zone->add_route(place, nullptr, nullptr, nullptr,
                    {LinkInRoute(cable, LinkInRoute::Direction::UP)}, true);
  }
  return zone;
}

NetZone* make_zone(const PlatformConfig& platform) {
  switch (platform.topology) {
    case Topology::dragonfly:
      return make_dragonfly(platform);
    case Topology::fat_tree:
      return make_fat_tree(platform);
    case Topology::one_switch:
    case Topology::one_node:
      break;
  }
  return make_star(platform);
}

}  // namespace

std::vector<std::string> make_zones(const PlatformConfig& platform) {
  platform.check(1);
  make_zone(platform)->seal();
  std::vector<std::string> hosts;
  for (std::int64_t node = 0; node < platform.node_count(); ++node)
    hosts.push_back(host_name(static_cast<unsigned long>(node)));
  return hosts;
}

}  // namespace sagips::simulate

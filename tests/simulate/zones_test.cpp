#include "sagips/simulate/zones.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <functional>
#include <simgrid/s4u.hpp>
#include <utility>

#include "sagips/core/text.hpp"
#include "tests/core/temporary_folder.hpp"

namespace sagips::simulate {
namespace {

namespace s4u = simgrid::s4u;
using Hosts = std::vector<s4u::Host*>;
using Make = std::function<Hosts(s4u::Engine&)>;
using Measure = std::function<std::vector<double>(const Hosts&)>;
using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;

constexpr std::uint64_t bytes = 204'824;

// The numbers that a process of its own finds: there is one simulation in the life of a process.
std::vector<double> in_child(const std::function<std::vector<double>()>& find) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe");
  const pid_t child = fork();
  if (child == 0) {
    try {
      for (const double number : find())
        if (write(ends[1], &number, sizeof number) != sizeof number) _exit(1);
      _exit(0);
    } catch (const std::exception& failure) {
      std::fprintf(stderr, "%s\n", failure.what());
      _exit(1);
    }
  }
  close(ends[1]);
  std::vector<double> numbers;
  for (double number = 0; read(ends[0], &number, sizeof number) == sizeof number;)
    numbers.push_back(number);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  return numbers;
}

// A network of cables with latency and bandwidth and nothing else; one actor measures.
std::vector<double> simulated(const Make& make, const Measure& measure) {
  return in_child([&] {
    int count = 2;
    std::string name = "zones_test", quiet = "--log=root.thresh:warning";
    char* arguments[] = {name.data(), quiet.data(), nullptr};
    s4u::Engine engine(&count, arguments);
    s4u::Engine::set_config("network/model:CM02");
    s4u::Engine::set_config("network/TCP-gamma:0");
    s4u::Engine::set_config("network/crosstraffic:0");
    s4u::Engine::set_config("surf/precision:1e-12");
    const Hosts hosts = make(engine);
    std::vector<double> numbers;
    s4u::Actor::create("measure", hosts.at(0), [&] { numbers = measure(hosts); });
    engine.run();
    return numbers;
  });
}

Make zones(const PlatformConfig& platform) {
  return [platform](s4u::Engine& engine) {
    Hosts hosts;
    for (const std::string& name : make_zones(platform)) hosts.push_back(engine.host_by_name(name));
    return hosts;
  };
}

double seconds_of(const std::function<void()>& action) {
  const double begin = s4u::Engine::get_clock();
  action();
  return s4u::Engine::get_clock() - begin;
}

// One message after the other.
Measure messages(const Pairs& pairs) {
  return [pairs](const Hosts& hosts) {
    std::vector<double> times;
    for (const auto& [from, to] : pairs)
      times.push_back(seconds_of(
          [&, f = from, t = to] { s4u::Comm::sendto(hosts.at(f), hosts.at(t), bytes); }));
    return times;
  };
}

// All at once: how long until the last has arrived, when every node sends so many nodes on?
Measure shifts(const std::vector<std::size_t>& distances) {
  return [distances](const Hosts& hosts) {
    std::vector<double> times;
    for (const std::size_t distance : distances)
      times.push_back(seconds_of([&] {
        std::vector<s4u::CommPtr> all;
        for (std::size_t node = 0; node < hosts.size(); ++node)
          all.push_back(
              s4u::Comm::sendto_async(hosts[node], hosts[(node + distance) % hosts.size()], bytes));
        s4u::Comm::wait_all(all);
      }));
    return times;
  };
}

// The platform that published simulations of the exchanges ran on, as SimGrid reads it from a file.
Make polaris_as_file() {
  return [](s4u::Engine& engine) {
    const testing::TemporaryFolder folder;
    engine.load_platform(folder.make("polaris.xml", R"(<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="w" routing="Full">
<cluster id="p" prefix="file-" suffix="" radical="0-559" speed="1Gf" bw="50GBps" lat="0.5us"
 topology="DRAGONFLY" topo_parameters="10,2;1,1;14,1;4" loopback_bw="75GBps" loopback_lat="1us"
 sharing_policy="SPLITDUPLEX"/></zone></platform>)"));
    Hosts hosts;
    for (int node = 0; node < 560; ++node)
      hosts.push_back(engine.host_by_name("file-" + std::to_string(node)));
    return hosts;
  };
}

void expect_times(const std::vector<double>& times, const std::vector<double>& expected) {
  ASSERT_EQ(times.size(), expected.size());
  for (std::size_t i = 0; i < times.size(); ++i)
    EXPECT_NEAR(times[i], expected[i], 1e-9 * expected[i]) << i;
}

// Same node, same router, other router, other groups near and far from the cable between them.
TEST(Zones, OfPolarisTakeTheTimesOfSimGridsOwnFile) {
  const Pairs pairs = {{0, 0}, {0, 1}, {0, 4}, {7, 55}, {0, 56}, {3, 255}, {559, 0}, {300, 301}};
  const PlatformConfig polaris = read_platform("polaris");
  const std::vector<double> times = simulated(zones(polaris), messages(pairs));
  expect_times(times, simulated(polaris_as_file(), messages(pairs)));
  const double wire = bytes / 50e9;
  ASSERT_EQ(times.size(), pairs.size());
  EXPECT_NEAR(times[0], 1e-6 + bytes / 75e9, 1e-12);
  EXPECT_NEAR(times[1], 2 * 0.5e-6 + wire, 1e-12);
  EXPECT_NEAR(times[2], 3 * 0.5e-6 + wire, 1e-12);
  EXPECT_NEAR(times[5], 5 * 0.5e-6 + wire, 1e-12);
}

TEST(Zones, OfPolarisShareCablesAsSimGridsOwnFileDoes) {
  const std::vector<std::size_t> distances = {0, 1, 4, 17, 56, 280};
  const std::vector<double> times = simulated(zones(read_platform("polaris")), shifts(distances));
  expect_times(times, simulated(polaris_as_file(), shifts(distances)));
  // 56 messages over the one pair of cables between two groups, or each by itself
  ASSERT_EQ(times.size(), distances.size());
  EXPECT_GT(times[4], 10 * times[1]);
}

TEST(Zones, OfATreeTakeTwoCablesBelowALeafSwitchAndFourAbove) {
  const PlatformConfig tree = read_platform("fat_tree");
  const double wire = bytes / 25e9;
  expect_times(simulated(zones(tree), messages({{5, 5}, {0, 15}, {0, 16}, {3, 255}})),
               {1e-6 + bytes / 75e9, 2 * 0.3e-6 + wire, 4 * 0.3e-6 + wire, 4 * 0.3e-6 + wire});
}

// 16 nodes of a leaf switch send to the next one: 16 spine switches carry all of it, one takes 16 times.
TEST(Zones, OfATreeAreAsWideAsTheirSpine) {
  PlatformConfig tree = read_platform("fat_tree");
  const double wire = bytes / 25e9;
  expect_times(simulated(zones(tree), shifts({16})), {4 * 0.3e-6 + wire});
  tree.fat_tree.up = {1, 1};
  expect_times(simulated(zones(tree), shifts({16})), {4 * 0.3e-6 + 16 * wire});
  tree.fat_tree.cables = {1, 16};
  expect_times(simulated(zones(tree), shifts({16})), {4 * 0.3e-6 + wire});
}

TEST(Zones, OfASwitchTakeTwoCablesAndNeverBlock) {
  const PlatformConfig ethernet = read_platform("ethernet");
  const double between = 2 * 24e-6 + bytes / 3.125e9;
  expect_times(simulated(zones(ethernet), messages({{0, 0}, {0, 1}, {127, 3}})),
               {1e-6 + bytes / 75e9, between, between});
  expect_times(simulated(zones(ethernet), shifts({1, 64})), {between, between});
}

TEST(Zones, OfOneNodeAreItsLoopback) {
  expect_times(simulated(zones(read_platform("one_node")), messages({{0, 0}})),
               {2e-6 + bytes / 375e9});
}

TEST(Zones, TakeNoLatency) {
  PlatformConfig platform = read_platform("fat_tree");
  platform.network.latency_s = platform.loopback.latency_s = 0;
  expect_times(simulated(zones(platform), messages({{0, 0}, {0, 16}})),
               {bytes / 75e9, bytes / 25e9});
}

std::vector<double> microseconds(const std::string& name, const Pairs& pairs) {
  std::vector<double> times = simulated(zones(read_platform(name)), messages(pairs));
  for (double& time : times) time *= 1e6;
  return times;
}

TEST(Zones, OfShippedPlatformsTakeTheTimesInTheGuide) {
  const auto expect_shown = [](const std::vector<double>& times,
                               const std::vector<std::string>& shown, int digits) {
    ASSERT_EQ(times.size(), shown.size());
    for (std::size_t i = 0; i < times.size(); ++i)
      EXPECT_EQ(core::fixed(times[i], digits), shown[i]);
  };
  expect_shown(microseconds("polaris", {{0, 0}, {0, 1}, {3, 255}}), {"3.7", "5.1", "6.6"}, 1);
  expect_shown(microseconds("fat_tree", {{0, 0}, {0, 1}, {0, 16}}), {"3.7", "8.8", "9.4"}, 1);
  expect_shown(microseconds("ethernet", {{0, 1}}), {"114"}, 0);
  expect_shown(microseconds("one_node", {{0, 0}}), {"2.5"}, 1);
}

// What the check lets pass at its limit has a way for every pair: at most up, router, group, router,
// down and a change of chassis in both groups.
TEST(Zones, OfADragonflyWithAsManyGroupsAsRoutersConnectAll) {
  PlatformConfig platform = read_platform("polaris");
  for (const std::int64_t groups : {1, 2, 5}) {
    platform.dragonfly = {groups, 1, 2, 1, 5, 1, 2};
    const auto cables = simulated(zones(platform), [](const Hosts& hosts) {
      std::vector<double> counts;
      for (const s4u::Host* from : hosts)
        for (const s4u::Host* to : hosts) {
          std::vector<s4u::Link*> links;
          double latency = 0;
          from->route_to(to, links, &latency);
          counts.push_back(static_cast<double>(links.size()));
        }
      return counts;
    });
    const auto nodes = static_cast<std::size_t>(groups) * 20;
    ASSERT_EQ(cables.size(), nodes * nodes);
    for (std::size_t i = 0; i < cables.size(); ++i) {
      EXPECT_GE(cables[i], i / nodes == i % nodes ? 1 : 2);
      EXPECT_LE(cables[i], 7);
    }
  }
}

}  // namespace
}  // namespace sagips::simulate

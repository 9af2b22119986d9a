#include "sagips/comm/logical_clock.hpp"

#include <algorithm>

#include "sagips/core/text.hpp"

namespace sagips::comm {

std::uint64_t tick(std::uint64_t clock, std::int64_t epoch) {
  return std::max(clock + 1, static_cast<std::uint64_t>(std::max<std::int64_t>(epoch, 0)));
}

bool is_fresh(std::uint64_t stamp, std::uint64_t now, std::int64_t max_age, Freshness& freshness) {
  if (stamp == 0) {
    ++freshness.missing;
    return false;
  }
  const std::uint64_t age = stamp >= now ? 0 : now - stamp;
  if (age > static_cast<std::uint64_t>(max_age)) {
    ++freshness.dropped;
    return false;
  }
  ++freshness.used;
  freshness.age_sum += static_cast<double>(age);
  freshness.age_maximum = std::max(freshness.age_maximum, static_cast<double>(age));
  return true;
}

std::uint64_t clock_from(const State& state, const std::string& name) {
  const auto found = state.find(name);
  if (found == state.end() || found->second.size() != 1)
    throw core::StateError(core::text("the state of the exchange is missing '", name, "'."));
  return static_cast<std::uint64_t>(found->second.front());
}

}  // namespace sagips::comm

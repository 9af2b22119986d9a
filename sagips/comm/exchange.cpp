#include "sagips/comm/exchange.hpp"

#include <algorithm>
#include <numeric>

#include "sagips/core/text.hpp"

namespace sagips::comm {

void give_floats(State& state, const std::string& name, std::span<const float> values) {
  state[name] = {values.begin(), values.end()};
}

void take_floats(const State& state, const std::string& name, std::span<float> into) {
  const auto found = state.find(name);
  if (found == state.end() || found->second.size() != into.size())
    throw core::StateError(core::text("the state of the exchange is missing '", name, "'."));
  std::transform(found->second.begin(), found->second.end(), into.begin(),
                 [](double value) { return static_cast<float>(value); });
}

Task Exchange::mix_weights(ReplicaView, Step) { co_return; }

Freshness& Freshness::operator+=(const Freshness& other) {
  used += other.used;
  dropped += other.dropped;
  missing += other.missing;
  age_sum += other.age_sum;
  age_maximum = std::max(age_maximum, other.age_maximum);
  return *this;
}

bool Exchange::ever_waits(int rank) const {
  if (!promise().waits) return false;
  for (std::int64_t epoch = 1; epoch <= period(); ++epoch)
    for (const int partner : partners({epoch}))
      if (partner != rank) return true;
  return false;
}

std::vector<int> Site::all_ranks() const {
  std::vector<int> ranks(static_cast<std::size_t>(communicator->size()));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

}  // namespace sagips::comm

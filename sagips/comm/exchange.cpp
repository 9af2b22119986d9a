#include "sagips/comm/exchange.hpp"

#include <algorithm>
#include <numeric>

#include "sagips/core/text.hpp"

namespace sagips::comm {

void give_floats(State& state, const std::string& name, std::span<const float> values) {
  state[name] = {values.begin(), values.end()};
}

const std::vector<double>& numbers_of(const State& state, const std::string& name,
                                      std::size_t count) {
  const auto found = state.find(name);
  if (found == state.end() || found->second.size() != count)
    throw core::StateError(core::text("the state of the exchange is missing '", name, "'."));
  return found->second;
}

void take_floats(const State& state, const std::string& name, std::span<float> into) {
  const std::vector<double>& numbers = numbers_of(state, name, into.size());
  std::transform(numbers.begin(), numbers.end(), into.begin(),
                 [](double value) { return static_cast<float>(value); });
}

State part_of(const State& state, const std::string& name) {
  const std::string prefix = name + ".";
  State part;
  for (const auto& field : state)
    if (field.first.rfind(prefix, 0) == 0) part[field.first.substr(prefix.size())] = field.second;
  return part;
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

#include "sagips/comm/exchange.hpp"

#include <algorithm>
#include <numeric>

namespace sagips::comm {

Task Exchange::mix_weights(ReplicaView, Step) { co_return; }

void Exchange::give_state(State& into) {
  auto list = StateList::giving(into);
  state(list);
}

void Exchange::take_state(const State& from) {
  auto list = StateList::taking(from);
  state(list);
}

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

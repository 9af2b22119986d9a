#include "sagips/study/simulated/exchange_facts.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <set>

#include "sagips/study/idle_communicator.hpp"

namespace sagips::study {

namespace {

double messages_of_epoch(const comm::Exchange& exchange, std::int64_t floats) {
  comm::Cost sum;
  for (std::int64_t epoch = 1; epoch <= exchange.period(); ++epoch)
    sum += exchange.cost(static_cast<std::size_t>(floats), {epoch});
  return static_cast<double>(sum.messages) / static_cast<double>(exchange.period());
}

}  // namespace

ExchangeFacts exchange_facts(const std::string& name, const comm::ExchangesConfig& config,
                             const simulate::PlatformConfig& platform, std::int64_t ranks,
                             std::int64_t floats) {
  const std::int64_t first_node = std::min(ranks, platform.ranks_per_node);
  std::set<std::int64_t> asked{ranks / 2, ranks - 1};
  for (std::int64_t rank = 0; rank < first_node; ++rank) asked.insert(rank);
  ExchangeFacts facts;
  for (const std::int64_t rank : asked) {
    IdleCommunicator idle(rank, ranks, platform.ranks_per_node);
    const comm::Site site{.communicator = &idle, .floats = static_cast<std::size_t>(floats)};
    const auto exchange = comm::make_exchange(name, config, site, "simulate.exchanges");
    double messages = messages_of_epoch(*exchange, floats);
    // the library does not say what it sends; some logarithm of the ranks
    if (comm::known_exchanges().get(name, "simulate.exchanges").is_of_library)
      messages *= 2 * std::log2(static_cast<double>(ranks));
    facts.period = exchange->period();
    facts.exact = exchange->promise().is_whole_mean();
    facts.has_centre = exchange->central_weights() != nullptr;
    facts.through_memory = facts.through_memory || idle.shares();
    facts.busiest = std::max(facts.busiest, messages);
    if (rank < first_node)
      facts.messages += messages * static_cast<double>(ranks) / static_cast<double>(first_node);
  }
  return facts;
}

}  // namespace sagips::study

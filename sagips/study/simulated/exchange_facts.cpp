#include "sagips/study/simulated/exchange_facts.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <set>

#include "sagips/core/error.hpp"

namespace sagips::study {

namespace {

/// Says where its ranks sit, and carries nothing.
class IdleMemory final : public comm::Memory {
 public:
  IdleMemory(const std::vector<int>& nodes, int rank) : nodes_(nodes), rank_(rank) {}
  // never written or read: who asks only wants to know whether there is one
  std::byte* block(int rank) override { return at(rank) == at(rank_) ? &nothing_ : nullptr; }
  void fetch(int, std::size_t, std::span<std::byte>) override {}
  void store(std::size_t, std::span<const std::byte>) override {}
  void publish() override {}

 private:
  int at(int rank) const { return nodes_[static_cast<std::size_t>(rank)]; }

  const std::vector<int>& nodes_;
  int rank_;
  std::byte nothing_{};
};

class IdleCommunicator final : public comm::Communicator {
 public:
  IdleCommunicator(int rank, int size, int ranks_per_node) : Communicator(rank, size) {
    for (int r = 0; r < size; ++r) nodes_.push_back(r / ranks_per_node);
  }
  comm::Request send(int, int, std::span<const std::byte>) override { return {}; }
  comm::Request receive(int, int, std::span<std::byte>) override { return {}; }
  comm::Request all_reduce(std::span<const float>, std::span<float>) override { return {}; }
  void all_gather(std::span<const std::byte>, std::span<std::byte>) override {}
  std::unique_ptr<comm::Memory> share(std::size_t) override {
    shares_ = true;
    return std::make_unique<IdleMemory>(nodes_, rank());
  }
  bool shares() const { return shares_; }
  void abort(int) override { throw core::Error("a rank that does nothing cannot fail."); }
  std::string description() const override { return "nothing"; }

 private:
  bool test(std::uint64_t) override { return true; }
  void forget(std::uint64_t) noexcept override {}

  bool shares_ = false;
};

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
    IdleCommunicator idle(static_cast<int>(rank), static_cast<int>(ranks),
                          static_cast<int>(platform.ranks_per_node));
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

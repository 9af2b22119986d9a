#pragma once
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "tests/comm/kit.hpp"

namespace sagips::comm::testing {

/// Ranks in one thread that are polled in turns and leave a diary of what they send.
///
/// Nothing depends on time: a message that is sent in one sweep over the ranks arrives in the next,
/// so the sweeps in which something is sent are the rounds of an algorithm. What a rank reads of
/// another's memory goes through `fetch`, where it is seen, unless memory is `mapped`. The ranks'
/// clock stands still unless a test sets it.
struct LockstepTeam {
  struct Transfer {
    enum class Kind { message, read, library, look };
    Kind kind = Kind::message;
    int sweep = 0;
    int from = -1, to = -1;  ///< -1: the library
    std::size_t bytes = 0;   ///< 0 for a look into mapped memory, which is not counted
  };
  struct Message {
    int sweep;
    std::vector<std::byte> bytes;
  };
  using Blocks = std::vector<std::vector<float>>;

  explicit LockstepTeam(std::vector<int> chosen, bool maps = false)
      : nodes(std::move(chosen)), mapped(maps) {}
  int size() const { return static_cast<int>(nodes.size()); }

  const std::vector<int> nodes;
  const bool mapped;
  int sweep = 0;
  std::int64_t clock_ns = 0;
  std::vector<Transfer> diary;
  std::map<std::tuple<int, int, int>, std::vector<Message>> channels;  // from, to, tag
  std::map<int, std::vector<std::vector<float>>> sums;                 // by number of the call
  std::map<int, std::unique_ptr<Blocks>> memories;                     // by number of the call
};

class LockstepMemory final : public Memory {
 public:
  LockstepMemory(LockstepTeam& team, LockstepTeam::Blocks& blocks, int rank)
      : team_(team), blocks_(blocks), rank_(rank) {}
  std::byte* block(int rank) override {
    const auto own = static_cast<std::size_t>(rank_), other = static_cast<std::size_t>(rank);
    if (rank == rank_) return start(rank);
    if (!team_.mapped || team_.nodes[own] != team_.nodes[other]) return nullptr;
    team_.diary.push_back({LockstepTeam::Transfer::Kind::look, team_.sweep, rank, rank_, 0});
    return start(rank);
  }
  void fetch(int rank, std::size_t offset, std::span<std::byte> into) override {
    team_.diary.push_back(
        {LockstepTeam::Transfer::Kind::read, team_.sweep, rank, rank_, into.size()});
    std::memcpy(into.data(), start(rank) + offset, into.size());
  }
  void store(std::size_t offset, std::span<const std::byte> values) override {
    std::memcpy(start(rank_) + offset, values.data(), values.size());
  }
  void publish() override {}

 private:
  // Aligned to a cache line within a vector that is a line longer.
  std::byte* start(int rank) const {
    auto& block = blocks_[static_cast<std::size_t>(rank)];
    void* first = block.data();
    std::size_t space = block.size() * sizeof(float);
    return static_cast<std::byte*>(std::align(64, 1, first, space));
  }

  LockstepTeam& team_;
  LockstepTeam::Blocks& blocks_;
  int rank_;
};

class LockstepCommunicator final : public Communicator {
 public:
  /// What happens between two looks of a rank that waits; without it, nothing would ever come.
  std::function<void()> while_waiting;

  LockstepCommunicator(LockstepTeam& team, int rank)
      : Communicator(rank, team.size()), team_(team) {
    nodes_ = team.nodes;
  }

  /// Buffered: over at once, so that a round does not depend on who is polled first.
  Request send(int to, int tag, std::span<const std::byte> message) override {
    team_.diary.push_back({Kind::message, team_.sweep, rank(), to, message.size()});
    team_.channels[{rank(), to, tag}].push_back({team_.sweep, {message.begin(), message.end()}});
    return {};
  }
  Request receive(int from, int tag, std::span<std::byte> message) override {
    const std::size_t number = received_[{from, tag}]++;
    return later([this, from, tag, number, message] {
      const auto& sent = team_.channels[{from, rank(), tag}];
      if (sent.size() <= number || sent[number].sweep >= team_.sweep) return false;
      if (!message.empty()) std::memcpy(message.data(), sent[number].bytes.data(), message.size());
      return true;
    });
  }
  Request all_reduce(std::span<const float> values, std::span<float> sum) override {
    team_.diary.push_back({Kind::library, team_.sweep, rank(), -1, values.size_bytes()});
    const int call = reduced_++;
    team_.sums[call].emplace_back(values.begin(), values.end());
    return later([this, call, sum] {
      const auto& parts = team_.sums[call];
      if (static_cast<int>(parts.size()) < size()) return false;
      std::fill(sum.begin(), sum.end(), 0.0F);
      for (const auto& part : parts)
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += part[i];
      return true;
    });
  }
  void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) override {
    if (size() > 1)
      throw CommError("ranks in lockstep cannot wait within a call, as all_gather does.");
    std::copy(mine.begin(), mine.end(), all.begin());
  }
  std::unique_ptr<Memory> share(std::size_t bytes) override {
    auto& blocks = team_.memories[shared_++];
    if (!blocks) {
      const std::vector<float> zeros(bytes / sizeof(float) + 32);
      blocks = std::make_unique<LockstepTeam::Blocks>(static_cast<std::size_t>(size()), zeros);
    }
    return std::make_unique<LockstepMemory>(team_, *blocks, rank());
  }
  std::int64_t now_ns() const override { return team_.clock_ns; }
  void pause(std::int64_t look) override {
    while_waiting ? while_waiting() : Communicator::pause(look);
  }
  void abort(int exit_code) override { std::_Exit(exit_code); }
  std::string description() const override { return "lockstep"; }

 private:
  using Kind = LockstepTeam::Transfer::Kind;

  Request later(std::function<bool()> attempt) {
    pending_[++handles_] = std::move(attempt);
    return {*this, handles_};
  }
  bool test(std::uint64_t handle) override {
    const auto found = pending_.find(handle);
    if (!found->second()) return false;
    pending_.erase(found);
    return true;
  }
  void forget(std::uint64_t handle) noexcept override { pending_.erase(handle); }

  LockstepTeam& team_;
  std::map<std::uint64_t, std::function<bool()>> pending_;
  std::map<std::pair<int, int>, std::size_t> received_;  // from, tag
  std::uint64_t handles_ = 0;
  int reduced_ = 0, shared_ = 0;
};

/// A team whose ranks share a node and its memory, with what each of them needs.
struct LockstepNode {
  explicit LockstepNode(std::vector<int> nodes, const Timeout::Config& timeout = {})
      : team(std::move(nodes), true) {
    for (int rank = 0; rank < team.size(); ++rank) {
      communicators.push_back(std::make_unique<LockstepCommunicator>(team, rank));
      kits.push_back(std::make_unique<Kit>(*communicators.back(), timeout));
    }
  }
  LockstepCommunicator& communicator(std::size_t rank) { return *communicators[rank]; }
  Kit& kit(std::size_t rank) { return *kits[rank]; }

  LockstepTeam team;
  std::vector<std::unique_ptr<LockstepCommunicator>> communicators;
  std::vector<std::unique_ptr<Kit>> kits;
};

/// A team with its communicators and an exchange on each rank.
struct LockstepExchange {
  LockstepTeam team;
  std::vector<std::unique_ptr<LockstepCommunicator>> communicators;
  std::vector<std::unique_ptr<Exchange>> ranks;

  LockstepExchange(const std::string& name, const ExchangesConfig& config, std::vector<int> nodes,
                   std::size_t floats, bool mapped)
      : team(std::move(nodes), mapped) {
    for (int rank = 0; rank < team.size(); ++rank) {
      communicators.push_back(std::make_unique<LockstepCommunicator>(team, rank));
      Site site;
      site.communicator = communicators.back().get();
      site.floats = floats;
      ranks.push_back(make_exchange(name, config, site));
    }
    team.diary.clear();
  }
};

/// Nodes of `per_node` consecutive ranks.
inline std::vector<int> nodes_of(int ranks, int per_node) {
  std::vector<int> nodes;
  for (int rank = 0; rank < ranks; ++rank) nodes.push_back(rank / per_node);
  return nodes;
}

/// A setting of an exchange that has a row or a picture of its own.
struct Variant {
  std::string name;      ///< as registered
  std::string settings;  ///< what differs from the defaults: "form: one_sided"
  ExchangesConfig config;
};

/// All registered exchanges in the order of the documents, but for `auto`, which measures.
inline std::vector<Variant> variants() {
  std::vector<Variant> all;
  const auto add = [&](const std::string& name, const std::string& settings = "",
                       const std::function<void(ExchangesConfig&)>& change = {}) {
    all.push_back({name, settings, {}});
    if (change) change(all.back().config);
  };
  for (const char* name :
       {"none", "ensemble", "ring", "arar", "chunked_ring", "recursive_doubling", "rabenseifner",
        "double_tree", "lanes", "shared_node", "all_reduce", "compressed"})
    add(name);
  add("compressed", "form: top_k",
      [](ExchangesConfig& config) { config.compressed.form = Compressed::Form::top_k; });
  for (const char* name : {"adasum", "rma_ring", "gossip"}) add(name);
  add("gossip", "form: one_sided",
      [](ExchangesConfig& config) { config.gossip.form = Gossip::Form::one_sided; });
  add("arar_arar");
  add("rma_arar_arar");
  add("grouped", "rule: inner_then_outer");
  add("grouped", "rule: inner_then_outer_then_broadcast", [](ExchangesConfig& config) {
    config.grouped.rule = Grouped::Rule::inner_then_outer_then_broadcast;
  });
  add("grouped", "rule: outer_only",
      [](ExchangesConfig& config) { config.grouped.rule = Grouped::Rule::outer_only; });
  add("grouped", "inner: shared_node, outer: rabenseifner", [](ExchangesConfig& config) {
    config.grouped.inner = "shared_node";
    config.grouped.outer = "rabenseifner";
  });
  add("averaged");
  add("served");
  add("served", "owners: master",
      [](ExchangesConfig& config) { config.served.owners = Served::Owners::master; });
  return all;
}

}  // namespace sagips::comm::testing

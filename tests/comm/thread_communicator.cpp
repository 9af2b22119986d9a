#include "tests/comm/thread_communicator.hpp"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>
#include <mutex>
#include <new>
#include <thread>

#include "sagips/core/random.hpp"
#include "sagips/core/text.hpp"

namespace sagips::comm {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t cache_line = 64;

struct FreeBlock {
  void operator()(std::byte* block) const {
    ::operator delete[](block, std::align_val_t(cache_line));
  }
};
using Block = std::unique_ptr<std::byte[], FreeBlock>;

Block make_block(std::size_t bytes) {
  const std::size_t size = std::max<std::size_t>(bytes, 1);
  auto* block = static_cast<std::byte*>(::operator new[](size, std::align_val_t(cache_line)));
  std::memset(block, 0, size);
  return Block(block);
}

// Not copied before it is received: who changes a message on its way is found out.
struct Message {
  std::span<const std::byte> bytes;
  Clock::time_point visible;
  std::shared_ptr<bool> taken;
};

// Messages from one rank to another under one tag, each under the number in which it was sent.
struct Channel {
  std::map<std::uint64_t, Message> messages;
  std::uint64_t sent = 0, wanted = 0;
};

struct Sum {
  std::map<int, std::vector<float>> parts;  // by rank, so that all add in the same order
  int taken = 0;
};

struct SharedBlock {
  Block bytes;
  std::mutex mutex;  // held while a block is stored to or fetched from, as a network layer would
};

struct Team {
  explicit Team(const ThreadTeamConfig& chosen, std::shared_ptr<Team> whole = nullptr)
      : config(chosen), larger(std::move(whole)) {}

  const ThreadTeamConfig config;
  const std::shared_ptr<Team> larger;  // the one this is a part of; empty: none
  std::mutex mutex;
  std::map<std::tuple<int, int, int>, Channel> channels;  // from, to, tag
  std::map<std::uint64_t, Sum> sums;                      // by number of the call
  std::map<std::uint64_t, std::vector<std::unique_ptr<SharedBlock>>>
      memories;  // by number of the call
  std::map<std::uint64_t, std::map<int, std::vector<std::byte>>> gathers;
  std::map<std::pair<std::uint64_t, int>, std::weak_ptr<Team>>
      parts;                    // by number of the call, colour
  std::atomic<int> failed{-1};  // the rank that threw first
};

class TeamMemory final : public Memory {
 public:
  TeamMemory(std::vector<std::unique_ptr<SharedBlock>>& blocks, const std::vector<int>& nodes,
             int rank)
      : blocks_(blocks), nodes_(nodes), rank_(static_cast<std::size_t>(rank)) {}
  std::byte* block(int rank) override {
    const auto other = static_cast<std::size_t>(rank);
    return nodes_[other] == nodes_[rank_] ? blocks_[other]->bytes.get() : nullptr;
  }
  void fetch(int rank, std::size_t offset, std::span<std::byte> into) override {
    SharedBlock& block = *blocks_[static_cast<std::size_t>(rank)];
    const std::lock_guard lock(block.mutex);
    auto* words = reinterpret_cast<std::uint32_t*>(block.bytes.get() + offset);
    for (std::size_t i = 0; i < into.size() / 4; ++i) {
      const std::uint32_t word = std::atomic_ref(words[i]).load(std::memory_order_acquire);
      std::memcpy(into.data() + 4 * i, &word, 4);
    }
  }
  void store(std::size_t offset, std::span<const std::byte> values) override {
    SharedBlock& block = *blocks_[rank_];
    const std::lock_guard lock(block.mutex);
    if (!values.empty()) std::memcpy(block.bytes.get() + offset, values.data(), values.size());
  }
  void publish() override {}

 private:
  std::vector<std::unique_ptr<SharedBlock>>& blocks_;
  const std::vector<int>& nodes_;
  std::size_t rank_;
};

class ThreadCommunicator final : public Communicator {
 public:
  ThreadCommunicator(std::shared_ptr<Team> team, int rank)
      : Communicator(rank, team->config.ranks), owner_(std::move(team)), team_(*owner_) {
    nodes_ = team_.config.nodes;
    if (nodes_.empty()) nodes_.assign(static_cast<std::size_t>(size()), 0);
    oversubscribed_ = size() > static_cast<int>(std::thread::hardware_concurrency());
  }

  Request send(int to, int tag, std::span<const std::byte> message) override {
    const std::lock_guard lock(team_.mutex);
    Channel& channel = team_.channels[{rank(), to, tag}];
    auto taken = std::make_shared<bool>(false);
    const std::uint64_t number = channel.sent++;
    channel.messages[number] = {message, Clock::now() + delay(), taken};
    Request request = later([taken] { return *taken; });
    withdrawals_[handles_] = [&channel, number] { channel.messages.erase(number); };
    return request;
  }

  Request receive(int from, int tag, std::span<std::byte> message) override {
    const std::lock_guard lock(team_.mutex);
    Channel& channel = team_.channels[{from, rank(), tag}];
    const std::uint64_t number = channel.wanted++;
    return later([this, &channel, number, message] {
      const auto found = channel.messages.find(number);
      if (found == channel.messages.end() || found->second.visible > Clock::now()) return false;
      if (found->second.bytes.size() != message.size())
        throw CommError(core::text("rank ", rank(), " expected ", message.size(),
                                   " bytes and was sent ", found->second.bytes.size(),
                                   " (the ranks disagree about a length)."));
      if (!message.empty()) std::memcpy(message.data(), found->second.bytes.data(), message.size());
      *found->second.taken = true;
      channel.messages.erase(found);
      return true;
    });
  }

  bool reaches_gpus() const override { return team_.config.reaches_gpus; }
  void all_reduce_on_gpus(std::span<const float> values, std::span<float> sum) override {
    Request request = all_reduce(values, sum);
    while (!request.ready()) std::this_thread::yield();
  }
  Request all_reduce(std::span<const float> values, std::span<float> sum) override {
    const std::lock_guard lock(team_.mutex);
    const std::uint64_t call = sums_++;
    team_.sums[call].parts[rank()] = {values.begin(), values.end()};
    return later([this, call, sum] {
      Sum& all = team_.sums[call];
      if (static_cast<int>(all.parts.size()) < size()) return false;
      std::fill(sum.begin(), sum.end(), 0.0F);
      for (const auto& part : all.parts) {
        if (part.second.size() != sum.size())
          throw CommError(core::text("rank ", rank(), " sums ", sum.size(), " floats and rank ",
                                     part.first, " ", part.second.size(),
                                     " (the ranks disagree about a length)."));
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += part.second[i];
      }
      if (++all.taken == size()) team_.sums.erase(call);
      return true;
    });
  }

  void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) override {
    const std::uint64_t call = gathers_++;
    {
      const std::lock_guard lock(team_.mutex);
      team_.gathers[call][rank()] = {mine.begin(), mine.end()};
    }
    for (;;) {
      {
        const std::lock_guard lock(team_.mutex);
        const auto& parts = team_.gathers[call];
        if (static_cast<int>(parts.size()) == size()) {
          for (const auto& [from, part] : parts)
            if (!part.empty())
              std::memcpy(all.data() + static_cast<std::size_t>(from) * mine.size(), part.data(),
                          mine.size());
          return;
        }
      }
      check();
      std::this_thread::yield();
    }
  }

  std::unique_ptr<Memory> share(std::size_t bytes) override {
    const std::uint64_t call = memories_++;
    std::vector<std::unique_ptr<SharedBlock>>* blocks = nullptr;
    {
      const std::lock_guard lock(team_.mutex);
      blocks = &team_.memories[call];
      if (blocks->empty())
        for (int r = 0; r < size(); ++r) {
          blocks->push_back(std::make_unique<SharedBlock>());
          blocks->back()->bytes = make_block(bytes);
        }
    }
    return std::make_unique<TeamMemory>(*blocks, nodes_, rank());
  }

  std::unique_ptr<Communicator> split(int colour) override {
    const std::uint64_t call = splits_++;
    std::vector<int> colours(static_cast<std::size_t>(size()));
    all_gather(std::as_bytes(std::span(&colour, 1)), std::as_writable_bytes(std::span(colours)));
    ThreadTeamConfig config = team_.config;
    config.ranks = 0;
    config.nodes.clear();
    int own = 0;
    std::map<int, int> lowest;  // of each node, in the part
    std::vector<int> lowest_of;
    for (int other = 0; other < size(); ++other) {
      const auto place = static_cast<std::size_t>(other);
      if (colours[place] != colour) continue;
      if (other == rank()) own = config.ranks;
      lowest_of.push_back(lowest.try_emplace(nodes_[place], config.ranks).first->second);
      ++config.ranks;
    }
    config.nodes = number_nodes(lowest_of);
    std::shared_ptr<Team> part;
    {
      const std::lock_guard lock(team_.mutex);
      auto& known = team_.parts[{call, colour}];
      part = known.lock();
      if (!part) known = part = std::make_shared<Team>(config, owner_);
    }
    auto made = std::make_unique<ThreadCommunicator>(std::move(part), own);
    made->oversubscribed_ = oversubscribed_;
    std::byte here{};  // nobody leaves before all hold their part
    std::vector<std::byte> all(static_cast<std::size_t>(size()));
    all_gather(std::span(&here, 1), all);
    return made;
  }

  std::int64_t now_ns() const override {
    return team_.config.clock_ns ? team_.config.clock_ns->load() : comm::now_ns();
  }
  void abort(int exit_code) override { std::_Exit(exit_code); }
  std::string description() const override { return "threads"; }

 private:
  using Attempt = std::function<bool()>;

  Request later(Attempt attempt) {
    pending_[++handles_] = std::move(attempt);
    return {*this, handles_};
  }
  bool test(std::uint64_t handle) override {
    check();
    const std::lock_guard lock(team_.mutex);
    const auto found = pending_.find(handle);
    if (!found->second()) return false;
    pending_.erase(found);
    withdrawals_.erase(handle);
    return true;
  }
  void forget(std::uint64_t handle) noexcept override {
    const std::lock_guard lock(team_.mutex);
    pending_.erase(handle);
    const auto found = withdrawals_.find(handle);
    if (found == withdrawals_.end()) return;
    found->second();  // its buffer may go now
    withdrawals_.erase(found);
  }
  void check() const {
    for (const Team* team = &team_; team != nullptr; team = team->larger.get()) {
      const int failed = team->failed;
      if (failed >= 0)
        throw CommError(core::text("rank ", rank(), " stops because rank ", failed, " failed."));
    }
  }
  Clock::duration delay() {
    if (team_.config.maximum_delay_us <= 0) return {};
    float share = 0;
    core::RandomStream(team_.config.delay_seed, "message delay", static_cast<std::uint32_t>(rank()))
        .uniform(0, 0, std::span(&share, 1), messages_++);
    return std::chrono::duration_cast<Clock::duration>(
        std::chrono::duration<double, std::micro>(share * team_.config.maximum_delay_us));
  }

  std::shared_ptr<Team> owner_;
  Team& team_;
  std::map<std::uint64_t, Attempt> pending_;
  std::map<std::uint64_t, std::function<void()>> withdrawals_;  // of messages not yet taken
  std::uint64_t handles_ = 0, sums_ = 0, gathers_ = 0, memories_ = 0, splits_ = 0;
  std::uint32_t messages_ = 0;
};

}  // namespace

void run_ranks(const ThreadTeamConfig& config, const std::function<void(Communicator&)>& body) {
  const auto team = std::make_shared<Team>(config);
  std::mutex mutex;
  std::exception_ptr first;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < config.ranks; ++rank)
    threads.emplace_back([&, rank] {
      try {
        ThreadCommunicator communicator(team, rank);
        body(communicator);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!first) first = std::current_exception();
        int nobody = -1;
        team->failed.compare_exchange_strong(nobody, rank);
      }
    });
  for (auto& thread : threads) thread.join();
  if (first) std::rethrow_exception(first);
}

}  // namespace sagips::comm

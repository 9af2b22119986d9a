#include "sagips/comm/rank_status.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <fstream>
#include <limits>
#include <string>

#include "sagips/core/text.hpp"

namespace sagips::comm {

namespace {

constexpr std::size_t remembered = 8;  // calls; partners are never further apart than one

// A process that has ended stays as a zombie until its launcher asks for it.
bool alive(std::int64_t process) {
  std::ifstream file(core::text("/proc/", process, "/stat"));
  std::string line;
  if (!std::getline(file, line)) return false;
  const auto end = line.rfind(") ");
  return end == std::string::npos || (line[end + 2] != 'Z' && line[end + 2] != 'X');
}

}  // namespace

// Zeroed memory is a valid entry.
struct alignas(64) RankStatus::Entry {
  struct Calls {
    std::atomic<std::uint64_t> count;
    std::array<std::atomic<std::int64_t>, remembered> began_ns;
  };
  std::atomic<std::int64_t> process;
  std::atomic<std::int64_t> beat_ns;
  std::atomic<int> silence_expected;
  std::atomic<int> left;
  std::atomic<int> failure_claimed;
  std::array<Calls, exchanges> calls;
};

RankStatus::RankStatus(Communicator& communicator)
    : communicator_(communicator),
      memory_(communicator.share(sizeof(Entry))),
      heard_ns_(static_cast<std::size_t>(communicator.size())) {
  while (entry(first_on_node_) == nullptr) ++first_on_node_;
  entry(communicator.rank())->process = getpid();
  beat();
}

RankStatus::Entry* RankStatus::entry(int rank) const {
  return reinterpret_cast<Entry*>(memory_->block(rank));
}

void RankStatus::begin_call(int exchange, std::uint64_t call, std::int64_t time_ns) {
  Entry::Calls& calls = entry(communicator_.rank())->calls[static_cast<std::size_t>(exchange)];
  calls.began_ns[call % remembered].store(time_ns, std::memory_order_relaxed);
  calls.count.store(call, std::memory_order_release);
  beat_at(time_ns);
}

std::optional<std::int64_t> RankStatus::began(int rank, int exchange, std::uint64_t call) const {
  const Entry* seen = entry(rank);
  if (seen == nullptr) return {};
  const Entry::Calls& calls = seen->calls[static_cast<std::size_t>(exchange)];
  const std::uint64_t count = calls.count.load(std::memory_order_acquire);
  if (count < call || count >= call + remembered) return {};
  return calls.began_ns[call % remembered].load(std::memory_order_relaxed);
}

std::int64_t RankStatus::last_began(const std::vector<int>& ranks, int exchange, std::uint64_t call,
                                    std::int64_t otherwise_ns) const {
  std::int64_t last = otherwise_ns;
  for (const int rank : ranks)
    if (const auto began_ns = began(rank, exchange, call)) last = std::max(last, *began_ns);
  return last;
}

void RankStatus::beat() { beat_at(communicator_.now_ns()); }

void RankStatus::beat_at(std::int64_t time_ns) {
  entry(communicator_.rank())->beat_ns.store(time_ns, std::memory_order_relaxed);
}

bool RankStatus::expect_silence(bool expected) {
  beat();
  return entry(communicator_.rank())->silence_expected.exchange(expected ? 1 : 0) != 0;
}

std::int64_t RankStatus::last_beat_ns(int rank) const {
  const Entry* seen = entry(rank);
  return seen == nullptr ? 0 : seen->beat_ns.load();
}

void RankStatus::heard(int rank, bool is_last) {
  heard_ns_[static_cast<std::size_t>(rank)] = is_last ? 0 : communicator_.now_ns();
}

std::int64_t RankStatus::last_sign_ns(int rank) const {
  const Entry* seen = entry(rank);
  if (seen == nullptr) return heard_ns_[static_cast<std::size_t>(rank)];
  return seen->left != 0 || seen->silence_expected != 0 ? 0 : seen->beat_ns.load();
}

int RankStatus::culprit(const std::vector<int>& partners, int exchange, std::uint64_t call,
                        std::int64_t long_ns) const {
  if (const int dead = dead_rank(); dead >= 0) return dead;
  int slowest = -1;
  std::uint64_t fewest = call;
  for (const int rank : partners) {
    const Entry* seen = entry(rank);
    if (seen == nullptr) continue;
    const std::uint64_t calls = seen->calls[static_cast<std::size_t>(exchange)].count.load();
    if (calls >= fewest) continue;
    fewest = calls;
    slowest = rank;
  }
  // Who waits gives a sign of life now and then, also where silence is expected of it; who hangs gives
  // none, and may be waited for by the partner that is waited for here.
  std::int64_t oldest = communicator_.now_ns() - long_ns;
  for (int rank = 0; rank < communicator_.size(); ++rank) {
    const Entry* seen = entry(rank);
    if (seen == nullptr || seen->left != 0 || rank == communicator_.rank()) continue;
    const std::int64_t beat = seen->beat_ns;
    if (beat == 0 || beat >= oldest) continue;
    oldest = beat;
    slowest = rank;
  }
  return slowest;
}

int RankStatus::dead_rank() const {
  for (int rank = 0; rank < communicator_.size(); ++rank) {
    const Entry* seen = entry(rank);
    if (seen == nullptr || seen->process == 0 || seen->left != 0) continue;
    if (rank == communicator_.rank() || alive(seen->process)) continue;
    if (seen->left == 0) return rank;  // still: it may have said so and ended since it was asked
  }
  return -1;
}

void RankStatus::take_leave() { entry(communicator_.rank())->left = 1; }

bool RankStatus::claim_failure() {
  int nobody = 0;
  return entry(first_on_node_)->failure_claimed.compare_exchange_strong(nobody, 1);
}

bool RankStatus::failure_claimed() const { return entry(first_on_node_)->failure_claimed != 0; }

std::string RankStatus::name(int rank) const {
  const Entry* seen = entry(rank);
  if (seen == nullptr || seen->process == 0) return core::text("rank ", rank);
  return core::text("rank ", rank, " (process ", seen->process.load(), ")");
}

}  // namespace sagips::comm

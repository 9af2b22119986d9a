#include "sagips/comm/communicator.hpp"

#include <sched.h>
#include <cstdlib>

#include <algorithm>
#include <chrono>
#include <map>
#include <thread>

namespace sagips::comm {

namespace {

constexpr std::int64_t eager_looks = 512;

inline void spin() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

Request::~Request() {
  if (owner_) owner_->forget(handle_);
}

bool Request::ready() {
  if (owner_ && owner_->test(handle_)) owner_ = nullptr;
  return owner_ == nullptr;
}

int Communicator::ranks_on_node() const {
  return static_cast<int>(
      std::count(nodes_.begin(), nodes_.end(), nodes_[static_cast<std::size_t>(rank_)]));
}

// Who may be waited for needs this processor: on an oversubscribed node at once, else after a
// while.
void Communicator::pause(std::int64_t look) {
  if (oversubscribed_ || look > eager_looks)
    sched_yield();
  else
    spin();
}

void Communicator::rest() { std::this_thread::sleep_for(std::chrono::microseconds(500)); }

void Communicator::all_reduce_on_gpus(std::span<const float>, std::span<float>) {
  throw CommError(description() + " does not reach GPUs.");
}

std::unique_ptr<Communicator> Communicator::split(int) {
  throw CommError(description() + " cannot be split.");
}

std::vector<int> number_nodes(const std::vector<int>& lowest) {
  std::map<int, int> number;
  for (const int rank : lowest) number.emplace(rank, 0);
  int next = 0;
  for (auto& node : number) node.second = next++;
  std::vector<int> nodes;
  nodes.reserve(lowest.size());
  for (const int rank : lowest) nodes.push_back(number[rank]);
  return nodes;
}

void Communicator::abort_alone(int exit_code) { std::_Exit(exit_code); }

}  // namespace sagips::comm

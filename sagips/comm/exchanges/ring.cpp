#include "sagips/comm/exchanges/ring.hpp"

#include <algorithm>

#include "sagips/comm/arithmetic.hpp"
#include "sagips/core/text.hpp"

namespace sagips::comm {

namespace {

constexpr int block = 32;  // ranks whose arrays are kept

std::span<float> array(std::vector<float>& arrays, int index, std::size_t size) {
  return std::span(arrays).subspan(static_cast<std::size_t>(index) * size, size);
}

}  // namespace

Ring::Ring(const Site& site, std::vector<int> ranks) : group_(site, std::move(ranks)) {}

Task Ring::gradients(ReplicaView replica, Step) {
  if (group_.index() < 0 || group_.size() == 1) co_return;
  if (group_.size() <= block)
    co_await keep_all(replica.gradients);
  else
    co_await add_blocks(replica.gradients);
}

Task Ring::keep_all(std::span<float> own) {
  const int n = group_.size(), i = group_.index();
  others_.resize(static_cast<std::size_t>(n - 1) * own.size());
  const int left = (i + n - 1) % n, right = (i + 1) % n;
  // sent from a copy: another core has then not just read what the mean is written to
  mine_.assign(own.begin(), own.end());
  std::vector<Request> sent;
  std::vector<const float*> in_rank_order(static_cast<std::size_t>(n), own.data());
  std::span<float> latest = mine_;
  for (int hop = 1; hop < n; ++hop) {
    const std::span<float> next = array(others_, hop - 1, own.size());
    Request received = group_.receive(left, next);
    sent.push_back(group_.send(right, latest));
    co_await received;
    in_rank_order[static_cast<std::size_t>((i - hop + n) % n)] = next.data();
    latest = next;
  }
  for (Request& request : sent) co_await request;
  mean_of(in_rank_order, own);
}

// Arrays come in falling rank order, so those of another block follow each other and are added as
// they come; those of the own block come at the beginning and at the end, and are kept.
Task Ring::add_blocks(std::span<float> own) {
  const int n = group_.size(), i = group_.index(), first = i / block * block;
  const int left = (i + n - 1) % n, right = (i + 1) % n;
  const std::size_t size = own.size();
  others_.resize(static_cast<std::size_t>(block) * size);
  sums_.resize(static_cast<std::size_t>((n - 1) / block + 1) * size);
  mine_.resize(2 * size);
  std::copy(own.begin(), own.end(), array(others_, i - first, size).begin());
  std::copy(own.begin(), own.end(), mine_.begin());
  for (int hop = 1; hop < n; ++hop) {
    const int from = (i - hop + n) % n;
    const std::span<float> latest = array(mine_, (hop - 1) % 2, size),
                           next = array(mine_, hop % 2, size);
    Request received = group_.receive(left, next), sent = group_.send(right, latest);
    co_await received;
    co_await sent;
    if (from / block == i / block)
      std::copy(next.begin(), next.end(), array(others_, from - first, size).begin());
    else
      add_to_sum(from, next);
  }
  for (int rank = std::min(first + block, n) - 1; rank >= first; --rank)
    add_to_sum(rank, array(others_, rank - first, size));
  std::copy_n(sums_.begin(), size, own.begin());
  for (int k = 1; k <= (n - 1) / block; ++k) add(own, array(sums_, k, size));
  scale(own, 1.0F / static_cast<float>(n));
}

// The highest rank of a block comes first.
void Ring::add_to_sum(int rank, std::span<const float> values) {
  const std::span<float> sum = array(sums_, rank / block, values.size());
  if (rank == group_.size() - 1 || rank % block == block - 1)
    std::copy(values.begin(), values.end(), sum.begin());
  else
    add(sum, values);
  group_.communicator().touched(values.size_bytes());
}

Cost Ring::cost(std::size_t floats, Step) const {
  if (group_.index() < 0) return {};
  const auto hops = static_cast<std::uint64_t>(group_.size() - 1);
  return {hops, hops * floats * sizeof(float)};
}

std::string Ring::description() const { return core::text("ring over ", group_.size(), " ranks"); }

}  // namespace sagips::comm

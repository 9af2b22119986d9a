#include "sagips/comm/exchanges/adasum.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::comm {

namespace {

double product(std::span<const float> a, std::span<const float> b) {
  return std::inner_product(
      a.begin(), a.end(), b.begin(), 0.0, std::plus<>(),
      [](float x, float y) { return static_cast<double>(x) * static_cast<double>(y); });
}

// What is left of the one of two whose square is `square`. Of zeros anything: then all of the other is.
double share(double product, double square) { return square > 0 ? 1 - product / (2 * square) : 1; }

}  // namespace

Adasum::Adasum(const Site& site, std::vector<int> ranks)
    : group_(site, std::move(ranks)), tensors_(site.tensors) {
  if (!std::has_single_bit(static_cast<unsigned>(group_.size())))
    throw core::ConfigError(
        "exchange", core::text("adasum combines ranks in pairs, and ", group_.size(),
                               " are no power of two. Take another number, or all_reduce."));
  if (tensors_.empty()) tensors_ = {site.floats};
  if (group_.size() > 1) before_.resize(site.floats);
}

Task Adasum::gradients(ReplicaView replica, Step) {
  if (group_.size() > 1) std::copy(replica.weights.begin(), replica.weights.end(), before_.begin());
  co_return;
}

Task Adasum::mix_weights(ReplicaView replica, Step) {
  if (group_.size() == 1) co_return;
  const std::span<float> weights = replica.weights;
  change_.resize(weights.size());
  other_.resize(weights.size());
  std::transform(weights.begin(), weights.end(), before_.begin(), change_.begin(), std::minus<>());
  for (int distance = 1; distance < group_.size(); distance *= 2) {
    const int peer = group_.index() ^ distance;
    Request received = group_.receive(peer, other_), sent = group_.send(peer, change_);
    co_await received;
    co_await sent;
    // the same order on both, and so the same bits
    const bool is_lower = group_.index() < peer;
    combine(is_lower ? change_ : other_, is_lower ? other_ : change_, change_);
    group_.communicator().touched(weights.size_bytes());
  }
  std::transform(before_.begin(), before_.end(), change_.begin(), weights.begin(), std::plus<>());
}

void Adasum::combine(std::span<float> lower, std::span<const float> upper,
                     std::span<float> into) const {
  std::size_t first = 0;
  for (const std::size_t size : tensors_) {
    const std::span<const float> a = lower.subspan(first, size), b = upper.subspan(first, size);
    const double both = product(a, b);
    const double of_a = share(both, product(a, a)), of_b = share(both, product(b, b));
    for (std::size_t k = 0; k < size; ++k)
      into[first + k] = static_cast<float>(of_a * a[k] + of_b * b[k]);
    first += size;
  }
}

Cost Adasum::cost(std::size_t floats, Step) const {
  if (group_.size() == 1) return {};
  const auto rounds =
      static_cast<std::uint64_t>(std::bit_width(static_cast<unsigned>(group_.size())) - 1);
  return {rounds, rounds * floats * sizeof(float)};
}

// An update may come a step later (one_update_late), and a checkpoint between.
void Adasum::state(StateList& list) {
  if (!before_.empty()) list.field("adasum.before", before_);
}

std::string Adasum::description() const {
  return core::text("adasum over ", group_.size(), " ranks");
}

}  // namespace sagips::comm

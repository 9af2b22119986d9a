#include "sagips/comm/exchanges/shared_node.hpp"

#include <algorithm>
#include <atomic>

#include "sagips/comm/arithmetic.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::comm {

// How far a rank has come, as the number of the call. Zeroed memory is valid. Padding keeps those who
// wait for one apart from those who wait for the other.
struct alignas(64) SharedNode::Signals {  // NOLINT(clang-analyzer-optin.performance.Padding)
  std::atomic<std::uint64_t> posted;
  alignas(64) std::atomic<std::uint64_t> reduced;
};

SharedNode::SharedNode(const Site& site, std::vector<int> ranks)
    : group_(site, std::move(ranks)),
      floats_((site.floats + 15) / 16 * 16),  // two arrays, so that a fast rank overwrites nothing
      memory_(site.communicator->share(sizeof(Signals) + 2 * floats_ * sizeof(float))) {
  if (group_.index() < 0) return;
  for (const int rank : group_.ranks())
    if (memory_->block(rank) == nullptr)
      throw core::ConfigError(
          "exchange", core::text("shared_node needs all its ranks on one node, and rank ", rank,
                                 " is on another. Use lanes or rabenseifner."));
}

SharedNode::Signals& SharedNode::signals(int index) const {
  return *reinterpret_cast<Signals*>(memory_->block(group_.rank_of(index)));
}

// A rank may be one call ahead, never two: it needs all others for each.
float* SharedNode::array(int index) const {
  auto* first = reinterpret_cast<float*>(memory_->block(group_.rank_of(index)) + sizeof(Signals));
  return first + (call_ % 2) * floats_;
}

bool SharedNode::all_posted() const {
  for (int k = 0; k < group_.size(); ++k)
    if (signals(k).posted.load(std::memory_order_acquire) < call_) return false;
  return true;
}

bool SharedNode::all_reduced() const {
  for (int k = 0; k < group_.size(); ++k)
    if (signals(k).reduced.load(std::memory_order_acquire) < call_) return false;
  return true;
}

void SharedNode::average_whole(std::span<float> values) const {
  std::vector<const float*> arrays;
  // the own one from where nobody else reads: the other core is reading the shared copy now
  for (int k = 0; k < group_.size(); ++k)
    arrays.push_back(k == group_.index() ? values.data() : array(k));
  mean_of(arrays, values);
  group_.communicator().touched(values.size_bytes() * (arrays.size() - 1));
}

// The mean replaces this rank's own contribution to its piece, which nobody else reads.
void SharedNode::average_piece(std::span<float> values) const {
  const Piece mine = piece(values.size(), group_.index(), group_.size());
  std::vector<const float*> arrays;
  for (int k = 0; k < group_.size(); ++k) arrays.push_back(array(k) + mine.first);
  mean_of(arrays, {array(group_.index()) + mine.first, mine.size});
  group_.communicator().touched(mine.size * sizeof(float) * (arrays.size() - 1));
}

void SharedNode::collect(std::span<float> values) const {
  for (int k = 0; k < group_.size(); ++k) {
    const Piece where = piece(values.size(), k, group_.size());
    std::copy_n(array(k) + where.first, where.size, values.data() + where.first);
  }
  const Piece mine = piece(values.size(), group_.index(), group_.size());
  group_.communicator().touched((values.size() - mine.size) * sizeof(float));
}

Task SharedNode::gradients(ReplicaView replica, Step) {
  if (group_.index() < 0 || group_.size() == 1) co_return;
  const std::span<float> values = replica.gradients;
  ++call_;
  std::copy(values.begin(), values.end(), array(group_.index()));
  group_.communicator().touched(values.size_bytes());
  signals(group_.index()).posted.store(call_, std::memory_order_release);
  Until posted([this] { return all_posted(); });
  co_await posted;
  if (group_.size() == 2) {
    average_whole(values);
    co_return;
  }
  average_piece(values);
  signals(group_.index()).reduced.store(call_, std::memory_order_release);
  Until reduced([this] { return all_reduced(); });
  co_await reduced;
  collect(values);
}

std::string SharedNode::description() const {
  return core::text("shared_node over ", group_.size(), " ranks");
}

}  // namespace sagips::comm

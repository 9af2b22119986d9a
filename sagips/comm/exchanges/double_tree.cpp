#include "sagips/comm/exchanges/double_tree.hpp"

#include <algorithm>

#include "sagips/comm/arithmetic.hpp"
#include "sagips/core/text.hpp"

namespace sagips::comm {

namespace {
constexpr int up = 0, down = 2;  // tags: direction + number of the tree
}

void DoubleTree::Config::fields(core::FieldList& list) {
  list.add("segment_floats", segment_floats, "floats that travel at a time along a tree",
           core::Range::between(1, 1e9));
}

DoubleTree::DoubleTree(const Config& config, const Site& site, std::vector<int> ranks)
    : config_(config), group_(site, std::move(ranks), 4) {
  if (group_.index() < 0) return;
  const auto places = two_trees(group_.index(), group_.size());
  for (std::size_t tree = 0; tree < 2; ++tree) halves_[tree].place = places[tree];
}

int DoubleTree::segments(std::size_t floats) const {
  const auto segment = static_cast<std::size_t>(config_.segment_floats);
  return static_cast<int>((floats + segment - 1) / segment);
}

Task DoubleTree::reduce(int tree) {
  Half& half = halves_[static_cast<std::size_t>(tree)];
  const int count = segments(half.values.size());
  for (int s = 0; s < count; ++s) {
    const std::span<float> values = part(half.values, piece(half.values.size(), s, count));
    half.buffer.resize(values.size());
    for (const int child : half.place.children) {
      if (child < 0) continue;
      Request received = group_.receive(child, half.buffer, up + tree);
      co_await received;
      add(values, half.buffer);
    }
    if (half.place.parent >= 0)
      half.handed_up.push_back(group_.send(half.place.parent, values, up + tree));
    else
      scale(values, 1.0F / static_cast<float>(group_.size()));
    ++half.summed;
  }
}

Task DoubleTree::broadcast(int tree) {
  Half& half = halves_[static_cast<std::size_t>(tree)];
  const int count = segments(half.values.size());
  std::vector<Request> sent;
  for (int s = 0; s < count; ++s) {
    const std::span<float> values = part(half.values, piece(half.values.size(), s, count));
    Until summed([&half, s] { return half.summed > s; });
    co_await summed;
    if (half.place.parent >= 0) {
      co_await half.handed_up[static_cast<std::size_t>(s)];
      Request received = group_.receive(half.place.parent, values, down + tree);
      co_await received;
    }
    for (const int child : half.place.children)
      if (child >= 0) sent.push_back(group_.send(child, values, down + tree));
  }
  for (Request& request : sent) co_await request;
}

Task DoubleTree::gradients(ReplicaView replica, Step) {
  if (group_.index() < 0 || group_.size() == 1) co_return;
  Together both;
  for (int tree = 0; tree < 2; ++tree) {
    Half& half = halves_[static_cast<std::size_t>(tree)];
    half.values = part(replica.gradients, piece(replica.gradients.size(), tree, 2));
    half.handed_up.clear();
    half.summed = 0;
    both.add(reduce(tree));
    both.add(broadcast(tree));
  }
  co_await both;
}

Cost DoubleTree::cost(std::size_t floats, Step) const {
  Cost cost;
  if (group_.index() < 0 || group_.size() == 1) return cost;
  for (int tree = 0; tree < 2; ++tree) {
    const TreePlace& place = halves_[static_cast<std::size_t>(tree)].place;
    const auto links = static_cast<std::uint64_t>(
        (place.parent >= 0 ? 1 : 0) + std::count_if(place.children.begin(), place.children.end(),
                                                    [](int child) { return child >= 0; }));
    const std::size_t half = piece(floats, tree, 2).size;
    cost += Cost{links * static_cast<std::uint64_t>(segments(half)), links * half * sizeof(float)};
  }
  return cost;
}

std::string DoubleTree::description() const {
  return core::text("double_tree over ", group_.size(), " ranks");
}

}  // namespace sagips::comm

#include "sagips/comm/communicator.hpp"

#include <algorithm>
#include <map>

namespace sagips::comm {

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

}  // namespace sagips::comm

#pragma once
#include <span>
#include <vector>

#include "sagips/comm/exchange.hpp"

namespace sagips::comm {

/// Ranks that exchange with each other, in an order of their own: a list with tags, not an MPI
/// communicator (thousands of those take minutes to make). Counts what this rank sends.
class Group {
 public:
  /// Reserves `tags` tags. collective over the communicator, also for ranks that are not members
  Group(const Site& site, std::vector<int> ranks, int tags = 1);

  int size() const { return static_cast<int>(ranks_.size()); }
  int index() const { return index_; }  ///< this rank's place, -1: not a member
  const std::vector<int>& ranks() const { return ranks_; }
  int rank_of(int index) const { return ranks_[static_cast<std::size_t>(index)]; }
  Communicator& communicator() const { return *communicator_; }

  Request send(int to, std::span<const float> values, int tag = 0) const {
    return send_bytes(to, as_message(values), tag);
  }
  Request receive(int from, std::span<float> values, int tag = 0) const {
    return receive_bytes(from, as_message(values), tag);
  }
  Request send_bytes(int to, std::span<const std::byte> message, int tag = 0) const;
  Request receive_bytes(int from, std::span<std::byte> message, int tag = 0) const;
  /// Counts what is fetched or handed to the library.
  void count(std::uint64_t messages, std::uint64_t bytes) const;

 private:
  Communicator* communicator_;
  std::shared_ptr<Cost> traffic_;
  std::vector<int> ranks_;
  int index_ = -1;
  int first_tag_;
};

/// The part of [0, floats) that belongs to piece i of n: the first ones get one float more.
struct Piece {
  std::size_t first = 0, size = 0;
};
Piece piece(std::size_t floats, int i, int n);

inline std::span<float> part(std::span<float> values, Piece where) {
  return values.subspan(where.first, where.size);
}

}  // namespace sagips::comm

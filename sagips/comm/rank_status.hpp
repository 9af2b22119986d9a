#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sagips/comm/communicator.hpp"

namespace sagips::comm {

/// What the ranks of a node know of each other beside the messages: how far each has come, whether
/// its process lives, and who speaks when the job fails. Ranks on other nodes are not seen, but for
/// messages that are `heard`.
class RankStatus {
 public:
  /// collective
  explicit RankStatus(Communicator& communicator);

  /// This rank begins its call number `call` (counts from 1) of an exchange with this `index`.
  void begin_call(int exchange, std::uint64_t call, std::int64_t time_ns);
  /// When that rank began that call; empty when it has not, or when it is not seen.
  std::optional<std::int64_t> began(int rank, int exchange, std::uint64_t call) const;
  /// When the last of these began that call; those that are not seen count as begun.
  std::int64_t last_began(const std::vector<int>& ranks, int exchange, std::uint64_t call,
                          std::int64_t otherwise_ns) const;
  /// A sign of life, for ranks that wait for no particular message.
  void beat();
  /// While work may take however long, nobody is to miss any. Returns what was expected before.
  bool expect_silence(bool expected);
  std::int64_t last_beat_ns(int rank) const;  ///< 0: not seen
  /// A message of this rank has come, which is all that is known of ranks of other nodes. is_last: it has
  /// left, or silence is expected.
  void heard(int rank, bool is_last);
  /// Its last beat, of another node its last message; 0: there are none to look for, since it has left or
  /// silence is expected.
  std::int64_t last_sign_ns(int rank) const;

  /// The rank that holds the others up: one whose process is gone; else the rank of this node that has been
  /// silent for longest, expected or not, if that is `long_ns` at least; else the one among `partners` with
  /// the fewest calls begun, if that is fewer than `call`. -1: cannot tell.
  int culprit(const std::vector<int>& partners, int exchange, std::uint64_t call,
              std::int64_t long_ns) const;
  /// A rank of this node whose process has ended without taking leave; -1: none.
  int dead_rank() const;
  /// This rank is about to end in order.
  void take_leave();
  /// True for the first rank of the node that asks: it says why the job fails.
  bool claim_failure();
  /// Whether a rank has; on its first node only.
  bool failure_claimed() const;
  /// "rank 2 (process 4711)"
  std::string name(int rank) const;

  static constexpr int exchanges = 16;  ///< that can be told apart

 private:
  struct Entry;
  Entry* entry(int rank) const;
  void beat_at(std::int64_t time_ns);

  Communicator& communicator_;
  std::unique_ptr<Memory> memory_;
  int first_on_node_ = 0;
  std::vector<std::int64_t> heard_ns_;  ///< by rank
};

}  // namespace sagips::comm

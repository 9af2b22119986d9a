#pragma once
#include <cstddef>
#include <memory>
#include <span>

#include "sagips/comm/communicator.hpp"
#include "sagips/comm/exchange.hpp"
#include "sagips/comm/rank_status.hpp"
#include "sagips/comm/timeout.hpp"

namespace sagips::comm {

/// This process among the ranks of its job: what carries messages, what is known of the others, and
/// how long they are waited for. A program that is alone is a job of one rank.
class Ranks {
 public:
  /// collective
  explicit Ranks(std::unique_ptr<Communicator> communicator);
  /// Makes the ranks of a communicator that the caller keeps alive.
  explicit Ranks(Communicator& communicator);

  int rank() const { return communicator_->rank(); }
  int size() const { return communicator_->size(); }
  bool is_first() const { return rank() == 0; }
  Communicator& communicator() const { return *communicator_; }
  Timeout& timeout() { return timeout_; }
  RankStatus& status() { return status_; }

  /// Where an exchange of arrays of that length lives. Tags are not used twice: the exchanges of a
  /// run may be under way at the same time.
  Site site(std::size_t floats, std::uint64_t seed);

  /// Every rank's value, by rank. collective
  std::vector<std::uint64_t> gather(std::uint64_t value);

  /// Blocking, with timeout: rank 0's bytes for everybody, along a tree. collective
  void broadcast(std::vector<std::byte>& bytes);
  /// The same for a text, which is returned.
  std::string broadcast(const std::string& text);

  /// The first rank of each node: its text for the others there, which is returned. collective
  bool is_first_on_node() const;
  std::string broadcast_on_node(const std::string& text);
  /// Returns on the first rank of a node once all others there have called it. collective
  void settle_on_node();

 private:
  std::vector<int> others_on_node() const;

  std::unique_ptr<Communicator> owned_;
  Communicator* communicator_;
  RankStatus status_;
  Timeout timeout_;
  std::shared_ptr<int> next_tag_ = std::make_shared<int>(1);
};

/// Tags of messages that belong to no exchange; those of exchanges count up from 1.
enum class ControlTag : int {
  broadcast = 20000,
  report,
  agreement,
  summary,
  checkpoint,
  quick_stop,
  study,
  share,
  node,
  clock
};

inline int tag_of(ControlTag tag) { return static_cast<int>(tag); }

/// A plain value as the bytes of a message.
template <class Pod>
std::span<std::byte> bytes_of(Pod& value) {
  return std::as_writable_bytes(std::span(&value, 1));
}

}  // namespace sagips::comm

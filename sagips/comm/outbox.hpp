#pragma once
#include <cstdint>
#include <functional>
#include <list>
#include <string>
#include <vector>

#include "sagips/comm/ranks.hpp"

namespace sagips::comm {

/// Brings messages of any length to rank 0, those of each sender in their order. Nobody waits who does not
/// want to: what was sent is kept until it is gone, and rank 0 takes what is there when it looks.
/// cost: a head of 24 bytes and the content, each a message
class Outbox {
 public:
  struct Message {
    std::int64_t number = 0;
    bool is_last = false;  ///< nothing follows from this sender
    std::vector<std::byte> content{};
  };
  /// place: of the sender
  using Receive = std::function<void(std::size_t place, Message message)>;

  /// senders: rank 0 first; none: all ranks. receive: called on rank 0, by `take`
  Outbox(Ranks& ranks, ControlTag tag, Receive receive, std::vector<int> senders = {});
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;

  /// On another rank.
  void send(Message message);
  /// Whether all that this rank has sent is gone.
  bool is_empty();
  /// what: as in Timeout::Whom
  void wait_until_empty(const std::string& what);

  /// On rank 0: takes the next message of a sender, if it is there.
  bool take(std::size_t place);
  void wait_for(std::size_t place, const std::string& what);

 private:
  struct Head {
    std::int64_t number = 0, is_last = 0;
    std::uint64_t bytes = 0;
  };
  struct Incoming {
    Head head{};
    std::vector<std::byte> content{};
    Request request{};
    bool has_head = false;  ///< and its content is expected
    bool has_left = false;
  };
  struct Outgoing {
    Head head;
    std::vector<std::byte> content;
    Request head_sent{}, content_sent{};
  };
  void expect(std::size_t place);

  Ranks& ranks_;
  int tag_;
  Receive receive_;
  std::vector<int> senders_;
  std::vector<Incoming> incoming_;  ///< on rank 0, by place
  std::list<Outgoing> outgoing_;
};

/// Every rank's bytes on rank 0, by rank; nothing elsewhere. what: rank 0 waits for. collective
std::vector<std::vector<std::byte>> gather(Ranks& ranks, ControlTag tag,
                                           std::vector<std::byte> mine, const std::string& what);

}  // namespace sagips::comm

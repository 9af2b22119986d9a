#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "sagips/comm/group.hpp"
#include "sagips/comm/served/centre_message.hpp"
#include "sagips/comm/served/centre_owner.hpp"

namespace sagips::comm {

/// The worker's end: sends each owner what belongs to its piece, and takes the answers. At most one
/// message to an owner is under way; gradients that come meanwhile are collected for the next, so that
/// each is sent once.
class CentreWorker {
 public:
  struct Owner {
    int place;  ///< in the group
    Piece piece;
  };
  /// own: the owner's end on this rank, if there is one
  CentreWorker(const Group& group, const std::vector<Owner>& owners, std::size_t floats,
               bool sends_gradients, CentreOwner* own);

  /// Adds the gradients of some steps (their mean) to what will be sent.
  void collect(std::span<const float> gradients, std::uint64_t steps = 1);
  /// Sends the mean of what was collected to the owners that have answered.
  void send_gradients();
  /// Sends weights after so many steps to the owners that have answered.
  void send_weights(std::span<const float> weights, std::uint64_t steps);
  /// Asks for the central weights. All have answered before.
  void look();
  /// Leaves for good, with the gradients that are collected. All have answered before.
  void leave();

  bool all_answered();
  /// Central weights that have come since the last call, into these weights.
  void take_centre(std::span<float> weights);
  /// The answers of EASGD that have come since the last call.
  void take_elastically(std::span<float> weights, double alpha);
  /// The central weights as last heard of.
  std::span<const float> centre() const { return centre_; }
  /// Exchanges that were due while an owner had not answered yet.
  std::uint64_t postponed() const { return postponed_; }

  void give_state(State& state) const;
  void take_state(const State& state);

 private:
  struct Link {
    Owner owner;
    bool is_own;
    CentreMessage sent, answer;
    Request sending{}, receiving{};
    bool waits = false;         ///< for an answer
    bool fresh = false;         ///< an answer that nobody has taken
    std::uint64_t version = 0;  ///< of the piece, as last answered
    std::uint64_t steps = 0;    ///< whose gradients are collected
  };
  bool has_answered(Link& link);
  void send(Link& link, CentreMessage::Kind kind, std::uint64_t steps);
  void fill_with_gradients(Link& link, std::uint64_t steps);
  std::span<float> piece_of(const Link& link, std::span<float> values) const {
    return part(values, link.owner.piece);
  }

  const Group& group_;
  bool sends_gradients_;
  CentreOwner* own_;
  std::vector<Link> links_;
  std::vector<float> collected_, centre_;
  std::uint64_t postponed_ = 0;
};

}  // namespace sagips::comm

#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "sagips/comm/group.hpp"
#include "sagips/comm/served/client_head.hpp"
#include "sagips/comm/served/weight_server.hpp"

namespace sagips::comm {

/// The client on a worker: sends each owner what belongs to its piece, and takes the answers. At most one
/// share for an owner is under way; gradients that come meanwhile are collected for the next, so that
/// each is sent once.
class WeightClient {
 public:
  struct Owner {
    int place;  ///< in the group
    Piece piece;
  };
  struct Config {
    bool sends_gradients;
    /// The answers are waited for before anything that was given here changes: it is sent from its
    /// place, and answers with weights come to theirs.
    bool waits;
  };
  /// own: the server on this rank, if there is one
  WeightClient(const Group& group, const std::vector<Owner>& owners, std::size_t floats,
               Config config, WeightServer* own);

  /// Adds the gradients of some steps (their mean) to what will be sent.
  /// progress: of the run, as in Step
  void collect(std::span<const float> gradients, std::uint64_t steps, double progress);
  /// Sends the mean of what was collected to the owners that have answered.
  void send_collected();
  /// Both in one.
  void send_gradients(std::span<const float> gradients, double progress);
  /// Sends weights after so many steps to the owners that have answered.
  void send_weights(std::span<const float> weights, std::uint64_t steps);
  /// Who waits wants the answers here, which are central weights.
  void expect(std::span<float> weights);
  /// Asks for the central weights. All have answered before.
  void look(std::span<float> into, CentralWeights::Look which);
  /// Leaves for good, with the gradients that are collected, for the last central weights. All have
  /// answered before.
  void leave(std::span<float> into);

  /// Says that this rank lives to the owners of other nodes that it has sent nothing for so long.
  void send_sign(std::int64_t period_ns);
  /// Says to those owners that nothing may come of it for however long.
  void expect_silence();

  bool all_answered();
  /// All but those that had not answered when something was to be sent to them the last time.
  bool all_in_time_answered();
  /// Central weights that have come since the last call, into these weights.
  void take_central(std::span<float> weights);
  /// The answers of EASGD that have come since the last call; with `waits` these are the weights that
  /// were sent.
  void take_elastically(std::span<float> weights, double alpha);
  /// Exchanges that were due while an owner had not answered yet.
  std::uint64_t postponed() const { return postponed_; }

  void state(StateList& list);

 private:
  struct Link {
    enum class State {
      idle,
      sent,
      expects
    };  ///< sent: nothing was said yet of where the answer goes
    Owner owner;
    bool is_own, is_far;  ///< of this rank; of another node
    ClientHead head{};
    std::vector<float> collected{}, sent{};  ///< gradients of `steps`; what is under way
    std::vector<float> heard{}, answer{};    ///< one that nobody has taken, and then the next
    std::vector<float> own_answer{};         ///< of the owner on this rank
    bool is_waiting = false;                 ///< that one, until it is said where it goes
    std::span<float> into{};                 ///< where the answer goes
    Request sending_head{}, sending{}, receiving{}, sending_silence{};
    std::int64_t sent_ns = 0;  ///< when it was last told anything
    State state = State::idle;
    bool is_late = false;     ///< it had not answered when something was to be sent
    bool fresh = false;       ///< nobody has taken what was heard
    std::uint64_t steps = 0;  ///< whose gradients are collected
    /// Answers to shares: that have come, that are in the weights, that were in them when the oldest part
    /// of the next share was made.
    std::uint32_t answers = 0, taken = 0, made_of = 0;
  };
  bool has_answered(Link& link);
  bool may_send(Link& link);
  void collect(Link& link, std::span<const float> gradients, std::uint64_t steps);
  void send_collected(Link& link);
  std::span<const float> mean_of_collected(Link& link);
  std::span<const float> to_be_sent(Link& link, std::span<const float> values);
  void ask(Link& link, ClientHead head, std::span<const float> values);
  void expect(Link& link, std::span<float> into);
  void expect_aside(Link& link);
  void arrived(Link& link);

  const Group& group_;
  Config config_;
  WeightServer* own_;
  ClientHead silence_{.kind = ClientHead::Kind::silent};  ///< what is sent of it
  std::vector<Link> links_;
  std::size_t floats_;
  bool has_left_ = false;
  std::uint64_t postponed_ = 0;
  double progress_ = 0;
};

}  // namespace sagips::comm

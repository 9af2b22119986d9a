#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "sagips/comm/group.hpp"
#include "sagips/comm/served/central_rule.hpp"
#include "sagips/comm/served/client_head.hpp"

namespace sagips::comm {

/// The server on an owner: a piece of the central weights, moved by what workers send, and an answer to
/// each.
///
/// Asynchronous: whoever comes is served at once. Synchronous: a round begins when all have come. Nothing
/// happens but in `poll`.
class WeightServer {
 public:
  /// group: has two tags, for what workers send and for answers; clients are places in it, first the
  /// workers, then those who only look
  WeightServer(const Group& group, std::vector<int> clients, std::size_t workers,
               std::size_t floats, const CentralRuleConfig& config, const MakeUpdate& update,
               bool synchronous);

  /// The first central weights; before, nobody is served.
  void begin(std::span<const float> weights);
  bool has_begun() const { return begun_; }
  /// Serves each client once at most: workers that are faster than this rank would not let it go. Returns
  /// whether more may have come; who sleeps then would not be woken by it.
  bool poll();
  /// What a worker on this rank sends, and where its answer goes, which is there when `answered`.
  void bring(ClientHead head, std::span<const float> values, std::span<float> answer);
  bool answered() const { return own_answered_; }

  std::span<float> weights() { return weights_; }
  std::uint64_t version() const { return version_; }
  std::uint64_t steps() const { return steps_; }  ///< of workers, that are in the weights
  bool is_over() const { return left_ == clients_.size(); }  ///< all have left
  bool workers_have_left() const;
  bool has_sent();  ///< its answers are on their way no longer
  bool is_idle();   ///< and have their answers
  /// Age: updates of the weights between what a share was made of and its coming.
  const Freshness& staleness() const { return staleness_; }
  /// Called when something of another rank has come. is_last: it leaves.
  std::function<void(int rank, bool is_last)> came{};
  /// Called with each round before it is applied.
  std::function<void(std::span<const Arrival> round, std::uint64_t steps)> before_round{};
  /// Those who have left are answered when this says so; empty: at once.
  std::function<bool()> may_part{};

  void state(StateList& list);

 private:
  struct Client {
    enum class Place { away, brings, here, answered };
    ClientHead head{};
    std::vector<float> buffer{};  ///< what it brings, then its answer; nothing while it is away
    std::span<const float> values{};
    std::span<float> answer{};
    Request request{};
    Place place = Place::away;  ///< away: its head is expected; brings: and its share
    bool has_left = false;
    bool was_served = false;    ///< in this poll
    std::uint32_t answers = 0;  ///< to shares
    /// Versions of the piece in the last answers, by their number modulo the size: a share is made of the
    /// last one or of the one before.
    std::array<std::uint64_t, 4> versions{};
    std::uint64_t& version_in(std::uint32_t number) { return versions[number % versions.size()]; }
    std::uint64_t last_version() const { return versions[answers % versions.size()]; }
  };
  struct Kept {
    std::vector<float> weights;
    std::size_t asked = 0, answered = 0;
  };
  bool look_at(std::size_t worker);
  void expect(std::size_t worker);
  void receive(std::size_t worker);
  void serve(std::size_t worker);
  void show(std::size_t worker);
  void apply(std::span<const std::size_t> workers);
  void serve_round();
  void answer_to(std::size_t worker, std::span<const float> values);
  void release(std::size_t worker);
  void answer_those_who_left();

  const Group& group_;
  std::vector<int> places_;  ///< of clients in the group
  std::size_t workers_;
  std::size_t own_ = no_worker;
  std::vector<float> weights_;
  std::unique_ptr<CentralRule> rule_;
  bool synchronous_, begun_ = false, own_answered_ = false, parted_ = false;
  std::vector<Client> clients_;  ///< workers first
  std::vector<std::vector<float>>
      spare_;                           ///< buffers: those of last are used first, from the cache
  std::map<std::uint64_t, Kept> kept_;  ///< for looks, until all who take part have their answer
  std::size_t first_ = 0;               ///< who is looked at first in turn
  std::size_t left_ = 0;
  std::uint64_t version_ = 0, steps_ = 0;
  Freshness staleness_;

  static constexpr auto no_worker = static_cast<std::size_t>(-1);
};

}  // namespace sagips::comm

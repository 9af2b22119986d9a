#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sagips/comm/state_list.hpp"
#include "sagips/comm/timeout.hpp"

namespace sagips::comm {

/// The shared part of a replica: one flat array each, the same length on every rank.
struct ReplicaView {
  std::span<float> weights, gradients;
};

struct Step {
  std::int64_t update = 1;  ///< whose gradients these are: of this network, counts from 1
  double progress = 0;      ///< share of the run that was over then, for update rules of exchanges
  std::int64_t updates_a_step = 1;  ///< of this network, in a step of the training

  /// Of the training: counts from 1. Periods in steps do not miss what belongs to one of several updates.
  std::int64_t number() const { return (update - 1) / updates_a_step + 1; }
  bool ends_step() const { return update % updates_a_step == 0; }
};

/// What one rank sends (or fetches, one-sided) in one call.
struct Cost {
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;

  friend Cost operator+(Cost a, Cost b) { return {a.messages + b.messages, a.bytes + b.bytes}; }
  Cost& operator+=(Cost other) { return *this = *this + other; }
  friend bool operator==(Cost, Cost) = default;
};

/// Moves a piece of weights by gradients. progress: as in Step
using Update = std::function<void(std::span<const float> gradients, double progress)>;
/// Makes what moves these weights, which stay where they are.
using MakeUpdate = std::function<Update(std::span<float> weights)>;

/// Where an exchange lives: its ranks, its tags, its counters. One for each exchange of a run;
/// compositions hand it down to their parts.
struct Site {
  Communicator* communicator = nullptr;
  Timeout* timeout = nullptr;
  std::size_t floats = 0;              ///< length of the flat array
  std::vector<std::size_t> tensors{};  ///< that it is made of, one behind the other; empty: one
  std::uint64_t seed = 1;              ///< the same on all ranks; draws leaders
  std::shared_ptr<Cost> traffic = std::make_shared<Cost>();  ///< sent or fetched so far
  std::shared_ptr<int> next_tag =
      std::make_shared<int>(1);  ///< reserved in the same order everywhere
  /// The optimizer's update rule, for exchanges that update themselves; none: weights -= gradients.
  MakeUpdate update{};

  std::vector<int> all_ranks() const;
};

/// The properties of an exchange that callers can rely on.
struct Promise {
  bool exact = false;   ///< afterwards all ranks of the job hold the same mean of all, bit for bit
  bool waits = true;    ///< needs the other ranks to come; false: never waits for anybody
  bool repeats = true;  ///< the same run gives the same numbers, bit for bit
  bool resumes = true;  ///< from a given state it gives the same numbers, bit for bit
  bool rounds = false;  ///< exact but for what ranks do not send: digits, or small numbers
  bool uses_weights = false;  ///< reads or changes weights, too

  /// Whether the mean is that of all numbers, as weights need it.
  bool is_whole_mean() const { return exact && !rounds; }
};

/// How old what was read one-sidedly has been. Age: epochs of the fastest rank between writing and
/// reading.
struct Freshness {
  std::uint64_t used = 0;     ///< contributions that were added
  std::uint64_t dropped = 0;  ///< too old
  std::uint64_t missing = 0;  ///< not yet written
  double age_sum = 0;         ///< over `used`
  double age_maximum = 0;     ///< over `used`

  Freshness& operator+=(const Freshness& other);
};

/// What an exchange offers that keeps weights of its own beside those of the ranks.
class CentralWeights {
 public:
  virtual ~CentralWeights() = default;
  /// The first central weights, equal on all ranks; what a state has put back stays. Called before the
  /// first step: from then on owners answer in `poll`.
  virtual void begin(std::span<const float> weights) = 0;
  /// Answers what others have sent. Called between pieces of work, whether or not a task is under way.
  virtual void poll() = 0;
  /// Before and behind work between steps that may take however long, in which nobody is to miss this rank.
  virtual void pause() = 0;
  virtual void resume() = 0;
  /// False: this rank has no share in the work; it serves the others.
  virtual bool computes() const = 0;
  /// Serves until the others have come as far as this step on average, or have left.
  virtual Task serve(ReplicaView replica, Step step) = 0;
  /// Steps of others that are in what this rank owns: grows while it serves.
  virtual std::uint64_t steps_applied() const = 0;
  /// Updates that these steps have made of it.
  virtual std::uint64_t updates_applied() const = 0;
  /// All that was sent is applied, nothing is under way any more, and every rank knows the last central
  /// weights. collective
  virtual Task close() = 0;
  /// A look that several ranks take at the same weights, those that the first of them finds.
  struct Look {
    std::uint64_t number;       ///< of these looks, rising
    std::uint64_t readers = 1;  ///< ranks that take it, once each
  };
  /// The ranks that may look before `close`.
  virtual std::vector<int> readers() const = 0;
  /// What the central weights are; after `close`, on all ranks, what they are at the end. Before the
  /// first step they are what `into` holds, on every rank the same.
  virtual Task look(std::span<float> into, Look which) = 0;
  /// What they are at the end; empty before `close`.
  virtual std::span<const float> last() const = 0;
};

/// A way for replicas to learn from each other. Written as tasks; `ExchangeDriver` runs them.
///
/// collective: every rank of the communicator makes it, and makes the same calls in the same order
class Exchange {
 public:
  virtual ~Exchange() = default;

  /// Moves gradients; at the end they hold what the update is to use.
  virtual Task gradients(ReplicaView replica, Step step) = 0;
  /// Moves weights after the update. Nothing, for most.
  virtual Task mix_weights(ReplicaView replica, Step step);
  /// Whether an update follows in this step; false while gradients are collected.
  virtual bool updates(Step) const { return true; }

  /// What this rank sends in this step's calls together.
  virtual Cost cost(std::size_t floats, Step step) const = 0;
  virtual Promise promise() const = 0;
  /// Ranks that must come before this rank's call of this step can end.
  virtual std::vector<int> partners(Step step) const = 0;
  /// The number of steps after which the pattern repeats, drawn leaders aside; `cost` is averaged
  /// over it.
  virtual std::int64_t period() const { return 1; }
  /// Whether `rank`, which is this one, ever waits for another.
  virtual bool ever_waits(int rank) const;
  virtual Freshness freshness() const { return {}; }
  /// What the exchange turned out to be, for the log: "chunked_ring over 4 ranks".
  virtual std::string description() const = 0;

  /// Weights beside those of the ranks; most exchanges have none.
  virtual CentralWeights* central_weights() { return nullptr; }

  /// Lists what a resumed run needs; called with nothing in flight.
  virtual void state(StateList&) {}
  void give_state(State& into);
  /// throws: StateError
  void take_state(const State& from);
};

}  // namespace sagips::comm

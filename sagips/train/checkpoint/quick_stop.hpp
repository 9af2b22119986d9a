#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "sagips/comm/ranks.hpp"
#include "sagips/nn/state.hpp"

namespace sagips::train {

/// Ends long epochs at once when all ranks have been told to stop: a launcher kills them about a
/// second after its signal, and an epoch may take longer.
///
/// Where epochs are long, the states of the last boundaries between them are kept in memory. Once
/// this rank has got the signal and is polled, it tells rank 0 which boundaries it has; when rank 0
/// has got it, too, and has heard from all, it names one: ranks that wait for each other leave their
/// epoch for the newest boundary that all of them have, the others for their own newest. If there is
/// none, or not all ranks have got the signal, the run stops in the usual way, between epochs.
class QuickStop {
 public:
  /// waits: whether this rank ever waits for another. requested: reads what a signal handler sets.
  QuickStop(comm::Ranks& ranks, bool waits, std::function<bool()> requested);

  /// Called between two epochs, with nothing in flight. epoch_s: how long the last one took; 0: not
  /// known
  void boundary(std::int64_t epoch, double epoch_s, const std::function<nn::State()>& state);

  /// Called between pieces of work and while waiting. throws: EpochGivenUp
  void poll();
  /// The epochs are over: from now on nothing is given up, and rank 0 says so to those who ask.
  void close();
  /// Whether a quick stop may be under way, so that the usual way to stop has to wait for it.
  bool in_hand();
  /// What to go back to, after EpochGivenUp.
  const nn::State& chosen() const { return kept_[chosen_].state; }
  bool given_up() const { return progress_ == Progress::given_up; }

 private:
  struct Boundary {
    std::int64_t epoch;
    nn::State state;
  };
  struct Flag {
    std::int64_t newest = -1, oldest = -1;  ///< -1: no boundary is kept
    std::int64_t waits = 0;
  };
  enum class Progress { idle, asked, given_up, refused, closed };
  Flag own_flag() const;
  void ask();
  void look();
  void decide();
  void answer();
  bool all_have_come();
  std::int64_t common_boundary() const;
  [[noreturn]] void give_up(std::int64_t epoch);

  comm::Ranks& ranks_;
  bool waits_;
  std::function<bool()> requested_;
  std::deque<Boundary> kept_;
  std::size_t chosen_ = 0;
  /// Boundaries to leave out, as many as make a costly copy cheap on average: one that was slow by
  /// chance must not end it all.
  std::int64_t pause_ = 0;
  Progress progress_ = Progress::idle;
  std::int64_t asked_ns_ = 0;
  Flag flag_;
  std::int64_t verdict_ = -1;  ///< the boundary; -1: none
  std::vector<Flag> flags_;    ///< by rank, on rank 0
  std::vector<comm::Request> requests_;
};

}  // namespace sagips::train

#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "sagips/comm/exchange.hpp"
#include "sagips/comm/window.hpp"

namespace sagips::comm {

/// The clock at the beginning of an epoch: one more than before, and not behind the epoch.
std::uint64_t tick(std::uint64_t clock, std::int64_t epoch);

/// Whether what carries this stamp may be used at `now`; counts it either way. Stamp 0: not written
/// yet.
bool is_fresh(std::uint64_t stamp, std::uint64_t now, std::int64_t max_age, Freshness& freshness);

/// A window whose stamps are a logical clock: an epoch adds one, reading a later stamp sets it. So
/// a slow rank's arrays are dated by when they were put, as the fastest rank counts.
/// source: Lamport, CACM 21 (1978) 558
class ClockedWindow {
 public:
  /// collective; older contributions than `max_age` are dropped and counted
  ClockedWindow(Communicator& communicator, std::size_t floats, std::int64_t max_age);

  /// Begins an epoch: shows this rank's array.
  void show(std::span<const float> values, std::int64_t epoch);
  /// What a rank has shown; its stamp is 0 when that is too old or not there.
  Window::View look(int rank);
  /// Ends an epoch, after all looks: what was shown carries the latest clock that was met.
  void settle();

  const Freshness& freshness() const { return freshness_; }
  void state(StateList& list, const std::string& name);

 private:
  Window window_;
  std::int64_t max_age_;
  std::uint64_t clock_ = 0;
  std::uint64_t now_ = 0;  ///< the clock when this epoch began
  bool shown_ = false;     ///< readers left a buffer for this epoch's array
  Freshness freshness_;
};

}  // namespace sagips::comm

#pragma once
#include "sagips/comm/clocked_window.hpp"
#include "sagips/comm/group.hpp"
#include "sagips/core/config/config.hpp"

namespace sagips::comm {

/// Averages with whatever the others have last shown, one-sided: no barrier, nobody waits.
///
/// Each rank puts its array into a window of its own and reads those of the others, going round the
/// ring from its left neighbour. The mean is over the own array and those that are not older than
/// `max_age`; older ones are dropped and counted. Age: epochs of the fastest rank since the array
/// was put; stamps are a logical clock (an epoch adds one, reading a later stamp sets it), so a slow
/// rank's arrays are judged by when they were put and not by its own count of epochs.
///
/// cost:    n - 1 reads of 4 * shared bytes, when all are fresh
/// source:  SAGIPS paper, Sec. IV-B3, pseudo code 2; logical clock: Lamport, CACM 21 (1978) 558
class RmaRing final : public Exchange {
 public:
  struct Config {
    std::int64_t max_age = 8;
    void fields(core::FieldList& list);
  };
  /// collective over the communicator, also for ranks that are not in `ranks`
  RmaRing(const Config& config, const Site& site, std::vector<int> ranks);

  Task gradients(ReplicaView replica, Step step) override;
  Cost cost(std::size_t floats, Step step) const override;
  Promise promise() const override {
    return {.exact = false, .waits = false, .repeats = false, .resumes = false};
  }
  std::vector<int> partners(Step) const override { return {}; }
  Freshness freshness() const override { return window_.freshness(); }
  std::string description() const override;
  void state(StateList& list) override;

 private:
  Window::View look(int hop, std::size_t bytes);
  void average(std::span<float> values);
  void add_up(std::span<float> values);

  Group group_;
  ClockedWindow window_;
};

}  // namespace sagips::comm

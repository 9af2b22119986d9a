#pragma once
#include <functional>
#include <memory>
#include <string>

#include "sagips/comm/exchange_totals.hpp"

namespace sagips::comm {

/// Runs an exchange for one replica: begins it, keeps it moving between pieces of work, completes
/// it, and measures what it costs.
///
/// collective: every rank makes the same calls in the same order
/// throws: CommError when a partner does not come in time
class ExchangeDriver {
 public:
  /// `index`: which of the run's exchanges this is (0 to RankStatus::exchanges - 1); `subject` is for
  /// messages: "the generator's gradients".
  ExchangeDriver(std::unique_ptr<Exchange> exchange, const Site& site, int index,
                 const std::string& subject);

  void start(ReplicaView replica, Step step);  ///< gradients are new; returns at once
  void progress();                             ///< between pieces of work
  void finish();                               ///< gradients hold what the update is to use
  void after_update(ReplicaView replica, Step step);

  /// For an exchange with central weights, see CentralWeights. Others have nothing to close and show nothing.
  /// meanwhile: called again and again, where others are to be answered, too
  void serve(ReplicaView replica, Step step, const std::function<void()>& meanwhile = {});
  void close();
  void look(std::span<float> into, CentralWeights::Look which);

  const Exchange& exchange() const { return *exchange_; }
  Exchange& exchange() { return *exchange_; }
  ExchangeTotals totals() const;
  /// What carries the replica to where this works on it has taken so long.
  void count_copying(double seconds) { totals_.copying_s += seconds; }
  double waited_s() const { return totals_.waiting_s; }
  bool in_flight() const { return !flow_.over(); }

 private:
  void wait(Step step, std::int64_t entered_ns);
  void run(Task task, Timeout::Whom whom, const std::function<void()>& meanwhile = {});

  std::unique_ptr<Exchange> exchange_;
  Site site_;
  int index_;
  Timeout::Whom whom_;
  Flow flow_;
  Step step_;
  std::int64_t started_ns_ = 0, over_ns_ = 0, progress_ns_ = 0;
  ExchangeTotals totals_;
};

}  // namespace sagips::comm

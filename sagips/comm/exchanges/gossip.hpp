#pragma once
#include <optional>

#include "sagips/comm/clocked_window.hpp"
#include "sagips/comm/group.hpp"
#include "sagips/core/config/config.hpp"

namespace sagips::comm {

/// Mixes weights with one peer an epoch, at distances 1, 2, 4, ...: after log2(n) epochs every rank
/// has heard of every other (for powers of two, holds the exact mean of where they began).
///
/// Gradients stay local and so do Adam's moments; the weights are mixed half and half after the
/// update. Synchronous, or one-sided: then a rank takes what its peer has last shown, unless that is
/// older than `max_age` (see `rma_ring`), and never waits.
///
/// cost:    one message (one read) of 4 * shared bytes
/// source:  Ying et al., NeurIPS 2021, arXiv 2110.13363
class Gossip final : public Exchange {
 public:
  enum class Form { synchronous, one_sided };
  struct Config {
    Form form = Form::synchronous;
    std::int64_t max_age = 8;
    void fields(core::FieldList& list);
  };
  /// collective over the communicator, also for ranks that are not in `ranks`
  Gossip(const Config& config, const Site& site, std::vector<int> ranks);

  Task gradients(ReplicaView replica, Step step) override;
  Task mix_weights(ReplicaView replica, Step step) override;
  Cost cost(std::size_t floats, Step step) const override;
  Promise promise() const override;
  std::vector<int> partners(Step step) const override;
  std::int64_t period() const override;
  Freshness freshness() const override { return window_ ? window_->freshness() : Freshness{}; }
  std::string description() const override;
  void state(StateList& list) override;

 private:
  bool one_sided() const { return config_.form == Form::one_sided; }
  void mix_one_sided(ReplicaView replica, Step step, int from);

  Config config_;
  Group group_;
  std::optional<ClockedWindow> window_;  ///< one-sided only
  std::vector<float> buffer_;
};

}  // namespace sagips::comm

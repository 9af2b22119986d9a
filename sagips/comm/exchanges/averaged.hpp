#pragma once
#include <functional>

#include "sagips/comm/exchange.hpp"
#include "sagips/core/config/config.hpp"

namespace sagips::comm {

/// Any exchange, and every `every` epochs the exact mean of the weights over all ranks.
///
/// Exchanging gradients never brings weights together again once they differ; this does, for the
/// bytes of one more exchange, as local SGD does. Adam's moments stay local.
///
/// cost:    the inner exchange's, plus the exact one's every `every` epochs
/// source:  Stich, ICLR 2019, arXiv 1805.09767 (local SGD); Chen et al., ICML 2021 (Gossip-PGA)
class Averaged final : public Exchange {
 public:
  struct Config {
    std::string inner = "arar_arar";
    std::string mean = "rabenseifner";
    std::int64_t every = 50;
    void fields(core::FieldList& list);
  };
  /// throws: core::ConfigError when `mean` is not exact
  Averaged(const Config& config, std::unique_ptr<Exchange> inner, std::unique_ptr<Exchange> mean);

  Task gradients(ReplicaView replica, Step step) override;
  Task mix_weights(ReplicaView replica, Step step) override;
  bool updates(Step step) const override { return inner_->updates(step); }
  Cost cost(std::size_t floats, Step step) const override;
  Promise promise() const override;
  std::vector<int> partners(Step step) const override;
  std::int64_t period() const override;
  bool ever_waits(int rank) const override {
    return inner_->ever_waits(rank) || mean_->ever_waits(rank);
  }
  Freshness freshness() const override { return inner_->freshness(); }
  std::string description() const override;
  void state(StateList& list) override;

 private:
  bool is_time(Step step) const { return step.ends_step() && step.number() % config_.every == 0; }

  Config config_;
  std::unique_ptr<Exchange> inner_, mean_;
};

}  // namespace sagips::comm

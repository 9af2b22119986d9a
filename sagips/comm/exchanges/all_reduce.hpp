#pragma once
#include "sagips/comm/group.hpp"
#include "sagips/core/config/config.hpp"

namespace sagips::comm {

/// The message library's own all-reduce: the synchronous baseline, as with Horovod.
///
/// Every rank draws from all events. Only over all ranks of the job (smaller groups would need a
/// communicator of their own).
///
/// cost:    one call of the library with the whole array; what it sends is its own affair
/// source:  Sergeev, Del Balso, arXiv 1802.05799 (Horovod)
class AllReduce final : public Exchange {
 public:
  struct Config {
    std::int64_t backward_passes = 1;
    void fields(core::FieldList& list);
  };
  /// throws: core::ConfigError when `ranks` are not all ranks
  AllReduce(const Config& config, const Site& site, std::vector<int> ranks);

  Task gradients(ReplicaView replica, Step step) override;
  bool updates(Step step) const override;
  Cost cost(std::size_t floats, Step step) const override;
  Promise promise() const override { return {.exact = true, .waits = true, .repeats = true}; }
  std::vector<int> partners(Step step) const override;
  std::int64_t period() const override { return config_.backward_passes; }
  std::string description() const override;
  void state(StateList& list) override;

 private:
  Config config_;
  Group group_;
  std::vector<float> collected_;  ///< gradients of the passes since the last update
};

}  // namespace sagips::comm

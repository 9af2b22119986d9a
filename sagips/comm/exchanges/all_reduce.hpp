#pragma once
#include "sagips/comm/group.hpp"

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
  /// throws: core::ConfigError when `ranks` are not all ranks
  AllReduce(const Site& site, std::vector<int> ranks);

  Task gradients(ReplicaView replica, Step step) override;
  Cost cost(std::size_t floats, Step step) const override;
  Promise promise() const override { return {.exact = true, .waits = true, .repeats = true}; }
  std::vector<int> partners(Step) const override { return group_.ranks(); }
  std::string description() const override;

 private:
  Group group_;
  std::vector<float> own_;  ///< what is handed to the library, which does not add in place
};

}  // namespace sagips::comm

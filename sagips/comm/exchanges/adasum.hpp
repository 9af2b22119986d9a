#pragma once
#include "sagips/comm/group.hpp"

namespace sagips::comm {

/// Each rank updates by its own gradients; what its update has changed of each tensor is combined in pairs at
/// distance 1, 2, 4, ..., a and b to (1 - a.b / (2 a.a)) a + (1 - a.b / (2 b.b)) b: their sum where they are
/// orthogonal, their mean where they are parallel.
///
/// The changes are combined, not the gradients, as the authors do where an update rule is not linear (Adam);
/// so its memory is each rank's own. For powers of two. All ranks that began alike stay alike, bit for bit.
///
/// cost:    log2(n) messages, log2(n) * 4 * shared bytes
/// source:  Maleki et al., MLSys 2021, arXiv 2006.02924 (by tensors, as Horovod has it)
class Adasum final : public Exchange {
 public:
  /// throws: core::ConfigError for another number of ranks than a power of two
  Adasum(const Site& site, std::vector<int> ranks);

  Task gradients(ReplicaView replica, Step step) override;
  Task mix_weights(ReplicaView replica, Step step) override;
  Cost cost(std::size_t floats, Step step) const override;
  Promise promise() const override { return {.uses_weights = true}; }
  std::vector<int> partners(Step) const override { return group_.ranks(); }
  std::string description() const override;
  void state(StateList& list) override;

 private:
  void combine(std::span<float> lower, std::span<const float> upper, std::span<float> into) const;

  Group group_;
  std::vector<std::size_t> tensors_;  ///< lengths
  std::vector<float> before_;  ///< weights when gradients were new, until these have been used
  std::vector<float> change_, other_;
};

}  // namespace sagips::comm

#pragma once
#include "sagips/comm/group.hpp"

namespace sagips::comm {

/// Averages through memory that the ranks of a node share: no message at all.
///
/// Everybody writes its array where all can read it; from three ranks on each averages one piece and
/// collects the others. The fastest on one node.
///
/// cost:    no messages; reads 4 * shared bytes of others (n = 2), else 2 (n - 1) / n times that
/// source:  our own; measured in bench/README.md
/// throws:  core::ConfigError when the ranks sit on different nodes
class SharedNode final : public Exchange {
 public:
  SharedNode(const Site& site, std::vector<int> ranks);

  Task gradients(ReplicaView replica, Step step) override;
  Cost cost(std::size_t, Step) const override { return {}; }
  Promise promise() const override { return {.exact = true, .waits = true, .repeats = true}; }
  std::vector<int> partners(Step) const override { return group_.ranks(); }
  std::string description() const override;

 private:
  struct Signals;
  Signals& signals(int index) const;
  float* array(int index) const;  ///< of the present call
  bool all_posted() const;
  bool all_reduced() const;
  void average_whole(std::span<float> values) const;
  void average_piece(std::span<float> values) const;
  void collect(std::span<float> values) const;

  Group group_;
  std::size_t floats_;
  std::unique_ptr<Memory> memory_;
  std::uint64_t call_ = 0;
};

}  // namespace sagips::comm

#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sagips/comm/exchange.hpp"
#include "sagips/comm/served/central_rule.hpp"

namespace sagips::comm {

struct ServedConfig {
  enum class Owners { all, nodes, master };
  CentralRuleConfig rule;
  Owners owners = Owners::all;
  std::int64_t masters = 1, groups = 0, parent_every = 10, ranks_per_worker = 1, every = 1;
  std::string inner = "rabenseifner";
  bool synchronous = false;
  void fields(core::FieldList& list);
  /// The ranks that serve and do not compute, rank 0 first, as far apart as nodes allow. nodes: of each
  /// rank. throws: core::ConfigError where none would compute
  std::vector<int> serving_ranks(const std::vector<int>& nodes) const;
  /// Whether workers wait for owners: for masters, and for each other.
  bool waits() const { return synchronous || owners == Owners::master; }
  bool is_time(Step step) const { return step.update % every == 0; }
  /// How strongly one of so many workers pulls at the central weights.
  double alpha(std::size_t workers) const { return rule.force / static_cast<double>(workers); }
};

/// Who serves whom, as one rank sees it.
struct ServedPlan {
  /// throws: core::ConfigError for settings that contradict each other or the number of ranks
  ServedPlan(const ServedConfig& config, const Site& site);

  std::vector<int> serving;             ///< ranks that do not compute
  std::vector<int> owners;              ///< of the pieces that this rank's workers or clients meet
  std::vector<int> workers;             ///< first ranks of the teams that are served by these
  std::vector<std::vector<int>> teams;  ///< ranks that work as one, all of them
  std::vector<int> parents;  ///< rank 0 where there are sub-masters, which are then here:
  std::vector<int> children;

 private:
  void take_group(int rank, std::int64_t groups);
};

bool contains(const std::vector<int>& ranks, int rank);

}  // namespace sagips::comm

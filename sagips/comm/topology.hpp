#pragma once
#include <array>
#include <vector>

#include "sagips/comm/schedule.hpp"

/// Who talks to whom: arithmetic only.
namespace sagips::comm {

/// Groups of ranks that sit together: `group_size` consecutive ranks each (the last may be smaller),
/// or with 0 those of each node. throws: core::ConfigError when there are fewer ranks
std::vector<std::vector<int>> make_groups(const std::vector<int>& nodes, std::int64_t group_size);

/// Place of rank in the list of lists. throws: core::Error when it is in none
std::size_t group_of(const std::vector<std::vector<int>>& groups, int rank);

/// A rank's place in a binary tree; -1: none.
struct TreePlace {
  int parent = -1;
  std::array<int, 2> children{-1, -1};
};

/// Two binary trees over n ranks, such that a rank that has children in one has none in the other.
/// Within each, ranks are numbered in order (all ranks left of a node are lower); the second is the
/// first with every rank shifted by one.
/// source: Sanders, Speck, Traeff, Parallel Computing 35 (2009) 581
std::array<TreePlace, 2> two_trees(int rank, int n);

/// Rabenseifner's all-reduce of `values` within `where`, for place `index` of n: recursive halving,
/// then recursive doubling, the largest pieces between neighbours; a number of ranks that is no power
/// of two folds the surplus in first and out last.
/// source: Thakur, Rabenseifner, Gropp, IJHPCA 19 (2005) 49; which pieces go how far: simulated
Schedule halving_doubling(int index, int n, Piece where);

/// Offsets of the one-peer exponential graph: 1, 2, 4, ... below n, one an epoch.
/// source: Ying et al., NeurIPS 2021, arXiv 2110.13363
int exponential_offset(std::int64_t epoch, int n);

/// The largest power of two <= n.
int power_of_two_below(int n);

}  // namespace sagips::comm

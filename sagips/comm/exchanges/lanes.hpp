#pragma once
#include "sagips/comm/schedule.hpp"

namespace sagips::comm {

/// Reduce-scatter in the node, one all-reduce a lane across nodes, all-gather in the node.
///
/// Lane j joins the j-th ranks of all nodes and carries the j-th part of the array, so all of a
/// node's links work at once and each array crosses between nodes once. Nodes of different size
/// work: there are as many lanes as the smallest node has ranks.
///
/// cost:    2 (k - 1) messages in a node of k ranks with k lanes, and Rabenseifner's for 1 / k of
///          the array across nodes
/// source:  composition after Chan et al., CCPE 19 (2007) 1749; Traeff, Hunold, arXiv 1910.13373
///
/// groups: the ranks of each node, as a rule
std::unique_ptr<Exchange> lanes_over(const Site& site, std::vector<std::vector<int>> groups);

}  // namespace sagips::comm

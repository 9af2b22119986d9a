#pragma once
#include <string>
#include <vector>

#include "tests/comm/kit.hpp"

/// What exchanges with central weights must do whatever carries the messages. All are collective.
namespace sagips::comm::testing {

/// A form of owners and its settings; `ranks`: the fewest that it needs.
struct ServedForm {
  std::string what;
  int ranks;
  Served::Config config;
};
/// Every form of owners, asynchronous and synchronous, with the rule left at Downpour.
std::vector<ServedForm> served_forms();

/// Each rank brings so many gradients that name it and the step. At the end each is in the central weights
/// exactly once, every rank holds the same ones, and the steps that owners counted add up.
void check_applied_once(Kit& kit, const Served::Config& config, std::int64_t steps);

/// Workers whose gradients lead to the same target get there by their rule, all ranks to the same weights.
void check_settles(Kit& kit, const Served::Config& config, std::int64_t steps);

}  // namespace sagips::comm::testing

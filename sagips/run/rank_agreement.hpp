#pragma once
#include <string>

#include "sagips/comm/ranks.hpp"
#include "sagips/nn/replica.hpp"

namespace sagips::run {

/// Every rank must run the same program with the same config. collective
/// throws: ConfigError on a rank that differs from rank 0; says in what
void check_agreement(comm::Ranks& ranks, const std::string& effective_config);

/// All replicas must begin alike, or they never exchange gradients of one network. collective
/// throws: core::Error on a rank whose weights differ from rank 0's
void check_equal_start(comm::Ranks& ranks, const nn::Replica& replica);

/// How many processes of this node's job come before this one.
int place_on_node(const comm::Ranks& ranks);

/// How many ranks of this node run on the same processors as this one. collective
int ranks_on_these_processors(comm::Ranks& ranks);

}  // namespace sagips::run

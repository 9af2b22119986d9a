#pragma once
#include <string>

#include "sagips/run/settings.hpp"

namespace sagips::run {

/// What a training with such examples takes of memory at most, and whether this machine has it: "memory: about
/// 1.1 GB a rank for a training (batch 8), 3.2 GB for the 3 ranks of this node". Found by what a few rows take, to
/// some 20 %; the first rank alone judges rows kept aside.
/// ranks: of this node
std::string memory_of_training(const Job& job, const data::ExampleSets& sets, int ranks);

}  // namespace sagips::run

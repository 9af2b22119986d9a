#pragma once
#include <string>

#include "sagips/run/settings.hpp"

namespace sagips::run {

/// What a training with such examples takes of memory at most, and whether this machine has it: "memory: about
/// 1.1 GB for a training (batch 8)". Found by what a few rows take, to some 20 %.
std::string memory_of_training(const Job& job, const data::ExampleSets& sets);

}  // namespace sagips::run

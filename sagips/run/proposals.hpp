#pragma once
#include <string>

#include "sagips/data/torch.hpp"
#include "sagips/nn/replica.hpp"
#include "sagips/record/run_directory.hpp"

namespace sagips::run {

/// Proposed parameters as .npy. shape: [rows, parameters], float32, physical units
void write_proposals(const std::string& path, const torch::Tensor& proposals);

/// The flat weights of each rank's generator, shared part first, as `generator.npy`.
/// shape: [ranks, weights]
void write_generators(const record::RunDirectory& folder, const torch::Tensor& weights);

/// Reads them back. `generator` tells how many there are. shape: [ranks, weights]
/// throws: DataError when the file is missing or of another network
torch::Tensor read_generators(const std::string& run, const nn::Replica& generator);

}  // namespace sagips::run

#pragma once
#include <string>

#include <torch/torch.h>

#include "sagips/nn/replica.hpp"
#include "sagips/record/run_directory.hpp"

namespace sagips::cli {

/// Proposed parameters as .npy. shape: [rows, parameters], float32, physical units
void write_proposals(const std::string& path, const torch::Tensor& proposals);

/// The generator's flat weights, shared part first, as `generator.npy`.
void write_generator(const record::RunDirectory& folder, const nn::Replica& generator);

/// Puts them back. throws: DataError when the file is missing or of another network
void read_generator(const std::string& run, nn::Replica& generator);

}  // namespace sagips::cli

#pragma once
#include <string>

#include "sagips/data/torch.hpp"
#include "sagips/nn/replica.hpp"

namespace sagips::run {

/// throws: ConfigError where rows cannot be written into a file of that name: they are .npy alone
void check_rows_file(const std::string& out);

/// Writes rows as .npy, float32: proposed parameters [rows, parameters], physical units; or the
/// flat weights of each rank's generator [ranks, weights], shared part first.
void write_rows(const std::string& path, const torch::Tensor& rows);

/// Reads the weights of a run's generators back. `generator` tells how many there are. shape:
/// [ranks, weights]
/// throws: DataError when the file is missing or of another network
torch::Tensor read_generators(const std::string& run, const nn::Replica& generator);

}  // namespace sagips::run

#pragma once
#include <string>
#include <vector>

#include "sagips/data/examples.hpp"
#include "sagips/data/torch.hpp"
#include "sagips/nn/replica.hpp"

namespace sagips::run {

/// throws: ConfigError where rows cannot be written into a file of that name
void check_rows_file(const std::string& out, const std::vector<std::string>& endings = {".npy"});

/// Writes rows as .npy, float32: proposed parameters [rows, parameters], physical units; or the
/// flat weights of each rank's generator [ranks, weights], shared part first.
void write_rows(const std::string& path, const torch::Tensor& rows);
/// Inputs, some at a time, so that there may be more than memory holds.
void write_rows(const std::string& path, const data::ExampleRows& rows);

/// Reads the weights of a run's generators back. `generator` tells how many there are. shape:
/// [ranks, weights]
/// throws: DataError when the file is missing or of another network
torch::Tensor read_generators(const std::string& run, const nn::Replica& generator);

}  // namespace sagips::run

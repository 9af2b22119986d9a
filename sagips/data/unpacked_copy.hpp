#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sagips/data/torch.hpp"

namespace sagips::data {

/// Writes rows [rows, ...] float32 as a .npy file of the cache. throws: core::StorageError
void write_copy(const torch::Tensor& rows, const std::string& copy);

/// The same of a data set that keeps its rows in chunks, some of them at a time. shape: of the data set
/// throws: DataError for a number that is not finite, core::StorageError
void unpack_hdf5(const std::string& path, const std::string& dataset,
                 const std::vector<std::int64_t>& shape, const std::string& copy);

}  // namespace sagips::data

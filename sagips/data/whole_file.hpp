#pragma once
#include <string>
#include <vector>

#include "sagips/data/torch.hpp"

namespace sagips::data {

enum class FileFormat { npy, csv, hdf5, idx, packed_idx };

/// By the name's end; what has none that is known passes for the idx format.
FileFormat format_of(const std::string& path);

/// A file of any format in memory, before anything is chosen of it.
struct WholeFile {
  torch::Tensor values;            ///< [rows, ...] float32
  std::vector<std::string> names;  ///< of the columns; empty: they are numbered
};

/// The names in the first line of a .csv or .csv.gz; empty where it holds numbers. throws: DataError
std::vector<std::string> column_names(const std::string& path);

/// throws: DataError for what is broken, ragged or no number, with the line where there is one
WholeFile read_whole(const std::string& path, const std::string& hdf5_dataset);

}  // namespace sagips::data

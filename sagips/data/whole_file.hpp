#pragma once
#include <string>
#include <vector>

#include "sagips/data/torch.hpp"

namespace sagips::data {

enum class FileFormat { npy, csv, hdf5, idx, packed_idx };

/// By the name's end; what has none that is known passes for the idx format.
FileFormat format_of(const std::string& path);

/// Why a column cannot be learned from; empty: it can. line: where, or 0
struct Refusal {
  std::size_t line = 0;
  std::string problem;
};

/// A file of any format in memory, before anything is chosen of it.
struct WholeFile {
  torch::Tensor values;             ///< [rows, ...] float32
  std::vector<std::string> names;   ///< of the columns; empty: they are numbered
  std::vector<Refusal> refusals{};  ///< of each column, which may not be asked for; empty: none
};

/// The names in the first line of a .csv or .csv.gz; empty where it holds numbers. throws: DataError
std::vector<std::string> column_names(const std::string& path);

/// One column of a .csv or .csv.gz as it is written. throws: DataError, also for an empty cell
std::vector<std::string> text_column(const std::string& path, const std::string& column);

/// throws: DataError for what is broken or ragged, with the line where there is one
WholeFile read_whole(const std::string& path, const std::string& hdf5_dataset);

}  // namespace sagips::data

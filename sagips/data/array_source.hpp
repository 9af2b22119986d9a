#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sagips/core/config/config.hpp"

namespace sagips::data {

/// Rows of numbers in one or several files: .npy, .csv, .hdf5 or .h5, or the idx format of MNIST; .csv
/// and idx also packed by gzip.
struct ArraySource {
  std::vector<std::string> file{};  ///< also patterns (train_*.h5) and lists (.txt, a file a line)
  std::string hdf5_dataset{};       ///< or a group, whose arrays follow each other in a row
  std::vector<std::string> columns{};   ///< empty: all
  std::vector<std::int64_t> shape{};    ///< of a row; empty: as the file has it
  std::string select{};                 ///< of each of a row's dimensions, as NumPy writes it
  std::vector<std::int64_t> reorder{};  ///< of a row's dimensions, from 0
  std::optional<double> divide_by{};
  std::string script{};  ///< TorchScript function of rows

  void fields(core::FieldList& list);
  bool is_given() const { return !file.empty(); }
};

}  // namespace sagips::data

#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sagips/core/config/config.hpp"
#include "sagips/data/torch.hpp"

namespace sagips::data {

/// Rows of numbers in a file: .npy, .csv, .hdf5 or .h5, or the idx format of MNIST; .csv and idx also
/// packed by gzip.
struct ArraySource {
  std::string file;
  std::string hdf5_dataset{};
  std::vector<std::string> columns{};  ///< empty: all
  std::vector<std::int64_t> shape{};   ///< of a row; empty: as the file has it
  double divide_by = 1;

  void fields(core::FieldList& list);
  bool is_given() const { return !file.empty(); }
};

/// Reads and checks a file: every row has the same length, every number is finite.
/// without: columns that are left out where `columns` is empty, since another array has them
/// source: the idx format as the page of MNIST has it (LeCun, Cortes and Burges): two zeros, a type, the
///         number of dimensions, each as a big-endian u32, the numbers
/// shape: [rows, ...] float32. throws: DataError
torch::Tensor read_array(const ArraySource& source, const std::vector<std::string>& without = {});

}  // namespace sagips::data

#pragma once
#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sagips/core/npy_header.hpp"

namespace sagips::core {

/// A numeric array of a .npy file, row-major, converted to double.
struct NpyArray {
  std::vector<std::size_t> shape;
  std::vector<double> values;
  std::size_t first_row = 0;  ///< where it begins in the file, of which it may be a part
};

/// One of `count` consecutive, equal shares of rows, of which the first ones get a row more; of that
/// share the rows from `skip` on, at most `most` of them, so that a file can be read in pieces.
struct RowShare {
  std::size_t index = 0, count = 1;
  std::size_t skip = 0, most = std::numeric_limits<std::size_t>::max();

  std::size_t first(std::size_t rows) const {
    return index * (rows / count) + std::min(index, rows % count) + std::min(skip, share(rows));
  }
  std::size_t size(std::size_t rows) const {
    return std::min(most, share(rows) - std::min(skip, share(rows)));
  }

 private:
  std::size_t share(std::size_t rows) const { return rows / count + (index < rows % count); }
};

/// Reads format versions 1.0 to 3.0 with numbers (f2 excluded: f4, f8, i1..i8, u1..u8, b1), either
/// byte order, C or Fortran order. Refuses with a DataError: pickled objects (they can execute
/// code), strings, structures, complex numbers, a truncated or foreign file. source:
/// numpy.lib.format documentation
NpyArray read_npy(const std::string& path);

/// A share of the rows (the first axis), without reading the others.
NpyArray read_npy(const std::string& path, const RowShare& share);

/// What a file holds, once its size has been compared with that. throws: DataError
NpyHeader read_npy_header(const std::string& path);

/// Numbers as such a file holds them, of whole items, as single precision.
void convert_numbers(const NpyHeader& header, const char* bytes, std::span<float> numbers);

/// The same from bytes in memory; `file` names them in messages.
NpyArray parse_npy(std::string_view bytes, const std::string& file);

/// What a .npy file of version 1.0 begins with: row-major, little-endian. type: "<f4" or "<f8"
std::string npy_header_bytes(const std::vector<std::size_t>& shape, const char* type);

/// What a .npy file of version 1.0 in f8 holds, row-major.
std::string npy_bytes(std::span<const double> values, const std::vector<std::size_t>& shape);

/// Writes version 1.0, little-endian f4, row-major; written aside and renamed, so a reader never
/// sees half a file. throws: StorageError
void write_npy(const std::string& path, std::span<const float> values,
               const std::vector<std::size_t>& shape);
void write_npy(const std::string& path, std::span<const double> values,
               const std::vector<std::size_t>& shape);

}  // namespace sagips::core

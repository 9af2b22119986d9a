#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sagips::core {

/// A numeric array of a .npy file, row-major, converted to double.
struct NpyArray {
  std::vector<std::size_t> shape;
  std::vector<double> values;
};

/// One of `count` consecutive, equal shares of rows; the first ones get a row more.
struct RowShare {
  std::size_t index = 0, count = 1;

  std::size_t first(std::size_t rows) const {
    return index * (rows / count) + (index < rows % count ? index : rows % count);
  }
  std::size_t size(std::size_t rows) const { return rows / count + (index < rows % count ? 1 : 0); }
};

/// Reads format versions 1.0 to 3.0 with numbers (f2 excluded: f4, f8, i1..i8, u1..u8, b1), either
/// byte order, C or Fortran order. Refuses with a DataError: pickled objects (they can execute
/// code), strings, structures, complex numbers, a truncated or foreign file. source:
/// numpy.lib.format documentation
NpyArray read_npy(const std::string& path);

/// A share of the rows (the first axis), without reading the others. Refuses Fortran order, where
/// rows do not lie together.
NpyArray read_npy(const std::string& path, const RowShare& share);

/// The same from bytes in memory; `file` names them in messages.
NpyArray parse_npy(std::string_view bytes, const std::string& file);

/// What a .npy file of version 1.0 in f8 holds, row-major.
std::string npy_bytes(std::span<const double> values, const std::vector<std::size_t>& shape);

/// Writes version 1.0, little-endian f4, row-major; written aside and renamed, so a reader never
/// sees half a file. throws: StorageError
void write_npy(const std::string& path, std::span<const float> values,
               const std::vector<std::size_t>& shape);
void write_npy(const std::string& path, std::span<const double> values,
               const std::vector<std::size_t>& shape);

}  // namespace sagips::core

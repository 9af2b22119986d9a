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

/// Reads format versions 1.0 to 3.0 with numbers (f2 excluded: f4, f8, i1..i8, u1..u8, b1), either
/// byte order, C or Fortran order. Refuses with a DataError: pickled objects (they can execute
/// code), strings, structures, complex numbers, a truncated or foreign file. source:
/// numpy.lib.format documentation
NpyArray read_npy(const std::string& path);

/// The same from bytes in memory; `file` names them in messages.
NpyArray parse_npy(std::string_view bytes, const std::string& file);

/// Writes version 1.0, little-endian f4, row-major; written aside and renamed, so a reader never
/// sees half a file. throws: StorageError
void write_npy(const std::string& path, std::span<const float> values,
               const std::vector<std::size_t>& shape);
void write_npy(const std::string& path, std::span<const double> values,
               const std::vector<std::size_t>& shape);

}  // namespace sagips::core

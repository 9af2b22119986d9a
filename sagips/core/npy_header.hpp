#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sagips::core {

/// What the first bytes of a .npy file say about the rest.
struct NpyHeader {
  char kind;               ///< 'f' real, 'i' signed, 'u' unsigned, 'b' true or false
  std::size_t item_bytes;  ///< 1, 2, 4 or 8
  bool big_endian;
  bool fortran_order;
  std::vector<std::size_t> shape;
  std::size_t data_offset;  ///< where the numbers begin
  std::size_t count;        ///< product of the shape; count * item_bytes does not overflow
};

/// Reads the header and refuses what read_npy refuses; `file` names the file in messages.
/// Does not compare the size it announces with the bytes that follow.
/// source: numpy.lib.format documentation; throws: DataError
NpyHeader parse_npy_header(std::string_view bytes, const std::string& file);

}  // namespace sagips::core

#include "sagips/data/idx.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>

#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"

namespace sagips::data {

using core::DataError;
using core::text;

namespace {

struct IdxType {
  unsigned char code;
  char kind;  ///< as core::NpyHeader has it
  std::size_t bytes;
};
constexpr IdxType idx_types[] = {{0x08, 'u', 1}, {0x09, 'i', 1}, {0x0b, 'i', 2},
                                 {0x0c, 'i', 4}, {0x0d, 'f', 4}, {0x0e, 'f', 8}};
constexpr std::size_t longest_header = 4 + 4 * 255;

}  // namespace

core::NpyHeader parse_idx_header(std::string_view bytes, std::size_t file_bytes,
                                 const std::string& file) {
  const auto byte = [&](std::size_t i) -> std::size_t {
    return static_cast<unsigned char>(bytes[i]);
  };
  const bool begins_well = bytes.size() >= 4 && byte(0) == 0 && byte(1) == 0 && byte(3) > 0;
  const auto* const type =
      begins_well ? std::find_if(std::begin(idx_types), std::end(idx_types),
                                 [&](const IdxType& one) { return one.code == byte(2); })
                  : std::end(idx_types);
  const std::size_t header = begins_well ? 4 + 4 * byte(3) : 4;
  if (type == std::end(idx_types) || bytes.size() < header)
    throw DataError(file, "is no idx file. Give a .npy, .csv, .hdf5, .h5 or idx file.");
  core::NpyHeader layout{type->kind, type->bytes, true, false, {}, header, 1};
  // sizes that a broken header multiplies to are compared as real numbers, which do not overflow
  auto announced = static_cast<double>(type->bytes);
  for (std::size_t i = 4; i < header; i += 4) {
    const std::size_t size = byte(i) << 24U | byte(i + 1) << 16U | byte(i + 2) << 8U | byte(i + 3);
    layout.shape.push_back(size);
    announced *= static_cast<double>(size);
  }
  if (announced != static_cast<double>(file_bytes - header))
    throw DataError(file,
                    text("announces ", core::round_trip(announced), " bytes of numbers and has ",
                         file_bytes - header, " (truncated?). Copy it again."));
  // beside a size of 0 the others may be of any size, and must not be multiplied
  if (announced == 0) throw DataError(file, "holds no rows. Give a file with some.");
  layout.count = (file_bytes - header) / type->bytes;
  return layout;
}

core::NpyHeader read_idx_header(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return parse_idx_header(core::read_file(path), 0, path);  // says why
  const auto file_bytes = static_cast<std::size_t>(file.tellg());
  std::string bytes(std::min(file_bytes, longest_header), '\0');
  file.seekg(0);
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return parse_idx_header(bytes, file_bytes, path);
}

}  // namespace sagips::data

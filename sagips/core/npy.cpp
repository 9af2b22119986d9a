#include "sagips/core/npy.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <fstream>

#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/npy_header.hpp"
#include "sagips/core/text.hpp"

namespace sagips::core {
namespace {

template <class Number>
Number number_at(const char* place, bool is_foreign) {
  char bytes[sizeof(Number)];
  std::memcpy(bytes, place, sizeof bytes);
  if (is_foreign) std::reverse(bytes, bytes + sizeof bytes);
  Number number;
  std::memcpy(&number, bytes, sizeof number);
  return number;
}

template <class Number, class To>
void convert_as(bool is_foreign, const char* place, std::span<To> values) {
  for (To& value : values) {
    value = static_cast<To>(number_at<Number>(place, is_foreign));
    place += sizeof(Number);
  }
}

template <class To>
void convert(const NpyHeader& header, const char* place, std::span<To> values) {
  const bool is_foreign = header.big_endian != (std::endian::native == std::endian::big);
  const auto as = [&]<class Number>(Number) { convert_as<Number>(is_foreign, place, values); };
  if (header.kind == 'f') return header.item_bytes == 4 ? as(float{}) : as(double{});
  const bool is_signed = header.kind == 'i';
  switch (header.item_bytes) {
    case 1:
      return is_signed ? as(std::int8_t{}) : as(std::uint8_t{});
    case 2:
      return is_signed ? as(std::int16_t{}) : as(std::uint16_t{});
    case 4:
      return is_signed ? as(std::int32_t{}) : as(std::uint32_t{});
    default:
      return is_signed ? as(std::int64_t{}) : as(std::uint64_t{});
  }
}

// Column-major to row-major: the last index runs fastest in the result, the first in the input.
std::vector<double> row_major(const std::vector<double>& values,
                              const std::vector<std::size_t>& shape) {
  std::vector<double> ordered(values.size());
  std::vector<std::size_t> index(shape.size(), 0);
  for (double& value : ordered) {
    std::size_t place = 0;
    for (std::size_t axis = shape.size(); axis-- > 0;) place = place * shape[axis] + index[axis];
    value = values[place];
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      if (++index[axis] < shape[axis]) break;
      index[axis] = 0;
    }
  }
  return ordered;
}

void check_size(const NpyHeader& header, std::size_t file_bytes, const std::string& path) {
  const std::size_t announced = header.count * header.item_bytes;
  const std::size_t present = file_bytes - header.data_offset;
  if (present < announced)
    throw DataError(path, text("is truncated: its header announces ", announced,
                               " bytes of numbers, ", present, " are there. Copy it again."));
  if (present > announced)
    throw DataError(path, text("goes on after its last number: its header announces ", announced,
                               " bytes, ", present, " are there. Write it again with numpy.save."));
}

std::string part_of(std::ifstream& file, const std::string& path, std::size_t offset,
                    std::size_t size) {
  std::string bytes(size, '\0');
  file.seekg(static_cast<std::streamoff>(offset));
  if (!file.read(bytes.data(), static_cast<std::streamsize>(size)))
    throw DataError(path, "cannot be read to its end. Copy it again.");
  return bytes;
}

template <class Number>
void write_as_single(const std::string& path, std::span<const Number> values,
                     const std::vector<std::size_t>& shape) {
  std::size_t count = 1;
  for (const std::size_t size : shape) count *= size;
  if (count != values.size())
    throw Error(text("write_npy: a shape of ", count, " numbers was given ", values.size(), "."));
  std::string content = npy_header_bytes(shape, "<f4");
  content.reserve(content.size() + 4 * values.size());
  for (const Number value : values) {
    const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
    for (int shift = 0; shift < 32; shift += 8) content += static_cast<char>(bits >> shift & 0xff);
  }
  write_file(path, content);
}

}  // namespace

// The dictionary is padded so that the numbers begin at a multiple of 64 bytes.
std::string npy_header_bytes(const std::vector<std::size_t>& shape, const char* type) {
  std::string sizes;
  for (const std::size_t size : shape) sizes += text(size, ", ");
  if (shape.size() > 1) sizes.resize(sizes.size() - 2);
  if (shape.size() == 1) sizes.pop_back();
  std::string dictionary =
      text("{'descr': '", type, "', 'fortran_order': False, 'shape': (", sizes, "), }");
  constexpr std::size_t preamble = 10, alignment = 64;
  while ((preamble + dictionary.size() + 1) % alignment != 0) dictionary += ' ';
  dictionary += '\n';
  const std::size_t length = dictionary.size();
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(length & 0xff);
  header += static_cast<char>(length >> 8);
  return header + dictionary;
}

std::string npy_bytes(std::span<const double> values, const std::vector<std::size_t>& shape) {
  std::string content = npy_header_bytes(shape, "<f8");
  const std::size_t start = content.size();
  content.resize(start + values.size_bytes());
  // the machines that LibTorch runs on are little-endian
  std::memcpy(content.data() + start, values.data(), values.size_bytes());
  return content;
}

NpyArray read_npy(const std::string& path) { return parse_npy(read_file(path), path); }

NpyHeader read_npy_header(const std::string& path) {
  constexpr std::size_t longest = 1 << 16;
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return parse_npy_header(read_file(path), path);  // says why
  const auto file_bytes = static_cast<std::size_t>(file.tellg());
  NpyHeader header = parse_npy_header(part_of(file, path, 0, std::min(file_bytes, longest)), path);
  check_size(header, file_bytes, path);
  return header;
}

void convert_numbers(const NpyHeader& header, const char* bytes, std::span<float> numbers) {
  convert(header, bytes, numbers);
}

NpyArray read_npy(const std::string& path, const RowShare& share) {
  const NpyHeader header = read_npy_header(path);
  std::ifstream file(path, std::ios::binary);
  const auto read = [&](std::size_t offset, std::size_t size) {
    return part_of(file, path, offset, size);
  };
  if (header.shape.empty()) return read_npy(path);
  const std::size_t rows = header.shape[0], row = rows > 0 ? header.count / rows : 0;
  const std::size_t first = share.first(rows), size = share.size(rows);
  NpyArray array{header.shape, std::vector<double>(size * row), first};
  array.shape[0] = size;
  // in Fortran order the rows of a share lie together in each column, else all in one stretch
  const bool fortran = header.fortran_order && header.shape.size() > 1;
  const std::size_t stretches = fortran ? row : 1, width = fortran ? 1 : row;
  std::string bytes;
  for (std::size_t i = 0; i < stretches; ++i)
    bytes += read(header.data_offset + (i * rows + first) * width * header.item_bytes,
                  size * width * header.item_bytes);
  convert(header, bytes.data(), std::span(array.values));
  if (fortran) array.values = row_major(array.values, array.shape);
  return array;
}

NpyArray parse_npy(std::string_view bytes, const std::string& file) {
  const NpyHeader header = parse_npy_header(bytes, file);
  check_size(header, bytes.size(), file);
  NpyArray array{header.shape, std::vector<double>(header.count)};
  convert(header, bytes.data() + header.data_offset, std::span(array.values));
  if (header.fortran_order && header.shape.size() > 1)
    array.values = row_major(array.values, header.shape);
  return array;
}

void write_npy(const std::string& path, std::span<const float> values,
               const std::vector<std::size_t>& shape) {
  write_as_single(path, values, shape);
}

void write_npy(const std::string& path, std::span<const double> values,
               const std::vector<std::size_t>& shape) {
  write_as_single(path, values, shape);
}

}  // namespace sagips::core

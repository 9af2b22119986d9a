#pragma once
#include <cstring>
#include <string>
#include <vector>

namespace sagips::testing {

/// A .npy file put together by hand: preamble of `version`, any dictionary, any data.
inline std::string npy_bytes(const std::string& dictionary, const std::string& data,
                             char version = 1) {
  std::string bytes = "\x93NUMPY";
  bytes += version;
  bytes += '\0';
  const std::size_t length = dictionary.size();
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i)
    bytes += static_cast<char>(length >> (8 * i) & 0xff);
  return bytes + dictionary + data;
}

inline std::string npy_dictionary(const std::string& type, const std::string& shape,
                                  const std::string& fortran_order = "False") {
  return "{'descr': '" + type + "', 'fortran_order': " + fortran_order + ", 'shape': " + shape +
         ", }\n";
}

/// The memory of numbers, as this machine (little-endian) keeps them.
template <class Number>
std::string raw(const std::vector<Number>& numbers) {
  std::string bytes(numbers.size() * sizeof(Number), '\0');
  if (!numbers.empty()) std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

}  // namespace sagips::testing

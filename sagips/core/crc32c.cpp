#include "sagips/core/crc32c.hpp"

#include <array>

namespace sagips::core {
namespace {

constexpr std::uint32_t reversed_polynomial = 0x82F63B78;

constexpr std::array<std::uint32_t, 256> make_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t remainder = byte;
    for (int bit = 0; bit < 8; ++bit)
      remainder = (remainder >> 1) ^ ((remainder & 1) != 0 ? reversed_polynomial : 0);
    table[byte] = remainder;
  }
  return table;
}

constexpr std::array<std::uint32_t, 256> table = make_table();

}  // namespace

std::uint32_t crc32c(std::string_view bytes, std::uint32_t before) {
  std::uint32_t remainder = ~before;
  for (const char byte : bytes)
    remainder = (remainder >> 8) ^ table[(remainder ^ static_cast<unsigned char>(byte)) & 0xFF];
  return ~remainder;
}

}  // namespace sagips::core

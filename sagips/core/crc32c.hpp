#pragma once
#include <cstdint>
#include <string_view>

namespace sagips::core {

/// Cyclic redundancy check with Castagnoli's polynomial; `before` goes on where an earlier call
/// ended. Finds every error burst of up to 32 bits.
/// cost: one table look-up a byte
/// source: RFC 3720, appendix B.4
std::uint32_t crc32c(std::string_view bytes, std::uint32_t before = 0);

}  // namespace sagips::core

#pragma once
#include <cstdint>
#include <string_view>

namespace sagips::core {

/// FNV-1a with 64 bits; `hash` goes on where an earlier call ended.
/// source: Fowler, Noll, Vo
constexpr std::uint64_t fnv1a(std::string_view bytes, std::uint64_t hash = 0xcbf29ce484222325) {
  for (const char byte : bytes) {
    hash ^= static_cast<unsigned char>(byte);
    hash *= 0x100000001b3;
  }
  return hash;
}

}  // namespace sagips::core

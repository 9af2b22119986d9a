#pragma once
#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

#include "tests/cuda/shim.hpp"

namespace shim {

/// Memory as a GPU's: what nobody wrote is not a number, and what lies behind the end shows.
class Memory {
 public:
  explicit Memory(std::integral auto bytes)
      : bytes_(static_cast<std::size_t>(bytes)), memory_(bytes_ / 16 + 65) {
    std::memset(memory_.data(), 0xff, memory_.size() * 16);
  }
  explicit Memory(const std::vector<float>& from) : Memory(from.size() * sizeof(float)) {
    std::memcpy(memory_.data(), from.data(), bytes_);
  }
  float* data() { return reinterpret_cast<float*>(memory_.data()); }
  std::vector<float> floats() { return {data(), data() + bytes_ / sizeof(float)}; }
  bool end_is_untouched() const {
    const auto* const all = reinterpret_cast<const unsigned char*>(memory_.data());
    return std::all_of(all + bytes_, all + memory_.size() * 16,
                       [](unsigned char byte) { return byte == 0xff; });
  }

 private:
  std::size_t bytes_;
  std::vector<uint4> memory_;
};

/// Another card, while it lives.
struct Card {
  Card(size_t limit, int count)
      : shared_limit(std::exchange(shim::shared_limit, limit)),
        multiprocessors(std::exchange(shim::multiprocessors, count)) {}
  ~Card() { shim::shared_limit = shared_limit, shim::multiprocessors = multiprocessors; }
  Card(const Card&) = delete;
  Card& operator=(const Card&) = delete;
  size_t shared_limit;
  int multiprocessors;
};

}  // namespace shim

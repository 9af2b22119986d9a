#pragma once
#include <cstdint>
#include <random>
#include <string>
#include <utility>

namespace sagips::testing {

/// Changes, removes, doubles or swaps a few bytes, often to `telling` ones, which the format gives
/// a meaning. The same seed gives the same mutations everywhere.
class Mutator {
 public:
  Mutator(std::uint32_t seed, std::string telling) : engine_(seed), telling_(std::move(telling)) {}

  std::string operator()(std::string bytes) {
    const std::size_t changes = 1 + below(4);
    for (std::size_t i = 0; i < changes && !bytes.empty(); ++i) change(bytes);
    return bytes;
  }

 private:
  void change(std::string& bytes) {
    // Drawn one by one: the order in which arguments are evaluated differs between compilers.
    const std::size_t kind = below(6), place = below(bytes.size()), other = below(bytes.size());
    const std::size_t count = below(24);
    const char any = static_cast<char>(below(256)), telling = telling_[below(telling_.size())];
    switch (kind) {
      case 0:
        bytes[place] = any;
        break;
      case 1:
        bytes[place] = telling;
        break;
      case 2:
        bytes.erase(place, 1 + count / 3);
        break;
      case 3:
        bytes.insert(place, 1 + count, telling);
        break;
      case 4:
        bytes.insert(place, bytes.substr(other, 2 * count));
        break;
      default:
        std::swap(bytes[place], bytes[other]);
        break;
    }
  }
  // Not a standard distribution: those differ from one library to the next.
  std::size_t below(std::size_t bound) { return engine_() % bound; }

  std::mt19937 engine_;
  std::string telling_;
};

}  // namespace sagips::testing

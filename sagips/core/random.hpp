#pragma once
#include <cstdint>
#include <span>
#include <string_view>

namespace sagips::core {

/// Counter-based random numbers (Philox4x32-10, Salmon et al., SC'11): a number is a pure function
/// of its name (seed, purpose, step, sample, dimension, event), so it depends on neither ranks,
/// threads nor tiles.
///
/// Philox key = SplitMix64(SplitMix64(seed) ^ FNV-1a(purpose)), low word first; counter = (event /
/// 4, dimension, sample, step) for floats. Doubles and whole numbers take 64 bits each, so event /
/// 2, under keys of their own.
///
/// throws: Error for an event number beyond 2^32 or a bound that is 0 or too large
class RandomStream {
 public:
  RandomStream(std::uint64_t seed, std::string_view purpose, std::uint32_t step = 0);

  /// What names the stream, for those who make the same numbers elsewhere.
  struct Name {
    std::uint32_t key[2];
    std::uint32_t step;
  };
  Name name() const { return {{key_[0], key_[1]}, step_}; }

  /// The same name at another step.
  RandomStream at_step(std::uint32_t step) const;

  /// Uniform numbers in the open interval (0, 1), multiples of 2^-24, for events first_event,
  /// first_event + 1, ...
  void uniform(std::uint32_t sample, std::uint32_t dimension, std::span<float> events,
               std::uint32_t first_event = 0) const;
  /// The same with 52 random bits. Its leading bits are unrelated to the float version's.
  void uniform(std::uint32_t sample, std::uint32_t dimension, std::span<double> events,
               std::uint32_t first_event = 0) const;
  /// Whole numbers in [0, bound), bound < 2^32, unbiased to 2^-32 (64-bit multiply); used to draw
  /// rows of a data set.
  void integers(std::uint32_t sample, std::uint32_t dimension, std::uint64_t bound,
                std::span<std::int64_t> events, std::uint32_t first_event = 0) const;

 private:
  std::uint32_t key_[2];
  std::uint32_t step_;
};

}  // namespace sagips::core

#include "sagips/core/random.hpp"

#include <Random123/philox.h>

#include <limits>

#include "sagips/core/error.hpp"
#include "sagips/core/hash.hpp"

namespace sagips::core {
namespace {

// Each kind of number has a key of its own, so that a float and a double of the same name share
// no bits. The words are arbitrary; changing them changes every stored result.
enum class Kind : std::uint32_t { single = 0, twice = 0x9e3779b9, whole = 0x7f4a7c15 };

// source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA'14
std::uint64_t split_mix(std::uint64_t state) {
  state += 0x9e3779b97f4a7c15;
  state = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9;
  state = (state ^ (state >> 27)) * 0x94d049bb133111eb;
  return state ^ (state >> 31);
}

float to_uniform(std::uint32_t bits) { return (static_cast<float>(bits >> 9) + 0.5F) * 0x1p-23F; }

double to_uniform(std::uint64_t bits) { return (static_cast<double>(bits >> 12) + 0.5) * 0x1p-52; }

std::uint64_t two_words(const philox4x32_ctr_t& block, std::size_t first) {
  return static_cast<std::uint64_t>(block.v[first]) << 32 | block.v[first + 1];
}

// Upper half of the 128-bit product: a whole number in [0, bound) with a bias below bound / 2^64.
std::int64_t scaled(std::uint64_t bits, std::uint64_t bound) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::int64_t>(static_cast<Wide>(bits) * bound >> 64);
}

/// The blocks of one (sample, dimension); block b holds events b * per_block, ...
struct Blocks {
  philox4x32_key_t key;
  std::uint32_t sample, dimension, step;

  philox4x32_ctr_t operator[](std::uint64_t block) const {
    const philox4x32_ctr_t counter{{static_cast<std::uint32_t>(block), dimension, sample, step}};
    return philox4x32_R(10, counter, key);
  }
};

// Walks the blocks that hold events first_event, ...; the first and the last may be used in part.
template <std::size_t per_block, class Number, class FromBlock>
void fill(const Blocks& blocks, std::span<Number> events, std::uint64_t first_event,
          FromBlock number_at) {
  // The number of a block has 32 bits in the counter.
  if (first_event + events.size() > std::uint64_t{1} << 32)
    throw Error("a random stream numbers events up to 2^32. Use another sample number beyond.");
  std::size_t done = 0;
  while (done < events.size()) {
    const std::uint64_t event = first_event + done;
    const philox4x32_ctr_t block = blocks[event / per_block];
    for (std::size_t i = event % per_block; i < per_block && done < events.size(); ++i)
      events[done++] = number_at(block, i);
  }
}

Blocks blocks_of(const std::uint32_t (&key)[2], Kind kind, std::uint32_t sample,
                 std::uint32_t dimension, std::uint32_t step) {
  return {{{key[0] ^ static_cast<std::uint32_t>(kind), key[1]}}, sample, dimension, step};
}

}  // namespace

RandomStream::RandomStream(std::uint64_t seed, std::string_view purpose, std::uint32_t step)
    : step_(step) {
  const std::uint64_t hash = split_mix(split_mix(seed) ^ fnv1a(purpose));
  key_[0] = static_cast<std::uint32_t>(hash);
  key_[1] = static_cast<std::uint32_t>(hash >> 32);
}

RandomStream RandomStream::at_step(std::uint32_t step) const {
  RandomStream moved = *this;
  moved.step_ = step;
  return moved;
}

void RandomStream::uniform(std::uint32_t sample, std::uint32_t dimension, std::span<float> events,
                           std::uint32_t first_event) const {
  fill<4>(blocks_of(key_, Kind::single, sample, dimension, step_), events, first_event,
          [](const philox4x32_ctr_t& block, std::size_t i) { return to_uniform(block.v[i]); });
}

void RandomStream::uniform(std::uint32_t sample, std::uint32_t dimension, std::span<double> events,
                           std::uint32_t first_event) const {
  fill<2>(blocks_of(key_, Kind::twice, sample, dimension, step_), events, first_event,
          [](const philox4x32_ctr_t& block, std::size_t i) {
            return to_uniform(two_words(block, 2 * i));
          });
}

void RandomStream::integers(std::uint32_t sample, std::uint32_t dimension, std::uint64_t bound,
                            std::span<std::int64_t> events, std::uint32_t first_event) const {
  if (bound == 0 || bound >= std::uint64_t{1} << 32)
    throw Error("random whole numbers need a bound from 1 to 2^32 - 1.");
  fill<2>(blocks_of(key_, Kind::whole, sample, dimension, step_), events, first_event,
          [bound](const philox4x32_ctr_t& block, std::size_t i) {
            return scaled(two_words(block, 2 * i), bound);
          });
}

}  // namespace sagips::core

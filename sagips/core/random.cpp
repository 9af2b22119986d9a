#include "sagips/core/random.hpp"

#include <Random123/philox.h>

#include <algorithm>
#include <cstddef>

#include "sagips/core/error.hpp"
#include "sagips/core/hash.hpp"

#if defined(__x86_64__) && defined(__GNUC__)
#define SAGIPS_HAS_AVX2_PATH
#include <immintrin.h>
#endif

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

// Through signed numbers: the bits fit, and processors without AVX-512 convert no others.
float to_uniform(std::uint32_t bits) {
  return (static_cast<float>(static_cast<std::int32_t>(bits >> 9)) + 0.5F) * 0x1p-23F;
}

double to_uniform(std::uint64_t bits) {
  return (static_cast<double>(static_cast<std::int64_t>(bits >> 12)) + 0.5) * 0x1p-52;
}

std::uint64_t two_words(const std::uint32_t* words) {
  return static_cast<std::uint64_t>(words[0]) << 32 | words[1];
}

// Upper half of the 128-bit product: a whole number in [0, bound) with a bias below bound / 2^64.
std::int64_t scaled(std::uint64_t bits, std::uint64_t bound) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::int64_t>(static_cast<Wide>(bits) * bound >> 64);
}

constexpr unsigned rounds = 10;

/// The blocks of one (sample, dimension); block b holds events b * per_block, ...
struct Blocks {
  philox4x32_key_t key;
  std::uint32_t sample, dimension, step;

  philox4x32_ctr_t operator[](std::uint64_t block) const {
    const philox4x32_ctr_t counter{{static_cast<std::uint32_t>(block), dimension, sample, step}};
    return philox4x32_R(rounds, counter, key);
  }
};

constexpr std::size_t words_per_block = 4;

constexpr std::size_t blocks_at_once = 64;  // a multiple of the blocks in one vector

#ifdef SAGIPS_HAS_AVX2_PATH
// Four blocks side by side, a word of each in the lower half of a 64-bit lane. The multiplication
// reads lower halves and gives whole products, so upper halves may hold anything; compilers do not
// find this, they multiply 64 by 64 bits. Writes whole groups of four blocks.
// source: philox4x32_R of Random123
__attribute__((target("avx2"))) void draw_words_in_vectors(const Blocks& blocks,
                                                           std::uint32_t first, std::size_t count,
                                                           std::uint32_t* words) {
  const __m256i multiplier0 = _mm256_set1_epi64x(PHILOX_M4x32_0);
  const __m256i multiplier1 = _mm256_set1_epi64x(PHILOX_M4x32_1);
  __m256i keys[2][rounds];
  for (std::uint32_t r = 0; r < rounds; ++r) {
    keys[0][r] = _mm256_set1_epi64x(blocks.key.v[0] + r * PHILOX_W32_0);
    keys[1][r] = _mm256_set1_epi64x(blocks.key.v[1] + r * PHILOX_W32_1);
  }
  for (std::uint32_t b = 0; b < count; b += 4) {
    __m256i c0 = _mm256_add_epi64(_mm256_set1_epi64x(first + b), _mm256_set_epi64x(3, 2, 1, 0));
    __m256i c1 = _mm256_set1_epi64x(blocks.dimension), c2 = _mm256_set1_epi64x(blocks.sample);
    __m256i c3 = _mm256_set1_epi64x(blocks.step);
    for (std::uint32_t r = 0; r < rounds; ++r) {
      const __m256i product0 = _mm256_mul_epu32(multiplier0, c0);
      const __m256i product1 = _mm256_mul_epu32(multiplier1, c2);
      c0 = _mm256_xor_si256(_mm256_srli_epi64(product1, 32), _mm256_xor_si256(c1, keys[0][r]));
      c2 = _mm256_xor_si256(_mm256_srli_epi64(product0, 32), _mm256_xor_si256(c3, keys[1][r]));
      c1 = product1;
      c3 = product0;
    }
    // Lane k: words 0 and 1, words 2 and 3 of block k; then whole blocks 0 and 2, 1 and 3.
    const __m256i front = _mm256_blend_epi32(c0, _mm256_slli_epi64(c1, 32), 0b10101010);
    const __m256i back = _mm256_blend_epi32(c2, _mm256_slli_epi64(c3, 32), 0b10101010);
    const __m256i even = _mm256_unpacklo_epi64(front, back);
    const __m256i odd = _mm256_unpackhi_epi64(front, back);
    auto* const to = reinterpret_cast<__m256i*>(words + words_per_block * b);
    _mm256_storeu_si256(to, _mm256_permute2x128_si256(even, odd, 0x20));
    _mm256_storeu_si256(to + 1, _mm256_permute2x128_si256(even, odd, 0x31));
  }
}
#endif

/// The words of blocks first, ... `words` has room for blocks_at_once of them, all may be written.
void draw_words(const Blocks& blocks, std::uint32_t first, std::size_t count,
                std::uint32_t* words) {
#ifdef SAGIPS_HAS_AVX2_PATH
  // A vector's keys cost about as much as two blocks.
  if (count > 2 && __builtin_cpu_supports("avx2"))
    return draw_words_in_vectors(blocks, first, count, words);
#endif
  for (std::size_t b = 0; b < count; ++b)
    std::copy_n(blocks[first + b].v, words_per_block, words + words_per_block * b);
}

// Walks the blocks that hold events first_event, ...; the first and the last may be used in part.
template <std::size_t words_per_number, class Number, class FromWords>
void fill(const Blocks& blocks, std::span<Number> events, std::uint64_t first_event,
          FromWords number_of) {
  // The number of a block has 32 bits in the counter.
  if (first_event + events.size() > std::uint64_t{1} << 32)
    throw Error("a random stream numbers events up to 2^32. Use another sample number beyond.");
  constexpr std::size_t per_block = words_per_block / words_per_number;
  std::uint32_t words[words_per_block * blocks_at_once];
  std::size_t skipped = first_event % per_block;
  std::uint64_t block = first_event / per_block;
  for (std::size_t done = 0; done < events.size();) {
    const std::size_t wanted = skipped + events.size() - done;
    const std::size_t count = std::min(blocks_at_once, (wanted + per_block - 1) / per_block);
    draw_words(blocks, static_cast<std::uint32_t>(block), count, words);
    const std::size_t size = std::min(wanted, count * per_block) - skipped;
    for (std::size_t i = 0; i < size; ++i)
      events[done + i] = number_of(words + words_per_number * (skipped + i));
    done += size;
    block += count;
    skipped = 0;
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
  fill<1>(blocks_of(key_, Kind::single, sample, dimension, step_), events, first_event,
          [](const std::uint32_t* words) { return to_uniform(*words); });
}

void RandomStream::uniform(std::uint32_t sample, std::uint32_t dimension, std::span<double> events,
                           std::uint32_t first_event) const {
  fill<2>(blocks_of(key_, Kind::twice, sample, dimension, step_), events, first_event,
          [](const std::uint32_t* words) { return to_uniform(two_words(words)); });
}

void RandomStream::integers(std::uint32_t sample, std::uint32_t dimension, std::uint64_t bound,
                            std::span<std::int64_t> events, std::uint32_t first_event) const {
  if (bound == 0 || bound >= std::uint64_t{1} << 32)
    throw Error("random whole numbers need a bound from 1 to 2^32 - 1.");
  fill<2>(blocks_of(key_, Kind::whole, sample, dimension, step_), events, first_event,
          [bound](const std::uint32_t* words) { return scaled(two_words(words), bound); });
}

}  // namespace sagips::core

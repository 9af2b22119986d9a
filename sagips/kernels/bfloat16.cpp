#include "sagips/kernels/bfloat16.hpp"

#ifdef SAGIPS_BFLOAT16
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>

#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // in g++ 12's own immintrin.h

namespace sagips::kernels::bfloat16 {

namespace {

// Both kinds of processor multiply pairs of bfloat16: a number of c gains x0 y0 + x1 y1 at a time.
// So both operands are packed as tiles of 16 x 16 pairs, where a pair takes the place of a float.
//   a: a line of a tile is 32 neighbours along the depth, of one row
//   b: a line of a tile is one pair along the depth, of each of 16 columns
// Tiles that follow one another along the depth lie side by side.
constexpr std::int64_t lines = 16, tile = lines * 16, pair = 2, tile_depth = 16 * pair;
constexpr std::int64_t block = 2 * lines;  // rows and columns of c that are summed at a time

std::int64_t tiles(std::int64_t depth) { return (depth + tile_depth - 1) / tile_depth; }
std::int64_t blocks(std::int64_t count) { return (count + block - 1) / block; }

SAGIPS_AVX512_BFLOAT16 inline __m512 load(const Left& left, std::int64_t row, std::int64_t column) {
  const std::int64_t count = row < left.rows ? left.columns - column : 0;
  const float* const place = left.numbers + row * left.stride + column;
  if (count >= 16) return _mm512_loadu_ps(place);
  if (count <= 0) return _mm512_setzero_ps();
  return _mm512_maskz_loadu_ps(static_cast<__mmask16>((1U << count) - 1), place);
}

/// Rounds to nearest, ties to even; NaN stays NaN; numbers below 2^-126 become 0, as they would in
/// the products. The instruction takes a quarter of the time of the best integer arithmetic.
SAGIPS_AVX512_BFLOAT16 inline __m512i rounded(__m512 low, __m512 high) {
  return (__m512i)_mm512_cvtne2ps_pbh(high, low);
}

/// Lines `row` and `row + 1` as pairs: those of one column side by side.
SAGIPS_AVX512_BFLOAT16 inline __m512i pairs(const Left& left, std::int64_t row) {
  const __m512i neighbours =
      _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7, 22, 6,
                       21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
  return _mm512_permutexvar_epi16(neighbours, rounded(load(left, row, 0), load(left, row + 1, 0)));
}

// Transposes 16 x 16 pairs in four rounds: neighbours by 1, by 2, by 4 and by 8.
SAGIPS_AVX512_BFLOAT16 inline void transpose(__m512i (&line)[lines]) {
  __m512i other[lines];
  for (int i = 0; i < 16; i += 2) {
    other[i] = _mm512_unpacklo_epi32(line[i], line[i + 1]);
    other[i + 1] = _mm512_unpackhi_epi32(line[i], line[i + 1]);
  }
  for (int i = 0; i < 16; i += 4)
    for (int k = 0; k < 2; ++k) {
      line[i + 2 * k] = _mm512_unpacklo_epi64(other[i + k], other[i + 2 + k]);
      line[i + 2 * k + 1] = _mm512_unpackhi_epi64(other[i + k], other[i + 2 + k]);
    }
  constexpr int even = 0x88, odd = 0xdd;  // which quarters of two vectors are taken
  for (int i = 0; i < 16; i += 8)
    for (int k = 0; k < 4; ++k) {
      other[i + k] = _mm512_shuffle_i32x4(line[i + k], line[i + 4 + k], even);
      other[i + 4 + k] = _mm512_shuffle_i32x4(line[i + k], line[i + 4 + k], odd);
    }
  for (int k = 0; k < 8; ++k) {
    line[k] = _mm512_shuffle_i32x4(other[k], other[8 + k], even);
    line[8 + k] = _mm512_shuffle_i32x4(other[k], other[8 + k], odd);
  }
}

/// Where a block of c is summed: in c itself, or aside where c ends within the block.
class Block {
 public:
  Block(const Packed& product, std::int64_t row, std::int64_t column, float* aside)
      : rows_(std::min(product.rows - row, block)),
        columns_(std::min(product.columns - column, block)),
        stride_(product.columns),
        c_(product.c + row * stride_ + column),
        aside_(rows_ < block || columns_ < block ? aside : nullptr) {
    if (!aside_) return;
    std::fill_n(aside_, block * block, 0.0F);
    if (!product.adds) return;
    for (std::int64_t i = 0; i < rows_; ++i)
      std::copy_n(c_ + i * stride_, columns_, aside_ + i * block);
  }
  void finish() const {
    if (!aside_) return;
    for (std::int64_t i = 0; i < rows_; ++i)
      std::copy_n(aside_ + i * block, columns_, c_ + i * stride_);
  }
  float* place() const { return aside_ ? aside_ : c_; }
  std::int64_t stride() const { return aside_ ? block : stride_; }

 private:
  std::int64_t rows_, columns_, stride_;
  float *c_, *aside_;
};

/// Eight tile registers: four of sums, two each of a and of b.
struct alignas(64) TileRegisters {
  std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
  std::uint16_t bytes_of_a_line[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t used_lines[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

// The compiler does not see what tile instructions read.
inline void memory_is_written() { asm volatile("" ::: "memory"); }

}  // namespace

std::int64_t packed_size(std::int64_t count, std::int64_t depth) {
  return block / lines * blocks(count) * tiles(depth) * tile;
}

/// a [rows, depth], as it is.
SAGIPS_AVX512_BFLOAT16 void pack_rows(const Left& a, float* packed) {
  for (std::int64_t row = 0; row < blocks(a.rows) * block; row += lines)
    for (std::int64_t k = 0; k < a.columns; k += tile_depth, packed += tile) {
      const Left left = a.from(row, k);
      for (std::int64_t i = 0; i < lines; ++i)
        _mm512_storeu_si512(packed + i * 16, rounded(load(left, i, 0), load(left, i, 16)));
    }
}

/// a [depth, rows], to be transposed.
SAGIPS_AVX512_BFLOAT16 void pack_transposed(const Left& a, float* packed) {
  for (std::int64_t row = 0; row < blocks(a.columns) * block; row += lines)
    for (std::int64_t k = 0; k < a.rows; k += tile_depth, packed += tile) {
      const Left left = a.from(k, row);
      __m512i line[lines];
      for (std::int64_t i = 0; i < lines; ++i) line[i] = pairs(left, pair * i);
      transpose(line);
      for (std::int64_t i = 0; i < lines; ++i) _mm512_storeu_si512(packed + i * 16, line[i]);
    }
}

/// b [depth, columns].
SAGIPS_AVX512_BFLOAT16 void pack_columns(const Left& b, float* packed) {
  for (std::int64_t column = 0; column < blocks(b.columns) * block; column += lines)
    for (std::int64_t k = 0; k < b.rows; k += tile_depth, packed += tile) {
      const Left left = b.from(k, column);
      for (std::int64_t i = 0; i < lines; ++i)
        _mm512_storeu_si512(packed + i * 16, pairs(left, pair * i));
    }
}

SAGIPS_AMX_BFLOAT16 void multiply_tiles(const Packed& product) {
  const TileRegisters registers;
  alignas(64) float aside[block * block];
  const std::int64_t along = tiles(product.depth) * tile;
  memory_is_written();
  _tile_loadconfig(&registers);
  for (std::int64_t column = 0; column < product.columns; column += block)
    for (std::int64_t row = 0; row < product.rows; row += block) {
      const Block here(product, row, column, aside);
      const auto stride = static_cast<std::size_t>(here.stride()) * sizeof(float);
      float* const upper = here.place();
      float* const lower = upper + lines * here.stride();
      memory_is_written();
      if (product.adds) {
        _tile_loadd(0, upper, stride);
        _tile_loadd(1, upper + 16, stride);
        _tile_loadd(2, lower, stride);
        _tile_loadd(3, lower + 16, stride);
      } else {
        _tile_zero(0);
        _tile_zero(1);
        _tile_zero(2);
        _tile_zero(3);
      }
      const float* a = product.a + row / lines * along;
      const float* b = product.b + column / lines * along;
      for (const float* const end = a + along; a != end; a += tile, b += tile) {
        _tile_loadd(4, a, 64);
        _tile_loadd(6, b, 64);
        _tile_loadd(7, b + along, 64);
        _tile_loadd(5, a + along, 64);
        _tile_dpbf16ps(0, 4, 6);
        _tile_dpbf16ps(1, 4, 7);
        _tile_dpbf16ps(2, 5, 6);
        _tile_dpbf16ps(3, 5, 7);
      }
      _tile_stored(0, upper, stride);
      _tile_stored(1, upper + 16, stride);
      _tile_stored(2, lower, stride);
      _tile_stored(3, lower + 16, stride);
      here.finish();
    }
  _tile_release();
}

SAGIPS_AVX512_BFLOAT16 void multiply_vectors(const Packed& product) {
  constexpr int together = 8;  // rows: with two vectors each, their sums stay in registers
  alignas(64) float aside[block * block];
  const std::int64_t along = tiles(product.depth) * tile;
  for (std::int64_t column = 0; column < product.columns; column += block)
    for (std::int64_t row = 0; row < product.rows; row += block) {
      const Block here(product, row, column, aside);
      const float* const b = product.b + column / lines * along;
      for (std::int64_t i = 0; i < block; i += together) {
        const float* const a = product.a + (row + i) / lines * along + i % lines * 16;
        float* const place = here.place() + i * here.stride();
        __m512 left[together], right[together];
        for (int r = 0; r < together; ++r) {
          const float* const from = place + r * here.stride();
          left[r] = product.adds ? _mm512_loadu_ps(from) : _mm512_setzero_ps();
          right[r] = product.adds ? _mm512_loadu_ps(from + 16) : _mm512_setzero_ps();
        }
        for (std::int64_t k = 0; k < along; k += tile)
          for (std::int64_t p = 0; p < 16; ++p) {
            const auto b_left = (__m512bh)_mm512_loadu_si512(b + k + p * 16);
            const auto b_right = (__m512bh)_mm512_loadu_si512(b + along + k + p * 16);
            for (int r = 0; r < together; ++r) {
              const auto factor = (__m512bh)_mm512_set1_ps(a[k + r * 16 + p]);
              left[r] = _mm512_dpbf16_ps(left[r], factor, b_left);
              right[r] = _mm512_dpbf16_ps(right[r], factor, b_right);
            }
          }
        for (int r = 0; r < together; ++r) {
          _mm512_storeu_ps(place + r * here.stride(), left[r]);
          _mm512_storeu_ps(place + r * here.stride() + 16, right[r]);
        }
      }
      here.finish();
    }
}

bool has_vectors() {
  return __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

// Linux keeps the tile registers for programs that ask for them (Documentation/arch/x86/xstate.rst).
bool has_tiles() {
  constexpr long request_permission = 0x1023, tile_data = 18;
  return __builtin_cpu_supports("amx-bf16") &&
         syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
}

}  // namespace sagips::kernels::bfloat16
#endif

#pragma once
#include <cstdint>

// The instructions are asked for by function, so that the rest of the program runs anywhere.
#if defined(__x86_64__) && defined(__linux__) && !defined(__clang__) && __GNUC__ >= 12
#define SAGIPS_BFLOAT16
#define SAGIPS_AVX512_BFLOAT16 \
  __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16")))
#define SAGIPS_AMX_BFLOAT16 __attribute__((target("avx512f,amx-tile,amx-bf16")))

namespace sagips::kernels::bfloat16 {

/// A matrix as it came, and how much of it is left from some place on; beyond that are zeros.
struct Left {
  const float* numbers;
  std::int64_t stride, rows, columns;

  Left from(std::int64_t row, std::int64_t column) const {
    return {numbers + row * stride + column, stride, rows - row, columns - column};
  }
};

/// Floats that a matrix of so many rows (of a) or columns (of b) takes when it is packed.
std::int64_t packed_size(std::int64_t count, std::int64_t depth);

/// Rounds to nearest, ties to even; NaN stays NaN; numbers below 2^-126 become 0.
/// shape: a [rows, depth], its transposed form [depth, rows]; b [depth, columns]
SAGIPS_AVX512_BFLOAT16 void pack_rows(const Left& a, float* packed);
SAGIPS_AVX512_BFLOAT16 void pack_transposed(const Left& a, float* packed);
SAGIPS_AVX512_BFLOAT16 void pack_columns(const Left& b, float* packed);

/// c = a b or c += a b, of packed a and b.
struct Packed {
  const float *a, *b;
  float* c;
  std::int64_t rows, depth, columns;
  bool adds;
};

bool has_vectors();  ///< AVX512_BF16
bool has_tiles();    ///< AMX, and the system lets us use it

SAGIPS_AMX_BFLOAT16 void multiply_tiles(const Packed& product);
SAGIPS_AVX512_BFLOAT16 void multiply_vectors(const Packed& product);

}  // namespace sagips::kernels::bfloat16
#endif

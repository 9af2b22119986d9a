// Random numbers of core::RandomStream: one thread computes one Philox block.
#include "sagips/cuda/device.cuh"
#include "sagips/cuda/interface.h"

namespace sagips::cuda::philox {
namespace {

constexpr uint32_t block_threads = 256;
// What core/random.cpp puts into the key of whole numbers, so that they share no bits with floats.
constexpr uint32_t whole_numbers = 0x7f4a7c15;

struct Words {
  uint32_t at[4];
};

// source: Salmon et al., SC'11, Philox4x32-10
__device__ __forceinline__ Words words_of(const sagips_cuda_stream_name& name, uint32_t kind,
                                          uint32_t block, uint32_t dimension, uint32_t sample) {
  uint32_t key0 = name.key[0] ^ kind, key1 = name.key[1];
  const uint32_t step = (name.step == nullptr ? 0 : *name.step) + name.step_offset;
  Words counter{{block, dimension, sample, step}};
  for (int round = 0; round < 10; ++round) {
    const uint64_t product0 = uint64_t{0xd2511f53} * counter.at[0];
    const uint64_t product1 = uint64_t{0xcd9e8d57} * counter.at[2];
    counter = {{static_cast<uint32_t>(product1 >> 32) ^ counter.at[1] ^ key0,
                static_cast<uint32_t>(product1),
                static_cast<uint32_t>(product0 >> 32) ^ counter.at[3] ^ key1,
                static_cast<uint32_t>(product0)}};
    key0 += 0x9e3779b9;
    key1 += 0xbb67ae85;
  }
  return counter;
}

__device__ __forceinline__ float to_uniform(uint32_t bits) {
  return (static_cast<float>(static_cast<int32_t>(bits >> 9)) + 0.5F) * 0x1p-23F;
}

/// The upper half of the product of `bound` and the 64 bits high, low.
__device__ __forceinline__ uint64_t scaled(uint64_t high, uint64_t low, uint32_t bound) {
  return (high * bound + (low * bound >> 32)) >> 32;
}

/// Which numbers are wanted: a row for each sample and dimension.
struct Rows {
  uint32_t first_sample, first_dimension, dimensions, events, blocks_per_row, blocks;
};

template <bool by_fours>
__global__ void fill(sagips_cuda_stream_name name, Rows rows, float factor, float* out) {
  const uint32_t at = blockIdx.x * block_threads + threadIdx.x;
  if (at >= rows.blocks) return;
  const uint32_t row = at / rows.blocks_per_row, block = at - row * rows.blocks_per_row;
  const uint32_t sample = row / rows.dimensions, dimension = row - sample * rows.dimensions;
  const Words words =
      words_of(name, 0, block, rows.first_dimension + dimension, rows.first_sample + sample);
  float numbers[4];
  for (int i = 0; i < 4; ++i) numbers[i] = to_uniform(words.at[i]) * factor;
  float* const to = out + int64_t{row} * rows.events + 4 * int64_t{block};
  if constexpr (by_fours) {
    *reinterpret_cast<float4*>(to) = make_float4(numbers[0], numbers[1], numbers[2], numbers[3]);
  } else {
    for (uint32_t i = 0; i < 4; ++i)
      if (4 * block + i < rows.events) to[i] = numbers[i];
  }
}

// A thread for each row, although two share a block of Philox: the writes of a warp then lie side
// by side, and the block costs less than they do.
__global__ void draw(sagips_cuda_stream_name name, uint32_t first_sample, uint32_t dimension,
                     uint32_t first_event, int64_t events, int64_t draws, const float* table,
                     uint32_t rows, int64_t columns, float* out) {
  const int64_t at = int64_t{blockIdx.x} * block_threads + threadIdx.x;
  if (at >= draws) return;
  const int64_t sample = at / events;
  const uint32_t event = first_event + static_cast<uint32_t>(at - sample * events);
  const Words words = words_of(name, whole_numbers, event / 2, dimension,
                               first_sample + static_cast<uint32_t>(sample));
  const bool second = event % 2 == 1;
  const uint64_t high = second ? words.at[2] : words.at[0];
  const uint64_t low = second ? words.at[3] : words.at[1];
  const uint64_t row = scaled(high, low, rows);
  const float* const from = table + static_cast<int64_t>(row) * columns;
  for (int64_t c = 0; c < columns; ++c) out[at * columns + c] = from[c];
}

}  // namespace
}  // namespace sagips::cuda::philox

using namespace sagips::cuda;

int sagips_cuda_uniform(sagips_cuda_stream_name name, uint32_t first_sample, int64_t samples,
                        uint32_t first_dimension, int64_t dimensions, int64_t events, float factor,
                        float* out, void* stream) {
  constexpr int64_t most = int64_t{1} << 31;
  if (samples < 0 || dimensions < 0 || events < 0 || events > most) return invalid_value;
  if (samples == 0 || dimensions == 0 || events == 0) return 0;
  const int64_t per_row = (events + 3) / 4;
  if (samples > most / per_row / dimensions) return invalid_value;
  const int64_t blocks = samples * dimensions * per_row;
  const philox::Rows rows{first_sample,
                          first_dimension,
                          static_cast<uint32_t>(dimensions),
                          static_cast<uint32_t>(events),
                          static_cast<uint32_t>(per_row),
                          static_cast<uint32_t>(blocks)};
  const bool by_fours = events % 4 == 0 && reinterpret_cast<uintptr_t>(out) % 16 == 0;
  const auto grid =
      static_cast<unsigned>((blocks + philox::block_threads - 1) / philox::block_threads);
  return launch(by_fours ? philox::fill<true> : philox::fill<false>, dim3(grid),
                dim3(philox::block_threads), 0, stream, name, rows, factor, out);
}

int sagips_cuda_draw_rows(sagips_cuda_stream_name name, uint32_t first_sample, int64_t samples,
                          uint32_t dimension, uint32_t first_event, int64_t events,
                          const float* table, int64_t rows, int64_t columns, float* out,
                          void* stream) {
  constexpr int64_t most = int64_t{1} << 32;
  if (samples < 0 || events < 0 || columns < 0 || first_event + events > most) return invalid_value;
  if (rows < 1 || rows >= most) return invalid_value;
  if (samples == 0 || events == 0) return 0;
  if (samples > (most << 6) / events) return invalid_value;
  const int64_t draws = samples * events;
  const auto grid =
      static_cast<unsigned>((draws + philox::block_threads - 1) / philox::block_threads);
  return launch(philox::draw, dim3(grid), dim3(philox::block_threads), 0, stream, name,
                first_sample, dimension, first_event, events, draws, table, rows, columns, out);
}

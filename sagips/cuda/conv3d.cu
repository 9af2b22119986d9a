// 3D convolutions of few channels, on tensor cores in tf32. The products' rows are places in the x-y
// plane, their depth is 8 channels, their columns are 8 output channels, and z is walked in registers:
// what was loaded at one z is multiplied with the weights of every tap along z, each product being a
// part of another output. So shared memory gives one operand for as many products as there are taps.
//
// The gradient of weights walks z in the same way, with places of the plane as the products' depth; a
// warp keeps the sums of its taps in registers over all that a block works on, blocks leave theirs in
// memory, and a second kernel adds these in a fixed order. The gradient of inputs is a convolution
// with turned weights.
//
// With one input channel, 8 places along z stand for the 8 channels, and all taps along z are one tap.
#include <algorithm>

#include "sagips/cuda/device.cuh"
#include "sagips/cuda/interface.h"

namespace sagips::cuda::conv3d {
namespace {

constexpr int width = 8;  // channels of a product, on either side
// Of those that were measured on an H200: two small blocks load and multiply in turns in a convolution, and
// one large block keeps the weight gradients of all taps.
constexpr int warps = 4, threads = warps * 32;  // of a convolution's block
constexpr int blocks_together = 2;              // of those on a multiprocessor
constexpr int gradient_warps = 8, gradient_blocks = 1;
constexpr int most_places = warps * 32;  // of a block's tile in the plane
constexpr int most_gradient_places = 256;
constexpr int unit_numbers = 2 * width * width;  // of one accumulator of a warp
constexpr int most_channels = 16, most_taps = 8;
constexpr int ahead = 8;  // loads of a thread that are on their way at once
constexpr unsigned all_lanes = ~0u;
// Each thread loads one place along z: a column of the longest form with single channels needs so many.
static_assert((most_taps + 7) * width <= std::min(warps, gradient_warps) * 32);

/// What a kernel is built for: taps along z (more than the weights have: the rest is zero), outputs
/// along z of one tile, and whether places along z stand for channels.
template <int taps_, int run_, bool window_>
struct Form {
  static constexpr int taps = taps_, run = run_;
  static constexpr bool window = window_;
  static constexpr int stored = window ? 1 : width;  // channels in shared memory
  static constexpr int depth = window ? run + width - 1 : run + taps - 1;  // inputs along z
  // Numbers of a place in shared memory: 8 places by 4 channels lie in 32 banks, and so do, for the
  // gradient of weights, 4 places by 8 channels.
  static constexpr int pitch = (depth * stored + 3) / 8 * 8 + 4;
  static constexpr int gradient_pitch = width * ((depth * stored + 7) / 8 | 1);
  static constexpr int slopes_pitch = width * (run | 1);
};

struct Extent {
  int x, y, z;
};

/// n / by, for n below 2^16 and by below 2^12.
struct Division {
  uint32_t by, factor;
  __device__ __forceinline__ int operator()(int n) const {
    return by == 1 ? n : int(__umulhi(uint32_t(n), factor));
  }
};
Division division(int by) {
  return {uint32_t(by), by == 1 ? 0 : uint32_t(((uint64_t{1} << 32) + by - 1) / by)};
}

/// Images that are read. shape: [samples, x, y, z, channels]
struct Images {
  const float* values;
  const float* gates;  ///< where these are not above 0, values count by `slope`; null: nowhere
  float slope;
  int channels;
  Extent size;
};

/// How outputs are cut into tiles.
struct Tiles {
  int x, y;  ///< of a tile
  Extent counts;
  __device__ Extent corner(int tile, int run) const {
    return {tile / counts.z / counts.y % counts.x * x, tile / counts.z % counts.y * y,
            tile % counts.z * run};
  }
  __host__ __device__ int of_sample() const { return counts.x * counts.y * counts.z; }
};

/// Weights where a lane finds its part of a tap. shape: [parts of outputs, parts of inputs, kernel.x *
/// kernel.y, taps, lanes]
struct Packing {
  const float* weights;  ///< [outputs, inputs, kernel]
  uint2* packed;
  int outputs, inputs;  ///< of the convolution to come: turned, it has them the other way round
  Extent kernel;
  bool turned;
  int taps, numbers;
};

struct Convolution {
  Images in;
  const uint2* weights;
  const float* bias;  ///< null: none
  float* out;
  float slope;
  int channels;  ///< of out
  Extent size;   ///< of out
  Extent kernel, before;
  Tiles tiles;
  Division across;  ///< a tile's inputs along y
};

struct Gradient {
  Images in, slopes;
  Extent kernel, before;
  Tiles tiles;
  Division across, across_slopes;
  int places;  ///< of a tile, a multiple of 8
  int stages;
  int units;                 ///< of two columns of taps each; a warp has two units, a group
  int groups, group_blocks;  ///< groups of a block, blocks that share all groups
  int parts;                 ///< warps of a block that have the same group and share the places
  int input_parts, output_parts;  ///< of up to 8 channels
  int slab, ranges, window, taps;
  bool has_bias;
  float* slabs;
};

template <int count, class Body>
__device__ __forceinline__ void unrolled(const Body& body) {
  SAGIPS_CUDA_UNROLL(count)
  for (int i = 0; i < count; ++i) body(i);
}

template <int count>
__device__ __forceinline__ void read(float (&to)[count], const float* from) {
  if constexpr (count == 4) {
    const float4 all = *reinterpret_cast<const float4*>(from);
    to[0] = all.x, to[1] = all.y, to[2] = all.z, to[3] = all.w;
  } else if constexpr (count == 2) {
    const float2 all = *reinterpret_cast<const float2*>(from);
    to[0] = all.x, to[1] = all.y;
  } else {
    to[0] = *from;
  }
}

/// A tile of images: `columns` places of the plane by `depth` along z, of the channels from `channel`
/// on; zeros outside the image.
struct Region {
  int64_t sample;
  Extent corner;
  Division across;  ///< places along y
  int columns, channel;
};

/// Where a place of shared memory is a multiple of `count` numbers.
template <int count>
__device__ __forceinline__ void write(uint32_t* to, const uint32_t (&from)[count]) {
  if constexpr (count == 4)
    *reinterpret_cast<uint4*>(to) = make_uint4(from[0], from[1], from[2], from[3]);
  else if constexpr (count == 2)
    *reinterpret_cast<uint2*>(to) = make_uint2(from[0], from[1]);
  else
    *to = *from;
}

/// A thread keeps its place along z and its channels, and goes from column to column.
template <int vector, int depth, int pitch, int stored>
__device__ __forceinline__ void load_vectors(uint32_t* to, const Images& from, const Region& at) {
  const int count = min(stored, from.channels - at.channel) / vector;  // of a point
  const int columns_at_once = blockDim.x / (depth * count);
  const int first = threadIdx.x / (depth * count), slot = threadIdx.x % (depth * count);
  if (first >= columns_at_once) return;
  const int z = slot / count, part = slot % count * vector;
  const bool is_along = unsigned(at.corner.z + z) < unsigned(from.size.z);
  const int row = from.size.z * from.channels;  // numbers of a column of the image
  const int64_t start = at.sample * from.size.x * from.size.y * row +
                        (at.corner.z + z) * from.channels + at.channel + part;
  const float* const image = from.values + start;
  const float* const gate = from.gates == nullptr ? nullptr : from.gates + start;
  to += z * stored + part;
  SAGIPS_CUDA_UNROLL(1)
  for (int batch = first; batch < at.columns; batch += ahead * columns_at_once) {
    float values[ahead][vector] = {}, gates[ahead][vector] = {};
    unrolled<ahead>([&](int j) {
      const int column = batch + j * columns_at_once, across = at.across(column);
      const int x = at.corner.x + across, y = at.corner.y + column - across * int(at.across.by);
      const int offset = (x * from.size.y + y) * row;
      if (!is_along || column >= at.columns || unsigned(x) >= unsigned(from.size.x) ||
          unsigned(y) >= unsigned(from.size.y))
        return;
      read<vector>(values[j], image + offset);
      if (gate != nullptr) read<vector>(gates[j], gate + offset);
    });
    unrolled<ahead>([&](int j) {
      const int column = batch + j * columns_at_once;
      uint32_t bits[vector];
      if (gate != nullptr)
        unrolled<vector>([&](int k) {
          if (!(gates[j][k] > 0)) values[j][k] *= from.slope;
        });
      unrolled<vector>([&](int k) { bits[k] = to_tf32(values[j][k]); });
      if (column < at.columns) write<vector>(to + column * pitch, bits);
    });
  }
}
template <int depth, int pitch, int stored>
__device__ __forceinline__ void load_region(uint32_t* to, const Images& from, const Region& at) {
  if constexpr (stored > 1) {
    if (from.channels % 4 == 0) return load_vectors<4, depth, pitch, stored>(to, from, at);
    if (from.channels % 2 == 0) return load_vectors<2, depth, pitch, stored>(to, from, at);
  }
  load_vectors<1, depth, pitch, stored>(to, from, at);
}

/// What no load writes must be zero: rows of missing channels are multiplied with weights of zero.
__device__ __forceinline__ void clear_shared(uint32_t* from, int numbers) {
  for (int i = threadIdx.x; i < numbers; i += blockDim.x) from[i] = 0;
}

__global__ void pack_weights(Packing p) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= p.numbers) return;
  const int items = p.kernel.x * p.kernel.y, input_parts = (p.inputs + width - 1) / width;
  const int lane = i % 32, tap = i / 32 % p.taps, item = i / 32 / p.taps % items;
  const int part = i / 32 / p.taps / items % input_parts;
  const int output = i / 32 / p.taps / items / input_parts * width + lane / 4;
  const bool window = p.inputs == 1;
  const auto value = [&](int input, int z) -> float {
    int x = item / p.kernel.y, y = item % p.kernel.y;
    if (output >= p.outputs || input >= p.inputs || z >= p.kernel.z) return 0;
    if (p.turned) x = p.kernel.x - 1 - x, y = p.kernel.y - 1 - y, z = p.kernel.z - 1 - z;
    const int channels = p.turned ? input * p.outputs + output : output * p.inputs + input;
    return p.weights[((channels * p.kernel.x + x) * p.kernel.y + y) * p.kernel.z + z];
  };
  const int t = lane % 4, input = part * width + t;
  p.packed[i] = window ? make_uint2(to_tf32(value(0, t)), to_tf32(value(0, t + 4)))
                       : make_uint2(to_tf32(value(input, tap)), to_tf32(value(input + 4, tap)));
}

template <class F>
using Sums = float[2][F::run][4];

/// Adds the products of all taps, for the 8 channels that lie in shared memory.
template <class F>
__device__ __forceinline__ void add_taps(Sums<F>& sums, const uint32_t* in, const uint2* weights,
                                         const Extent& kernel, int reach, const int (&places)[2][2],
                                         int lane) {
  uint2 ready[F::taps];
  unrolled<F::taps>([&](int tap) { ready[tap] = weights[tap * 32 + lane]; });
  SAGIPS_CUDA_UNROLL(1)
  for (int x = 0; x < kernel.x; ++x) SAGIPS_CUDA_UNROLL(1)
  for (int y = 0; y < kernel.y; ++y) {
    uint32_t b[F::taps][2];
    unrolled<F::taps>([&](int tap) { b[tap][0] = ready[tap].x, b[tap][1] = ready[tap].y; });
    weights += F::taps * 32;
    if (x + 1 < kernel.x || y + 1 < kernel.y)
      unrolled<F::taps>([&](int tap) { ready[tap] = weights[tap * 32 + lane]; });
    const uint32_t* from = in + (x * reach + y) * F::pitch + lane % 4;
    unrolled<F::run + F::taps - 1>([&](int z) {
      unrolled<2>([&](int m) {
        const uint32_t* low = from + places[m][0] + z * F::stored;
        const uint32_t* high = from + places[m][1] + z * F::stored;
        const uint32_t a[4] = {low[0], high[0], low[4], high[4]};
        unrolled<F::run>([&](int o) {
          if (z - o >= 0 && z - o < F::taps) multiply_tf32(sums[m][o], a, b[z - o]);
        });
      });
    });
  }
}

template <class F>
__device__ __forceinline__ void store_outputs(const Convolution& p, const Sums<F>& sums,
                                              int64_t sample, const Extent& corner, int lane) {
  const int channel = blockIdx.y * width + lane % 4 * 2;
  if (channel >= p.channels) return;
  const bool is_pair = channel + 1 < p.channels;
  const float low = p.bias == nullptr ? 0 : p.bias[channel];
  const float high = p.bias == nullptr || !is_pair ? 0 : p.bias[channel + 1];
  const auto activated = [&](float value) { return value > 0 ? value : value * p.slope; };
  unrolled<4>([&](int i) {
    const int place = threadIdx.x / 32 * 32 + i * 8 + lane / 4;
    const int x = corner.x + place / p.tiles.y, y = corner.y + place % p.tiles.y;
    if (place >= p.tiles.x * p.tiles.y || x >= p.size.x || y >= p.size.y) return;
    float* row = p.out + ((sample * p.size.x + x) * p.size.y + y) * p.size.z * p.channels + channel;
    unrolled<F::run>([&](int o) {
      if (corner.z + o >= p.size.z) return;
      float* to = row + int64_t{corner.z + o} * p.channels;
      const float first = activated(sums[i / 2][o][i % 2 * 2] + low);
      const float second = activated(sums[i / 2][o][i % 2 * 2 + 1] + high);
      if (p.channels % 2 == 0)
        *reinterpret_cast<float2*>(to) = make_float2(first, second);
      else {
        to[0] = first;
        if (is_pair) to[1] = second;
      }
    });
  });
}

/// A tile of outputs (blockIdx.x), 8 channels of them (blockIdx.y). A warp has 32 places.
template <class F>
__global__ void __launch_bounds__(threads, blocks_together) convolve(Convolution p) {
  SAGIPS_CUDA_SHARED(shared);
  auto* const in = reinterpret_cast<uint32_t*>(shared);
  const int lane = threadIdx.x % 32, first_place = threadIdx.x / 32 * 32;
  const int64_t sample = blockIdx.x / p.tiles.of_sample();
  const Extent corner = p.tiles.corner(blockIdx.x, F::run);
  const int reach = p.tiles.y + p.kernel.y - 1, columns = (p.tiles.x + p.kernel.x - 1) * reach;
  const bool has_work = first_place < p.tiles.x * p.tiles.y;
  int places[2][2];
  unrolled<4>([&](int i) {
    const int place = min(first_place + i * 8 + lane / 4, p.tiles.x * p.tiles.y - 1);
    places[i / 2][i % 2] = (place / p.tiles.y * reach + place % p.tiles.y) * F::pitch;
  });
  if (p.in.channels % width != 0 && !F::window) clear_shared(in, columns * F::pitch);
  const int parts = (p.in.channels + width - 1) / width;
  const int part_weights = p.kernel.x * p.kernel.y * F::taps * 32;
  Sums<F> sums = {};
  SAGIPS_CUDA_UNROLL(1)
  for (int part = 0; part < parts; ++part) {
    __syncthreads();
    load_region<F::depth, F::pitch, F::stored>(
        in, p.in,
        {sample,
         {corner.x - p.before.x, corner.y - p.before.y, corner.z - p.before.z},
         p.across,
         columns,
         part * width});
    __syncthreads();
    if (has_work)
      add_taps<F>(sums, in, p.weights + (blockIdx.y * parts + part) * part_weights, p.kernel, reach,
                  places, lane);
  }
  if (has_work) store_outputs<F>(p, sums, sample, corner, lane);
}

template <class F>
using UnitSums = float[2][F::taps][4];

/// Where a warp's two units find their inputs: rows 0 to 7 of a product belong to one column of taps
/// of the kernel, rows 8 to 15 to the next.
struct Columns {
  int offset[2][2];
};
template <class F>
__device__ Columns columns_of(const Gradient& p, int group, int reach) {
  Columns found;
  unrolled<4>([&](int i) {
    const int item = min(group * 4 + i, p.kernel.x * p.kernel.y - 1);
    found.offset[i / 2][i % 2] =
        (item / p.kernel.y * reach + item % p.kernel.y) * F::gradient_pitch;
  });
  return found;
}

/// Adds the products of a stage's places, 8 at a time.
template <class F>
__device__ __forceinline__ void add_places(UnitSums<F>& sums, float& bias, const uint32_t* in,
                                           const uint32_t* slopes, const int* places,
                                           const Columns& columns, const Gradient& p, int part,
                                           int lane) {
  const int g = lane / 4, t = lane % 4;
  SAGIPS_CUDA_UNROLL(1)
  for (int first = part * 8; first < p.places; first += p.parts * 8) {
    uint32_t b[F::run][2];
    unrolled<F::run>([&](int o) {
      const uint32_t* from = slopes + (first + t) * F::slopes_pitch + o * width + g;
      b[o][0] = from[0], b[o][1] = from[4 * F::slopes_pitch];
      bias += __uint_as_float(b[o][0]) + __uint_as_float(b[o][1]);
    });
    const uint32_t* low = in + places[first + t] + g;
    const uint32_t* high = in + places[first + t + 4] + g;
    unrolled<F::run + F::taps - 1>([&](int z) {
      unrolled<2>([&](int u) {
        const int one = columns.offset[u][0] + z * F::stored;
        const int two = columns.offset[u][1] + z * F::stored;
        const uint32_t a[4] = {low[one], low[two], high[one], high[two]};
        unrolled<F::run>([&](int o) {
          if (z - o >= 0 && z - o < F::taps) multiply_tf32(sums[u][z - o], a, b[o]);
        });
      });
    });
  }
}

template <class F>
__device__ __forceinline__ void store_units(const Gradient& p, const UnitSums<F>& sums, float bias,
                                            int slab, int input_part, int output_part, int group,
                                            int lane) {
  float* const mine = p.slabs + int64_t{slab} * p.slab;
  const int unit = (output_part * p.input_parts + input_part) * p.units + group * 2;
  unrolled<2>([&](int u) {
    unrolled<F::taps>([&](int tap) {
      float* to =
          mine + ((unit + u) * F::taps + tap) * unit_numbers + lane / 4 * width + lane % 4 * 2;
      *reinterpret_cast<float2*>(to) = make_float2(sums[u][tap][0], sums[u][tap][1]);
      *reinterpret_cast<float2*>(to + width * width) =
          make_float2(sums[u][tap][2], sums[u][tap][3]);
    });
  });
  bias += __shfl_xor_sync(all_lanes, bias, 1);
  bias += __shfl_xor_sync(all_lanes, bias, 2);
  if (group == 0 && input_part == 0 && lane % 4 == 0)
    mine[p.output_parts * p.input_parts * p.units * F::taps * unit_numbers + output_part * width +
         lane / 4] = bias;
}

/// Gradients of weights over a range of tiles (blockIdx.x), of 8 by 8 channels and some columns of
/// taps (blockIdx.y). Warps share the columns, and if these are few, the places.
template <class F>
__global__ void __launch_bounds__(gradient_warps * 32, gradient_blocks)
    weight_gradients(Gradient p) {
  SAGIPS_CUDA_SHARED(shared);
  const int reach = p.tiles.y + p.kernel.y - 1, columns = (p.tiles.x + p.kernel.x - 1) * reach;
  auto* const in = reinterpret_cast<uint32_t*>(shared);
  uint32_t* const slopes = in + columns * F::gradient_pitch;
  int* const places = reinterpret_cast<int*>(slopes + p.places * F::slopes_pitch);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, part = warp / p.groups;
  const int group = blockIdx.y % p.group_blocks * p.groups + warp % p.groups;
  const int input_part = blockIdx.y / p.group_blocks % p.input_parts;
  const int output_part = blockIdx.y / p.group_blocks / p.input_parts;
  clear_shared(in, columns * F::gradient_pitch + p.places * F::slopes_pitch);
  for (int i = threadIdx.x; i < p.places; i += blockDim.x)
    places[i] = i >= p.tiles.x * p.tiles.y
                    ? 0
                    : (i / p.tiles.y * reach + i % p.tiles.y) * F::gradient_pitch;
  const Columns mine = columns_of<F>(p, group, reach);
  UnitSums<F> all = {};
  float all_bias = 0;
  const int begin = int(int64_t{p.stages} * blockIdx.x / gridDim.x);
  const int end = int(int64_t{p.stages} * (blockIdx.x + 1) / gridDim.x);
  SAGIPS_CUDA_UNROLL(1)
  for (int stage = begin; stage < end; ++stage) {
    const int64_t sample = stage / p.tiles.of_sample();
    const Extent corner = p.tiles.corner(stage, F::run);
    __syncthreads();
    load_region<F::depth, F::gradient_pitch, F::stored>(
        in, p.in,
        {sample,
         {corner.x - p.before.x, corner.y - p.before.y, corner.z - p.before.z},
         p.across,
         columns,
         input_part * width});
    load_region<F::run, F::slopes_pitch, width>(
        slopes, p.slopes,
        {sample, corner, p.across_slopes, p.tiles.x * p.tiles.y, output_part * width});
    __syncthreads();
    UnitSums<F> sums = {};
    float bias = 0;
    if (part < p.parts) add_places<F>(sums, bias, in, slopes, places, mine, p, part, lane);
    // Tensor cores round their sums towards zero, which adds up, so that they sum one stage at once.
    unrolled<2>([&](int u) {
      unrolled<F::taps>(
          [&](int tap) { unrolled<4>([&](int i) { all[u][tap][i] += sums[u][tap][i]; }); });
    });
    all_bias += bias;
  }
  if (part < p.parts)
    store_units<F>(p, all, all_bias, blockIdx.x * p.parts + part, input_part, output_part, group,
                   lane);
}

/// Adds the slabs to the gradients, one thread a number.
__global__ void add_slabs(Gradient p, float* weight_gradient, float* bias_gradient) {
  const int inputs = p.in.channels, outputs = p.slopes.channels;
  const int column = p.kernel.x * p.kernel.y * p.kernel.z, weights = outputs * inputs * column;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= weights + (p.has_bias ? outputs : 0)) return;
  int place;
  if (i < weights) {
    const int output = i / column / inputs, input = i / column % inputs;
    const int item = i % column / p.kernel.z, z = i % p.kernel.z;
    const int unit = (output / width * p.input_parts + input / width) * p.units + item / 2;
    const int tap = p.window != 0 ? 0 : z, row = p.window != 0 ? z : input % width;
    place =
        (unit * p.taps + tap) * unit_numbers + (item % 2 * width + row) * width + output % width;
  } else {
    place = p.output_parts * p.input_parts * p.units * p.taps * unit_numbers + i - weights;
  }
  float sum = 0;
  SAGIPS_CUDA_UNROLL(8)
  for (int k = 0; k < p.ranges * p.parts; ++k) sum += p.slabs[int64_t{k} * p.slab + place];
  if (i < weights)
    weight_gradient[i] += sum;
  else
    bias_gradient[i - weights] += sum;
}

int parts_of(int channels) { return (channels + width - 1) / width; }
int quotient_up(int n, int by) { return (n + by - 1) / by; }

Extent size_before(const sagips_cuda_conv3d& s) { return {s.size[0], s.size[1], s.size[2]}; }
Extent kernel_of(const sagips_cuda_conv3d& s) { return {s.kernel[0], s.kernel[1], s.kernel[2]}; }
Extent size_after(const sagips_cuda_conv3d& s) {
  const auto along = [&](int i) {
    return int(int64_t{s.size[i]} + s.before[i] + s.after[i] - s.kernel[i] + 1);
  };
  return {along(0), along(1), along(2)};
}
bool is_taken(const sagips_cuda_conv3d& s) {
  constexpr int most_length = 4096;
  constexpr int64_t most_samples = 1 << 20, most_places = 1 << 26;
  const auto within = [](int64_t value, int64_t least, int64_t most) {
    return value >= least && value <= most;
  };
  if (!within(s.samples, 0, most_samples) || !within(s.inputs, 1, most_channels) ||
      !within(s.outputs, 1, most_channels))
    return false;
  for (int i = 0; i < 3; ++i)
    if (!within(s.size[i], 1, most_length) || !within(s.kernel[i], 1, most_taps) ||
        !within(s.before[i], 0, most_taps) || !within(s.after[i], 0, most_taps) ||
        s.size[i] + s.before[i] + s.after[i] < s.kernel[i])
      return false;
  const Extent after = size_after(s);
  const auto is_indexed = [&](int64_t places) {  // within a sample and, for tiles, in all samples
    return places <= most_places && places * s.samples < int64_t{1} << 31;
  };
  return is_indexed(int64_t{s.size[0]} * s.size[1] * s.size[2]) &&
         is_indexed(int64_t{after.x} * after.y * after.z) && s.slope >= 0 && s.slope <= 1;
}

template <int taps, bool window, class Call>
auto with_run(int length, const Call& call) {
  return quotient_up(length, 7) * 7 < quotient_up(length, 8) * 8 ? call(Form<taps, 7, window>())
                                                                 : call(Form<taps, 8, window>());
}
/// Calls with the form for so many inputs, taps along z and outputs along z.
template <class Call>
auto with_form(int inputs, int taps, int length, const Call& call) {
  if (inputs == 1) return with_run<1, true>(length, call);
  if (taps <= 2) return with_run<2, false>(length, call);
  if (taps == 3) return with_run<3, false>(length, call);
  if (taps <= 5) return with_run<5, false>(length, call);
  if (taps == 6) return with_run<6, false>(length, call);
  return with_run<8, false>(length, call);
}

/// The tile of up to so many places that takes the least time, by a rough model of one block's, in
/// clocks.
template <class Bytes, class Clocks>
Tiles best_tiles(const Extent& out, int run, int places, size_t limit, const Bytes& bytes,
                 const Clocks& clocks) {
  constexpr double bytes_a_clock = 40, latency = 1500;
  Tiles best{1, 1, {out.x, out.y, quotient_up(out.z, run)}};
  double least = 1e300;
  for (int x = 1; x <= std::min(out.x, places); ++x)
    for (int y = 1; y <= std::min(out.y, places / x); ++y) {
      const size_t needed = bytes(x, y);
      if (needed > limit) continue;
      const int along_x = quotient_up(out.x, x), along_y = quotient_up(out.y, y);
      const double time =
          double(along_x) * along_y * (clocks(x, y) + double(needed) / bytes_a_clock + latency);
      if (time < least) least = time, best = {x, y, {along_x, along_y, quotient_up(out.z, run)}};
    }
  return best;
}
int columns_of_inputs(const Extent& kernel, int x, int y) {
  return (x + kernel.x - 1) * (y + kernel.y - 1);
}

constexpr double clocks_a_product = 1.7;  // of a multiprocessor

/// Bytes that each of so many blocks on a multiprocessor may have.
size_t shared_for(int blocks) {
  constexpr size_t reserved = 1024;  // of a block
  return blocks == 1 ? shared_limit() : shared_limit() / blocks - reserved;
}

template <class F>
int64_t packed_bytes(F, int inputs, int outputs, const Extent& kernel) {
  return int64_t{parts_of(inputs)} * parts_of(outputs) * kernel.x * kernel.y * F::taps * 32 *
         int64_t{sizeof(uint2)};
}

/// Packs the weights into `work`, then convolves.
template <class F>
int run_convolution(F, Convolution p, int64_t samples, const float* weights, bool turned,
                    void* work, void* stream) {
  Packing packing{
      weights, static_cast<uint2*>(work), p.channels, p.in.channels, p.kernel, turned, F::taps, 0};
  packing.numbers = int(packed_bytes(F(), p.in.channels, p.channels, p.kernel) / sizeof(uint2));
  if (const int error =
          launch(pack_weights, (packing.numbers + 255) / 256, 256, 0, stream, packing))
    return error;
  const auto bytes = [&](int x, int y) {
    return size_t(columns_of_inputs(p.kernel, x, y)) * F::pitch * sizeof(float);
  };
  const double products =
      2.0 * warps * F::run * F::taps * p.kernel.x * p.kernel.y * clocks_a_product;
  p.tiles = best_tiles(p.size, F::run, most_places, shared_for(blocks_together), bytes,
                       [&](int, int) { return products; });
  p.across = division(p.tiles.y + p.kernel.y - 1);
  p.weights = packing.packed;
  static const int refused = allow_shared(convolve<F>, shared_limit());
  if (refused != 0) return refused;
  return launch(convolve<F>, dim3(unsigned(samples * p.tiles.of_sample()), parts_of(p.channels)),
                threads, bytes(p.tiles.x, p.tiles.y), stream, p);
}

/// How the gradient of weights is shared among blocks and warps.
template <class F>
Gradient plan_gradient(F, const sagips_cuda_conv3d& s) {
  Gradient p{};
  p.kernel = kernel_of(s), p.before = {s.before[0], s.before[1], s.before[2]};
  p.window = F::window, p.taps = F::taps;
  p.input_parts = parts_of(s.inputs), p.output_parts = parts_of(s.outputs);
  const int groups = quotient_up(p.kernel.x * p.kernel.y, 4);
  p.group_blocks = quotient_up(groups, gradient_warps);
  p.groups = quotient_up(groups, p.group_blocks);
  p.parts = gradient_warps / p.groups;
  p.units = 2 * p.groups * p.group_blocks;
  const auto places = [](int x, int y) { return quotient_up(x * y, 8) * 8; };
  const auto bytes = [&](int x, int y) {
    return (size_t(columns_of_inputs(p.kernel, x, y)) * F::gradient_pitch +
            size_t(places(x, y)) * (F::slopes_pitch + 1)) *
           sizeof(float);
  };
  const Extent out = size_after(s);
  p.tiles = best_tiles(out, F::run, most_gradient_places, shared_for(gradient_blocks), bytes,
                       [&](int x, int y) {
                         return 2.0 * p.groups * p.parts * quotient_up(places(x, y) / 8, p.parts) *
                                F::run * F::taps * clocks_a_product;
                       });
  p.places = places(p.tiles.x, p.tiles.y);
  p.across = division(p.tiles.y + p.kernel.y - 1), p.across_slopes = division(p.tiles.y);
  p.stages = int(s.samples * p.tiles.of_sample());
  const int rows = p.group_blocks * p.input_parts * p.output_parts;
  p.ranges = std::max(1, std::min(multiprocessors() * gradient_blocks / rows, p.stages));
  p.slab =
      p.input_parts * p.output_parts * p.units * F::taps * unit_numbers + p.output_parts * width;
  return p;
}
template <class F>
int run_gradient(F, Gradient p, float* weight_gradient, float* bias_gradient, void* stream) {
  static const int refused = allow_shared(weight_gradients<F>, shared_limit());
  if (refused != 0) return refused;
  const size_t bytes =
      (size_t(columns_of_inputs(p.kernel, p.tiles.x, p.tiles.y)) * F::gradient_pitch +
       size_t(p.places) * (F::slopes_pitch + 1)) *
      sizeof(float);
  const int rows = p.group_blocks * p.input_parts * p.output_parts;
  if (const int error =
          launch(weight_gradients<F>, dim3(p.ranges, rows), gradient_warps * 32, bytes, stream, p))
    return error;
  const int numbers =
      p.slopes.channels * (p.in.channels * p.kernel.x * p.kernel.y * p.kernel.z + 1);
  return launch(add_slabs, (numbers + 63) / 64, 64, 0, stream, p, weight_gradient, bias_gradient);
}

}  // namespace
}  // namespace sagips::cuda::conv3d

using namespace sagips::cuda;

int64_t sagips_cuda_conv3d_work_bytes(sagips_cuda_conv3d shape) {
  if (!conv3d::is_taken(shape)) return 0;
  const conv3d::Extent kernel = conv3d::kernel_of(shape);
  const int after = conv3d::size_after(shape).z, taps = shape.kernel[2];
  const int64_t outputs = conv3d::with_form(shape.inputs, taps, after, [&](auto form) {
    return conv3d::packed_bytes(form, shape.inputs, shape.outputs, kernel);
  });
  const int64_t inputs = conv3d::with_form(shape.outputs, taps, shape.size[2], [&](auto form) {
    return conv3d::packed_bytes(form, shape.outputs, shape.inputs, kernel);
  });
  const int64_t weights = conv3d::with_form(shape.inputs, taps, after, [&](auto form) {
    const conv3d::Gradient p = conv3d::plan_gradient(form, shape);
    return int64_t{p.ranges} * p.parts * p.slab * int64_t{sizeof(float)};
  });
  return std::max({outputs, inputs, weights});
}

int sagips_cuda_conv3d_outputs(sagips_cuda_conv3d shape, const float* input, const float* weight,
                               const float* bias, float* output, void* work, void* stream) {
  if (!conv3d::is_taken(shape)) return invalid_value;
  if (shape.samples == 0) return 0;
  conv3d::Convolution p{};
  p.in = {input, nullptr, 1, shape.inputs, conv3d::size_before(shape)};
  p.bias = bias, p.out = output, p.slope = shape.slope, p.channels = shape.outputs;
  p.size = conv3d::size_after(shape), p.kernel = conv3d::kernel_of(shape);
  p.before = {shape.before[0], shape.before[1], shape.before[2]};
  return conv3d::with_form(shape.inputs, shape.kernel[2], p.size.z, [&](auto form) {
    return conv3d::run_convolution(form, p, shape.samples, weight, false, work, stream);
  });
}

int sagips_cuda_conv3d_input_gradient(sagips_cuda_conv3d shape, const float* weight,
                                      const float* output, const float* output_gradient,
                                      float* input_gradient, void* work, void* stream) {
  if (!conv3d::is_taken(shape)) return invalid_value;
  if (shape.samples == 0) return 0;
  conv3d::Convolution p{};
  p.in = {output_gradient, shape.slope == 1 ? nullptr : output, shape.slope, shape.outputs,
          conv3d::size_after(shape)};
  p.out = input_gradient, p.slope = 1, p.channels = shape.inputs;
  p.size = conv3d::size_before(shape), p.kernel = conv3d::kernel_of(shape);
  p.before = {p.kernel.x - 1 - shape.before[0], p.kernel.y - 1 - shape.before[1],
              p.kernel.z - 1 - shape.before[2]};
  return conv3d::with_form(shape.outputs, shape.kernel[2], p.size.z, [&](auto form) {
    return conv3d::run_convolution(form, p, shape.samples, weight, true, work, stream);
  });
}

int sagips_cuda_conv3d_weight_gradient(sagips_cuda_conv3d shape, const float* input,
                                       const float* output, const float* output_gradient,
                                       float* weight_gradient, float* bias_gradient, void* work,
                                       void* stream) {
  if (!conv3d::is_taken(shape)) return invalid_value;
  if (shape.samples == 0) return 0;
  const conv3d::Extent after = conv3d::size_after(shape);
  return conv3d::with_form(shape.inputs, shape.kernel[2], after.z, [&](auto form) {
    conv3d::Gradient p = conv3d::plan_gradient(form, shape);
    p.in = {input, nullptr, 1, shape.inputs, conv3d::size_before(shape)};
    p.slopes = {output_gradient, shape.slope == 1 ? nullptr : output, shape.slope, shape.outputs,
                after};
    p.slabs = static_cast<float*>(work), p.has_bias = bias_gradient != nullptr;
    return conv3d::run_gradient(form, p, weight_gradient, bias_gradient, stream);
  });
}

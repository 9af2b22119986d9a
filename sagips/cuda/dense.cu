// Dense passes, fused: a warp takes 16 rows through all layers, forward and backward, in registers;
// the weights of hidden layers lie in shared memory. What weight gradients need of each row (a hidden
// layer's activations and the slopes by the next one's sums) goes to memory once; a second kernel
// multiplies these over ranges of rows, a third adds the ranges in a fixed order.
//
// All widths are padded to 128 with weights of zero. First and last layer, with up to 8 inputs and
// outputs, are summed without tensor cores, in float32 for every precision.
#include <algorithm>

#include "sagips/cuda/device.cuh"
#include "sagips/cuda/interface.h"

namespace sagips::cuda::dense {
namespace {

constexpr int full_width = 128;
constexpr int tile_rows = 16;     // rows of a warp
constexpr int padding_rows = 64;  // rows in memory are padded to whole stages of the second kernel
constexpr int slots = 3;          // of rows on their way from memory
// Tensor cores round their sums towards zero, which adds up: in float32 they sum so few stages at once.
constexpr int exact_stages = 4;
constexpr int pitch = 136;  // of rows in shared memory that matrices are loaded from
constexpr int gradient_threads = 256;
constexpr unsigned all_lanes = ~0u;

/// What a kernel is built for.
template <int precision>
struct Form {
  static constexpr bool is_short = precision == SAGIPS_CUDA_BFLOAT16;
  static constexpr bool splits = precision == SAGIPS_CUDA_FLOAT32;
  static constexpr int warps = is_short ? 12 : 8;        // the most whose registers suffice
  static constexpr int steps = is_short ? 8 : 16;        // of a product over 128 columns
  static constexpr int number_bytes = is_short ? 2 : 4;  // of a number that is multiplied
  static constexpr int image_pitch = is_short ? pitch : full_width;
  static constexpr int image_bytes =
      full_width * image_pitch * number_bytes;           // bytes of a packed weight
  static constexpr int stage_rows = is_short ? 64 : 32;  // of a stage
  static constexpr int operand_bytes = stage_rows * pitch * number_bytes;
  static constexpr int gradient_shared = slots * 2 * operand_bytes;
  static constexpr int gradient_blocks = splits ? 1 : 2;  // on a multiprocessor
};

/// The columns of 128 that are kept beside the images: first weights (one an input), biases (one a
/// hidden layer), last weights (one an output), then 8 last biases. Small gradients have this order.
struct Network {
  int inputs, outputs, hidden;
  int widths[4];
  float slope;
  int32_t weight_at[5], bias_at[5];

  __host__ __device__ int columns() const { return inputs + hidden + outputs; }
  __host__ __device__ int numbers() const { return columns() * full_width + 8; }
  __host__ __device__ int width(int layer) const {
    return layer == hidden ? outputs : widths[layer];
  }
  __host__ __device__ int width_below(int layer) const {
    return layer == 0 ? inputs : widths[layer - 1];
  }
};

enum class Mode { outputs, input_gradients, row_factors };

struct Pass {
  Network network;
  const unsigned char* packed;
  const float* input;
  int rows, padded_rows;
  int resident;  ///< hidden products whose weights are in shared memory
  sagips_cuda_slopes slopes;
  float *output, *input_gradient;
  unsigned char *activations, *deltas;  ///< [hidden - 1, padded_rows, 128]
  float4* sums;                         ///< of each warp [columns, 32]; null: in shared memory
  float* small;                         ///< of each block [numbers]
};

template <int count, class Body>
__device__ __forceinline__ void unrolled(const Body& body) {
  SAGIPS_CUDA_UNROLL(count)
  for (int i = 0; i < count; ++i) body(i);
}
template <class Body>
__device__ __forceinline__ void each_of_tile(const Body& body) {
  unrolled<16>([&](int n) { unrolled<4>([&](int j) { body(n, j); }); });
}
// Rows of tf32 weights have no pitch, since three layers fill shared memory; columns change places so
// that neither direction's loads meet in a bank.
__host__ __device__ __forceinline__ int swizzle(int row) {
  return (((row >> 1) & 1) << 3) | (((row ^ (row >> 2)) & 1) << 4);
}
__device__ __forceinline__ float from_lane_xor(float value, int mask) {
  return __shfl_xor_sync(all_lanes, value, mask);
}

/// Numbers as tensor cores read them. splits: high has the bits that they read, low the rest.
template <bool splits, int count>
struct Operand {
  uint32_t high[count], low[count];

  __device__ __forceinline__ void set(int i, uint32_t bits) {
    high[i] = splits ? bits & 0xffffe000u : bits;
    if (splits) low[i] = __float_as_uint(__uint_as_float(bits) - __uint_as_float(high[i]));
  }
};
/// c_i += a b_i, small parts first.
template <bool splits>
__device__ __forceinline__ void multiply_four(float (*c)[4], const Operand<splits, 4>& a,
                                              const Operand<splits, 2> (&b)[4]) {
  if constexpr (splits) {
    unrolled<4>([&](int i) { multiply_tf32(c[i], a.low, b[i].high); });
    unrolled<4>([&](int i) { multiply_tf32(c[i], a.high, b[i].low); });
  }
  unrolled<4>([&](int i) { multiply_tf32(c[i], a.high, b[i].high); });
}

/// 16 rows of a layer: lane 4 g + t has c[n][j] of row g + 8 (j / 2), column 8 n + 2 t + j % 2.
using Tile = float[16][4];
template <int precision>
using TileOperand = uint32_t[Form<precision>::steps][4];

/// c += a W^T (forward) or a W (backward).
template <bool backward>
__device__ __forceinline__ void multiply_short(Tile& c, const uint32_t (&a)[8][4],
                                               const void* weight, int lane) {
  const int down = (lane >> 3 & 1) * 8, right = (lane >> 4) * 8, r = lane & 7;
  const auto* w = static_cast<const uint16_t*>(weight) +
                  (backward ? (down + r) * pitch + right : (right + r) * pitch + down);
  unrolled<8>([&](int k) {
    unrolled<8>([&](int q) {
      uint32_t b[4];
      load_matrices<backward>(b, w + (backward ? k * pitch + q : q * pitch + k) * 16);
      multiply_bfloat16(c[2 * q], a[k], b);
      multiply_bfloat16(c[2 * q + 1], a[k], b + 2);
    });
  });
}
/// The same in tf32. Slots t and t + 4 of a step stand for columns 2 t and 2 t + 1, so that what was
/// summed serves as operand of the next product as it is.
template <bool splits, bool backward>
__device__ __forceinline__ void multiply_tile(Tile& c, const uint32_t (&a)[16][4],
                                              const void* weight, int lane) {
  const int g = lane >> 2, t = lane & 3;
  const auto* w = static_cast<const float*>(weight);
  int base[4];
  unrolled<4>([&](int j) {
    base[j] = backward ? 2 * t * full_width + g + ((j * 8) ^ swizzle(2 * t))
                       : g * full_width + 2 * t + ((j * 8) ^ swizzle(g));
  });
  unrolled<16>([&](int k) {
    Operand<splits, 4> left;
    unrolled<4>([&](int j) { left.set(j, a[k][j]); });
    unrolled<4>([&](int quarter) {
      Operand<splits, 2> right[4];
      unrolled<4>([&](int i) {
        const int n = quarter * 4 + i;
        if constexpr (backward) {
          const int at = k * 8 * full_width + quarter * 32;
          right[i].set(0, __float_as_uint(w[base[i] + at]));
          right[i].set(1, __float_as_uint(w[base[i ^ 2] + full_width + at]));
        } else {
          const int at = base[k & 3] + n * 8 * full_width + (k & ~3) * 8;
          const float2 v = *reinterpret_cast<const float2*>(w + at);
          right[i].set(0, __float_as_uint(v.x));
          right[i].set(1, __float_as_uint(v.y));
        }
      });
      multiply_four<splits>(c + quarter * 4, left, right);
    });
  });
}
template <int precision, bool backward>
__device__ __forceinline__ void product(Tile& c, const TileOperand<precision>& a,
                                        const void* weight, int lane) {
  if constexpr (Form<precision>::is_short)
    multiply_short<backward>(c, a, weight, lane);
  else
    multiply_tile<Form<precision>::splits, backward>(c, a, weight, lane);
}

template <int precision>
__device__ __forceinline__ void to_operand(TileOperand<precision>& a, const Tile& c) {
  unrolled<Form<precision>::steps>([&](int k) {
    unrolled<4>([&](int j) {
      if constexpr (Form<precision>::is_short) {
        const int n = 2 * k + (j >> 1), first = 2 * (j & 1);
        a[k][j] = to_bfloat16(c[n][first], c[n][first + 1]);
      } else {
        const float value = c[k][(j & 1) * 2 + (j >> 1)];
        a[k][j] = Form<precision>::splits ? __float_as_uint(value) : to_tf32(value);
      }
    });
  });
}
/// Rows of operands to memory, 16 bytes a lane and 64 contiguous bytes a row; stored_column tells
/// which column came where.
template <int precision>
__device__ __forceinline__ void store_operand(void* to, int row, const TileOperand<precision>& a,
                                              int lane) {
  constexpr int chunks = full_width * Form<precision>::number_bytes / 64;
  unrolled<2>([&](int h) {
    const size_t at = size_t(row + h * 8 + (lane >> 2)) * (chunks * 4) + (lane & 3);
    unrolled<chunks>([&](int q) {
      static_cast<uint4*>(to)[at + q * 4] =
          make_uint4(a[2 * q][h], a[2 * q][2 + h], a[2 * q + 1][h], a[2 * q + 1][2 + h]);
    });
  });
}
template <int precision>
__device__ __forceinline__ int stored_column(int place) {
  const int chunk = Form<precision>::is_short ? 32 : 16, four = chunk / 4;
  return (chunk / 8 * (place / chunk) + (place >> 1) % (chunk / 8)) * 8 + 2 * (place / four % 4) +
         (place & 1);
}

__device__ __forceinline__ int summed_column(int place) {
  const int lane = place >> 2;
  const int i = (lane >> 4 & 1) * 16 + (lane >> 3 & 1) * 8 + (lane >> 2 & 1) * 4 + (place & 3);
  return (i >> 1) * 8 + 2 * (lane & 3) + (i & 1);
}

/// d loss / d output, where the output is z.
__device__ __forceinline__ float slope_of(const sagips_cuda_slopes& slopes, float z, size_t place) {
  if (slopes.kind == SAGIPS_CUDA_GIVEN) return slopes.given[place];
  if (slopes.kind == SAGIPS_CUDA_ONE) return 1;
  if (slopes.kind == SAGIPS_CUDA_LINEAR) return slopes.factor;
  const float e = expf(-fabsf(z)), sigmoid = (z < 0 ? e : 1.0f) / (1 + e);
  const float difference = slopes.factor * (sigmoid - slopes.label);
  if (slopes.kind == SAGIPS_CUDA_CROSS_ENTROPY) return difference;
  return 2 * difference * (e / ((1 + e) * (1 + e)));
}

/// What a block has in shared memory, one after the other: images of weights, columns and last
/// biases, sums of slopes by last biases [warps, 32], other sums [warps, columns, 32] if they fit.
template <int precision>
size_t shared_bytes(const Network& network, int resident) {
  return size_t(resident) * Form<precision>::image_bytes + network.numbers() * 4 +
         Form<precision>::warps * 32 * sizeof(float2);
}

/// A warp and what it has of its tile.
/// all_resident: all weights are in shared memory; otherwise some are read where `pack` put them.
template <int precision, Mode mode, bool all_resident>
struct Warp {
  using F = Form<precision>;
  static constexpr bool keeps = mode == Mode::row_factors;
  const Pass& p;
  const unsigned char* images;  ///< in shared memory, as `first`
  const float* first;           ///< columns of the first layer; biases and the last layer's follow
  float4* sums;
  float2* last_bias_sums;
  int lane, t = lane & 3;
  int tile = 0, row0 = 0, row1 = 0;  ///< row0, row1: of this lane
  Tile c = {};
  uint32_t signs[4][2] = {};

  __device__ __forceinline__ const float* bias(int layer) const {
    return first + (p.network.inputs + layer) * full_width;
  }

  __device__ __forceinline__ const unsigned char* image(int l) const {
    return (all_resident || l < p.resident ? images : p.packed) + l * F::image_bytes;
  }
  __device__ __forceinline__ float input(int row, int i) const {
    return row < p.rows ? p.input[size_t(row) * p.network.inputs + i] : 0.0f;
  }
  __device__ __forceinline__ void write(float* to, float2 values, int columns, int column) const {
    if (t == 0 && row0 < p.rows) to[size_t(row0) * columns + column] = values.x;
    if (t == 0 && row1 < p.rows) to[size_t(row1) * columns + column] = values.y;
  }
  __device__ __forceinline__ float2 two(const float* columns, int n) const {
    return *reinterpret_cast<const float2*>(columns + n * 8 + 2 * t);
  }
  __device__ __forceinline__ void set_columns(const float* values) {
    unrolled<16>([&](int n) {
      const float2 v = two(values, n);
      c[n][0] = c[n][2] = v.x, c[n][1] = c[n][3] = v.y;
    });
  }
  __device__ __forceinline__ void set_zero() {
    each_of_tile([&](int n, int j) { c[n][j] = 0; });
  }
  /// c += factor(row) weights(column).
  __device__ __forceinline__ void add_outer(float factor0, float factor1, const float* weights) {
    unrolled<16>([&](int n) {
      const float2 w = two(weights, n);
      c[n][0] += factor0 * w.x, c[n][1] += factor0 * w.y;
      c[n][2] += factor1 * w.x, c[n][3] += factor1 * w.y;
    });
  }
  /// Sums of c over columns with these weights, for the two rows of this lane.
  __device__ __forceinline__ float2 along_columns(const float* weights) const {
    float2 sum = make_float2(0, 0);
    unrolled<16>([&](int n) {
      const float2 w = two(weights, n);
      sum.x += c[n][0] * w.x + c[n][1] * w.y;
      sum.y += c[n][2] * w.x + c[n][3] * w.y;
    });
    sum.x += from_lane_xor(sum.x, 1), sum.y += from_lane_xor(sum.y, 1);
    sum.x += from_lane_xor(sum.x, 2), sum.y += from_lane_xor(sum.y, 2);
    return sum;
  }
  /// Adds sum_row factor(row) c(row, .) to one of the sums; summed_column tells which four columns
  /// of it are this lane's.
  __device__ __forceinline__ void add_rows(int column, float factor0, float factor1) {
    if constexpr (!keeps) return;
    float v[32];
    unrolled<32>([&](int i) { v[i] = c[i / 2][i % 2] * factor0 + c[i / 2][i % 2 + 2] * factor1; });
    unrolled<3>([&](int halving) {
      const int h = 16 >> halving;
      const bool upper = lane & h;
      unrolled<16>([&](int i) {
        if (i >= h) return;
        const float mine = upper ? v[i + h] : v[i], others = upper ? v[i] : v[i + h];
        v[i] = mine + from_lane_xor(others, h);
      });
    });
    float4 total = sums[column * 32 + lane];
    total.x += v[0], total.y += v[1], total.z += v[2], total.w += v[3];
    sums[column * 32 + lane] = total;
  }
  /// signs[0] takes `is positive` of the last 64 elements in, the last one lowest.
  __device__ __forceinline__ void activate() {
    each_of_tile([&](int n, int j) {
      uint32_t& bits = signs[0][n / 8];
      // 0 - c is negative for c > 0 alone: a zero of either sign counts as not positive.
      if (mode != Mode::outputs) bits = __funnelshift_l(__float_as_uint(0.0f - c[n][j]), bits, 1);
      c[n][j] = fmaxf(c[n][j], p.network.slope * c[n][j]);
    });
  }
  __device__ __forceinline__ void times_slopes() {
    each_of_tile([&](int n, int j) {
      c[n][j] *= (signs[0][n / 8] >> (31 - (n % 8 * 4 + j)) & 1) ? 1.0f : p.network.slope;
    });
  }
  /// c as an operand of the product l; its rows to memory.
  __device__ __forceinline__ void take(TileOperand<precision>& a, unsigned char* factors, int l) {
    to_operand<precision>(a, c);
    if constexpr (keeps)
      store_operand<precision>(factors + size_t(l) * p.padded_rows * full_width * F::number_bytes,
                               tile * tile_rows, a, lane);
  }

  __device__ __forceinline__ void forward() {
    unrolled<4>([&](int i) { signs[i][0] = signs[i][1] = 0; });
    set_columns(bias(0));
    SAGIPS_CUDA_UNROLL(1)
    for (int i = 0; i < p.network.inputs; ++i)
      add_outer(input(row0, i), input(row1, i), first + i * full_width);
    activate();
    SAGIPS_CUDA_UNROLL(1)
    for (int l = 0; l < p.network.hidden - 1; ++l) {
      TileOperand<precision> a;
      take(a, p.activations, l);
      set_columns(bias(l + 1));
      product<precision, false>(c, a, image(l), lane);
      unrolled<2>([&](int h) {
        signs[3][h] = signs[2][h], signs[2][h] = signs[1][h], signs[1][h] = signs[0][h];
      });
      activate();
    }
  }
  /// Outputs, and c becomes the slopes by the last hidden layer.
  __device__ __forceinline__ void turn() {
    const int outputs = p.network.outputs;
    const float* last = bias(p.network.hidden);
    // Slopes of output o are kept by lane o % 4 of those that share a row.
    float low0 = 0, low1 = 0, high0 = 0, high1 = 0;
    SAGIPS_CUDA_UNROLL(1)
    for (int o = 0; o < outputs; ++o) {
      float2 z = along_columns(last + o * full_width);
      z.x += last[outputs * full_width + o], z.y += last[outputs * full_width + o];
      write(p.output, z, outputs, o);
      if constexpr (mode == Mode::outputs) continue;
      const auto slope = [&](int row, float at) {
        return row < p.rows ? slope_of(p.slopes, at, size_t(row) * outputs + o) : 0.0f;
      };
      const float slope0 = slope(row0, z.x), slope1 = slope(row1, z.y);
      add_rows(p.network.inputs + p.network.hidden + o, slope0, slope1);
      const bool is_low = o == t, is_high = o == t + 4;
      low0 = is_low ? slope0 : low0, low1 = is_low ? slope1 : low1;
      high0 = is_high ? slope0 : high0, high1 = is_high ? slope1 : high1;
    }
    if constexpr (mode == Mode::outputs) return;
    if constexpr (keeps) {
      float2 sum = *last_bias_sums;
      sum.x += low0 + low1, sum.y += high0 + high1;
      *last_bias_sums = sum;
    }
    set_zero();
    SAGIPS_CUDA_UNROLL(1)
    for (int o = 0; o < outputs; ++o) {
      const int source = (lane & ~3) | (o & 3);
      add_outer(__shfl_sync(all_lanes, o < 4 ? low0 : high0, source),
                __shfl_sync(all_lanes, o < 4 ? low1 : high1, source), last + o * full_width);
    }
  }
  __device__ __forceinline__ void backward() {
    const int inputs = p.network.inputs;
    times_slopes();
    SAGIPS_CUDA_UNROLL(1)
    for (int l = p.network.hidden - 2; l >= 0; --l) {
      TileOperand<precision> a;
      take(a, p.deltas, l);
      add_rows(inputs + l + 1, 1, 1);
      set_zero();
      product<precision, true>(c, a, image(l), lane);
      unrolled<2>([&](int h) {
        signs[0][h] = signs[1][h], signs[1][h] = signs[2][h], signs[2][h] = signs[3][h];
      });
      times_slopes();
    }
    add_rows(inputs, 1, 1);
    SAGIPS_CUDA_UNROLL(1)
    for (int i = 0; keeps && i < inputs; ++i) add_rows(i, input(row0, i), input(row1, i));
    SAGIPS_CUDA_UNROLL(1)
    for (int i = 0; p.input_gradient != nullptr && i < inputs; ++i)
      write(p.input_gradient, along_columns(first + i * full_width), inputs, i);
  }
};

/// The warps' sums, warp by warp.
template <int warps>
__device__ void add_sums(const Pass& p, const float* sums, const float* last_bias_sums) {
  const int columns = p.network.columns(), numbers = p.network.numbers();
  for (int i = threadIdx.x; i < numbers; i += warps * 32) {
    const int o = i - columns * full_width;
    float total = 0;
    for (int k = 0; k < warps; ++k)
      total += o < 0 ? sums[k * columns * full_width + i]
                     : last_bias_sums[k * 64 + (o & 3) * 2 + (o >> 2)];
    p.small[size_t(blockIdx.x) * numbers + i] = total;
  }
}

template <int precision, Mode mode, bool all_resident>
__global__ void __launch_bounds__(Form<precision>::warps * 32, 1)
    passes(const __grid_constant__ Pass p) {
  using F = Form<precision>;
  constexpr int threads = F::warps * 32;
  SAGIPS_CUDA_SHARED(shared);
  const int thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
  const int products = p.network.hidden - 1, resident = all_resident ? products : p.resident;
  const int columns = p.network.columns(), numbers = p.network.numbers();
  auto* first = reinterpret_cast<float*>(shared + resident * F::image_bytes);
  for (int i = thread; i < resident * (F::image_bytes / 16); i += threads)
    copy_16(shared + i * 16, p.packed + i * 16);
  for (int i = thread; i < numbers / 4; i += threads)
    copy_16(first + i * 4, p.packed + size_t(products) * F::image_bytes + i * 16);
  close_copies();
  auto* last_bias_sums = reinterpret_cast<float2*>(first + numbers) + thread;
  float4* sums = nullptr;
  if constexpr (mode == Mode::row_factors) {
    sums = p.sums ? p.sums + size_t(blockIdx.x * F::warps) * columns * 32
                  : reinterpret_cast<float4*>(first + numbers + threads * 2);
    sums += warp * columns * 32;
    for (int q = 0; q < columns; ++q) sums[q * 32 + lane] = make_float4(0, 0, 0, 0);
    *last_bias_sums = make_float2(0, 0);
  }
  wait_for_copies<0>();
  __syncthreads();

  const int tiles =
      (mode == Mode::row_factors ? p.padded_rows : p.rows + tile_rows - 1) / tile_rows;
  Warp<precision, mode, all_resident> w{p, shared, first, sums, last_bias_sums, lane};
  for (w.tile = blockIdx.x + gridDim.x * warp; w.tile < tiles; w.tile += gridDim.x * F::warps) {
    keep_inside();
    w.row0 = w.tile * tile_rows + lane / 4, w.row1 = w.row0 + 8;
    w.forward();
    w.turn();
    if constexpr (mode != Mode::outputs) w.backward();
  }

  if constexpr (mode == Mode::row_factors) {
    float2 sum = *last_bias_sums;
    unrolled<3>([&](int i) {
      sum.x += from_lane_xor(sum.x, 4 << i), sum.y += from_lane_xor(sum.y, 4 << i);
    });
    *last_bias_sums = sum;
    __syncthreads();
    add_sums<F::warps>(p, reinterpret_cast<const float*>(sums - warp * columns * 32),
                       first + numbers);
  }
}

/// The operands of weight_gradients for 16 rows (bfloat16) or 8, from a stage in shared memory.
/// top, left: of the warp's 64 x 32 gradients
__device__ __forceinline__ void add_short_gradients(float (&c)[4][4][4], const void* deltas,
                                                    const void* activations, int row, int top,
                                                    int left, int lane) {
  const int down = (lane >> 3 & 1) * 8, right = (lane >> 4) * 8, r = row + (lane & 7);
  const auto* d = static_cast<const uint16_t*>(deltas) + (right + r) * pitch + top + down;
  const auto* v = static_cast<const uint16_t*>(activations) + (down + r) * pitch + left + right;
  uint32_t a[4][4], b[2][4];
  unrolled<4>([&](int m) { load_matrices<true>(a[m], d + m * 16); });
  unrolled<2>([&](int n) { load_matrices<true>(b[n], v + n * 16); });
  unrolled<4>([&](int m) {
    unrolled<4>([&](int n) { multiply_bfloat16(c[m][n], a[m], b[n / 2] + n % 2 * 2); });
  });
}
template <bool splits>
__device__ __forceinline__ void add_gradients(float (&c)[4][4][4], const void* deltas,
                                              const void* activations, int row, int top, int left,
                                              int lane) {
  // Four neighbours of a row belong to four products: one load of 16 bytes serves all of them.
  const int at = (row + (lane & 3)) * pitch + 4 * (lane >> 2);
  const auto* d = static_cast<const float*>(deltas) + at + top;
  const auto* v = static_cast<const float*>(activations) + at + left;
  uint32_t a[4][4];
  Operand<splits, 2> b[4];
  unrolled<2>([&](int j) {
    unrolled<2>([&](int q) {
      const uint4 u = *reinterpret_cast<const uint4*>(d + 4 * j * pitch + q * 32);
      a[2 * q][2 * j] = u.x, a[2 * q][2 * j + 1] = u.y;
      a[2 * q + 1][2 * j] = u.z, a[2 * q + 1][2 * j + 1] = u.w;
    });
    const uint4 u = *reinterpret_cast<const uint4*>(v + 4 * j * pitch);
    b[0].set(j, u.x), b[1].set(j, u.y), b[2].set(j, u.z), b[3].set(j, u.w);
  });
  unrolled<4>([&](int m) {
    Operand<splits, 4> left_operand;
    unrolled<4>([&](int j) { left_operand.set(j, a[m][j]); });
    multiply_four<splits>(c[m], left_operand, b);
  });
}

template <bool is_short>
__device__ __forceinline__ void store_gradients(float* to, const float (&c)[4][4][4], int g,
                                                int t) {
  unrolled<4>([&](int m) {
    unrolled<2>([&](int h) {
      if constexpr (is_short)
        unrolled<4>([&](int n) {
          float* at = to + (m * 16 + h * 8 + g) * full_width + n * 8 + 2 * t;
          *reinterpret_cast<float2*>(at) = make_float2(c[m][n][2 * h], c[m][n][2 * h + 1]);
        });
      else
        unrolled<2>([&](int e) {
          const int i = 2 * h + e;
          float* at = to + (m / 2 * 32 + 4 * g + m % 2 * 2 + h) * full_width + 4 * (2 * t + e);
          *reinterpret_cast<float4*>(at) =
              make_float4(c[m][0][i], c[m][1][i], c[m][2][i], c[m][3][i]);
        });
    });
  });
}

/// Adds what was summed to another sum, and begins anew.
__device__ __forceinline__ void move_sums(float (&from)[4][4][4], float (&to)[4][4][4]) {
  unrolled<4>([&](int m) {
    unrolled<4>([&](int n) {
      unrolled<4>([&](int i) {
        to[m][n][i] += from[m][n][i];
        from[m][n][i] = 0;
      });
    });
  });
}

/// Weight gradients of a hidden product (blockIdx.y) over a range of rows (blockIdx.x): deltas^T
/// times activations. 8 warps have 64 x 32 each.
/// shape: parts [products, ranges, 128, 128], rows and columns in the order of stored_column
template <int precision>
__global__ void __launch_bounds__(gradient_threads, Form<precision>::gradient_blocks)
    weight_gradients(const unsigned char* deltas, const unsigned char* activations, float* parts,
                     int padded_rows) {
  using F = Form<precision>;
  SAGIPS_CUDA_SHARED(shared);
  constexpr int chunks = full_width * F::number_bytes / 16, row_bytes = pitch * F::number_bytes;
  constexpr int stage_bytes = F::stage_rows * chunks * 16;
  const int64_t stages = padded_rows / F::stage_rows, range = blockIdx.x, ranges = gridDim.x;
  const int begin = int(stages * range / ranges), end = int(stages * (range + 1) / ranges);
  deltas += size_t(blockIdx.y) * stages * stage_bytes;
  activations += size_t(blockIdx.y) * stages * stage_bytes;
  const int thread = threadIdx.x, lane = thread % 32;
  const int top = thread / 128 * 64, left = thread / 32 % 4 * 32;
  const auto load = [&](int stage, int slot) {
    if (stage < end)
      unrolled<F::stage_rows * chunks / gradient_threads>([&](int i) {
        const int chunk = thread + i * gradient_threads;
        unsigned char* to =
            shared + slot * 2 * F::operand_bytes + chunk / chunks * row_bytes + chunk % chunks * 16;
        const size_t from = size_t(stage) * stage_bytes + size_t(chunk) * 16;
        copy_16(to, deltas + from);
        copy_16(to + F::operand_bytes, activations + from);
      });
    close_copies();
  };
  float c[4][4][4] = {}, sum[4][4][4] = {};
  unrolled<slots - 1>([&](int i) { load(begin + i, i); });
  int slot = 0;
  SAGIPS_CUDA_UNROLL(1)
  for (int stage = begin; stage < end; ++stage) {
    wait_for_copies<slots - 2>();
    __syncthreads();
    load(stage + slots - 1, slot == 0 ? slots - 1 : slot - 1);
    const unsigned char* d = shared + slot * 2 * F::operand_bytes;
    const unsigned char* v = d + F::operand_bytes;
    if constexpr (F::is_short)
      unrolled<F::stage_rows / 16>(
          [&](int i) { add_short_gradients(c, d, v, i * 16, top, left, lane); });
    else
      unrolled<F::stage_rows / 8>(
          [&](int i) { add_gradients<F::splits>(c, d, v, i * 8, top, left, lane); });
    if constexpr (F::splits)
      if ((stage - begin) % exact_stages == exact_stages - 1) move_sums(c, sum);
    slot = slot == slots - 1 ? 0 : slot + 1;
  }
  if constexpr (F::splits) move_sums(sum, c);
  float* to = parts + (size_t(blockIdx.y) * ranges + range) * full_width * full_width;
  store_gradients<F::is_short>(to + top * full_width + left, c, lane >> 2, lane & 3);
}

/// The place among all weights of one of the small numbers; -1: of none.
__device__ int64_t small_place(const Network& n, int column, int row) {
  if (column < n.inputs)
    return row < n.width(0) ? n.weight_at[0] + int64_t(row) * n.inputs + column : -1;
  const int layer = column - n.inputs;
  if (layer < n.hidden) return row < n.width(layer) ? n.bias_at[layer] + row : -1;
  const int output = layer - n.hidden, below = n.width_below(n.hidden);
  if (output < n.outputs) return row < below ? n.weight_at[n.hidden] + output * below + row : -1;
  return row < n.outputs ? n.bias_at[n.hidden] + row : -1;
}

/// Adds the parts of all gradients to them, one thread a number.
template <int precision>
__global__ void add_parts(Network network, const float* parts, int ranges, const float* small,
                          int blocks, float* gradients) {
  constexpr int square = full_width * full_width;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int l = i / square, e = i - (network.hidden - 1) * square, numbers = network.numbers();
  const float* from;
  int count, stride;
  int64_t place;
  if (e < 0) {
    const int row = stored_column<precision>(i % square / full_width);
    const int column = stored_column<precision>(i % full_width), below = network.widths[l];
    if (row >= network.widths[l + 1] || column >= below) return;
    place = network.weight_at[l + 1] + int64_t(row) * below + column;
    from = parts + size_t(l) * ranges * square + i % square, count = ranges, stride = square;
  } else {
    if (e >= numbers) return;
    const int column = e / full_width,
              row = column < network.columns() ? summed_column(e % full_width) : e % full_width;
    place = small_place(network, column, row);
    from = small + e, count = blocks, stride = numbers;
  }
  if (place < 0) return;
  float sum = 0;
  SAGIPS_CUDA_UNROLL(8)
  for (int k = 0; k < count; ++k) sum += from[size_t(k) * stride];
  gradients[place] += sum;
}

/// Puts weights where `passes` wants them, rounded.
template <int precision>
__global__ void pack_weights(Network network, const float* weights, unsigned char* packed) {
  using F = Form<precision>;
  constexpr int image_numbers = full_width * F::image_pitch;
  const int i = blockIdx.x * blockDim.x + threadIdx.x,
            images = (network.hidden - 1) * image_numbers;
  if (i < images) {
    const int l = i / image_numbers, row = i % image_numbers / F::image_pitch,
              column = i % F::image_pitch;
    const int below = network.widths[l];
    const bool padding = row >= network.widths[l + 1] || column >= below;
    const float value =
        padding ? 0 : weights[network.weight_at[l + 1] + int64_t(row) * below + column];
    unsigned char* image = packed + size_t(l) * F::image_bytes;
    if constexpr (F::is_short)
      reinterpret_cast<uint16_t*>(image)[row * pitch + column] = uint16_t(to_bfloat16(value, 0));
    else
      reinterpret_cast<uint32_t*>(image)[row * full_width + (column ^ swizzle(row))] =
          F::splits ? __float_as_uint(value) : to_tf32(value);
  } else if (i - images < network.numbers()) {
    const int64_t place =
        small_place(network, (i - images) / full_width, (i - images) % full_width);
    reinterpret_cast<float*>(packed + size_t(network.hidden - 1) * F::image_bytes)[i - images] =
        place < 0 ? 0 : weights[place];
  }
}

bool is_taken(const sagips_cuda_dense& shape, int precision) {
  const auto within = [](int value, int most) { return value >= 1 && value <= most; };
  if (!within(shape.inputs, 8) || !within(shape.outputs, 8) || !within(shape.hidden_layers, 4))
    return false;
  for (int i = 0; i < shape.hidden_layers; ++i)
    if (!within(shape.widths[i], full_width)) return false;
  return shape.slope >= 0 && shape.slope <= 1 && precision >= 0 &&
         precision <= SAGIPS_CUDA_BFLOAT16;
}
Network network_of(const sagips_cuda_dense& shape) {
  Network network{shape.inputs, shape.outputs, shape.hidden_layers, {}, shape.slope, {}, {}};
  std::copy_n(shape.widths, shape.hidden_layers, network.widths);
  std::copy_n(shape.weight_at, shape.hidden_layers + 1, network.weight_at);
  std::copy_n(shape.bias_at, shape.hidden_layers + 1, network.bias_at);
  return network;
}

/// Where the passes over so many rows keep what, in bytes from the start of `work`.
template <int precision>
struct Work {
  using F = Form<precision>;
  Work(const Network& network, int64_t rows)
      : padded_rows((rows + padding_rows - 1) / padding_rows * padding_rows),
        blocks(
            int(std::min<int64_t>(multiprocessors(), (padded_rows + tile_rows - 1) / tile_rows))) {
    const int products = network.hidden - 1;
    const int64_t pairs = (padded_rows / F::stage_rows + 1) / 2;
    if (products > 0)
      ranges = int(std::max<int64_t>(
          1, std::min<int64_t>(F::gradient_blocks * multiprocessors() / products, pairs)));
    const int64_t factors = products * padded_rows * full_width * F::number_bytes;
    deltas = factors;
    sums = 2 * factors;
    parts = sums + int64_t{blocks} * F::warps * network.columns() * full_width * 4;
    small = parts + int64_t{products} * ranges * full_width * full_width * 4;
    bytes = small + int64_t{blocks} * network.numbers() * 4;
  }
  int64_t padded_rows;
  int blocks, ranges = 1;
  int64_t deltas, sums, parts, small, bytes;
};

template <int precision, Mode mode, bool all_resident>
int launch_passes(const Pass& pass, int blocks, size_t bytes, void* stream) {
  const auto kernel = passes<precision, mode, all_resident>;
  static const int refused = allow_shared(kernel, shared_limit());
  if (refused != 0) return refused;
  return launch(kernel, blocks, Form<precision>::warps * 32, bytes, stream, pass);
}

template <int precision, Mode mode>
int run_passes(Pass pass, const Work<precision>& work, void* stream) {
  const Network& network = pass.network;
  const int products = network.hidden - 1;
  pass.resident = products;
  while (pass.resident > 0 && shared_bytes<precision>(network, pass.resident) > shared_limit())
    --pass.resident;
  size_t bytes = shared_bytes<precision>(network, pass.resident);
  const size_t sums = size_t(Form<precision>::warps) * network.columns() * full_width * 4;
  if (mode == Mode::row_factors && bytes + sums <= shared_limit())
    pass.sums = nullptr, bytes += sums;
  if constexpr (!Form<precision>::is_short)
    if (pass.resident < products)
      return launch_passes<precision, mode, false>(pass, work.blocks, bytes, stream);
  return launch_passes<precision, mode, true>(pass, work.blocks, bytes, stream);
}

template <int precision>
int run(Pass pass, void* memory, float* gradients, void* stream) {
  using F = Form<precision>;
  const Network& network = pass.network;
  const Work<precision> work(network, pass.rows);
  pass.padded_rows = int(work.padded_rows);
  if (gradients == nullptr)
    return pass.input_gradient == nullptr
               ? run_passes<precision, Mode::outputs>(pass, work, stream)
               : run_passes<precision, Mode::input_gradients>(pass, work, stream);
  auto* start = static_cast<unsigned char*>(memory);
  pass.activations = start;
  pass.deltas = start + work.deltas;
  pass.sums = reinterpret_cast<float4*>(start + work.sums);
  pass.small = reinterpret_cast<float*>(start + work.small);
  if (const int error = run_passes<precision, Mode::row_factors>(pass, work, stream)) return error;
  auto* parts = reinterpret_cast<float*>(start + work.parts);
  const int products = network.hidden - 1;
  if (products > 0) {
    static const int refused = allow_shared(weight_gradients<precision>, F::gradient_shared);
    if (refused != 0) return refused;
    if (const int error = launch(weight_gradients<precision>, dim3(work.ranges, products),
                                 gradient_threads, F::gradient_shared, stream, pass.deltas,
                                 pass.activations, parts, pass.padded_rows))
      return error;
  }
  const int numbers = products * full_width * full_width + network.numbers();
  return launch(add_parts<precision>, (numbers + 255) / 256, 256, 0, stream, network, parts,
                work.ranges, pass.small, work.blocks, gradients);
}

/// Calls with the precision as a type.
template <class Call>
auto with_precision(int precision, const Call& call) {
  switch (precision) {
    case SAGIPS_CUDA_FLOAT32:
      return call(Form<SAGIPS_CUDA_FLOAT32>());
    case SAGIPS_CUDA_TF32:
      return call(Form<SAGIPS_CUDA_TF32>());
    default:
      return call(Form<SAGIPS_CUDA_BFLOAT16>());
  }
}
template <int precision>
constexpr int precision_of(Form<precision>) {
  return precision;
}

}  // namespace
}  // namespace sagips::cuda::dense

using namespace sagips::cuda;

int64_t sagips_cuda_dense_packed_bytes(sagips_cuda_dense shape, int precision) {
  if (!dense::is_taken(shape, precision)) return 0;
  return dense::with_precision(precision, [&](auto form) {
    return int64_t{shape.hidden_layers - 1} * form.image_bytes +
           dense::network_of(shape).numbers() * 4;
  });
}

int64_t sagips_cuda_dense_work_bytes(sagips_cuda_dense shape, int precision, int64_t rows) {
  if (!dense::is_taken(shape, precision)) return 0;
  return dense::with_precision(precision, [&](auto form) {
    return dense::Work<dense::precision_of(form)>(dense::network_of(shape),
                                                  std::max<int64_t>(rows, 1))
        .bytes;
  });
}

int sagips_cuda_dense_pack(sagips_cuda_dense shape, int precision, const float* weights,
                           void* packed, void* stream) {
  if (!dense::is_taken(shape, precision)) return invalid_value;
  const dense::Network network = dense::network_of(shape);
  return dense::with_precision(precision, [&](auto form) {
    const int numbers =
        (network.hidden - 1) * dense::full_width * form.image_pitch + network.numbers();
    return launch(dense::pack_weights<dense::precision_of(form)>, (numbers + 255) / 256, 256, 0,
                  stream, network, weights, static_cast<unsigned char*>(packed));
  });
}

int sagips_cuda_dense_passes(sagips_cuda_dense shape, int precision, const void* packed,
                             const float* input, int64_t rows, sagips_cuda_slopes slopes,
                             float* output, float* input_gradient, float* weight_gradients,
                             void* work, void* stream) {
  constexpr int64_t most_rows = 1 << 30;
  if (!dense::is_taken(shape, precision) || rows < 0 || rows > most_rows) return invalid_value;
  if (rows == 0) return 0;
  dense::Pass pass{};
  pass.network = dense::network_of(shape);
  pass.packed = static_cast<const unsigned char*>(packed);
  pass.input = input, pass.rows = int(rows), pass.slopes = slopes;
  pass.output = output, pass.input_gradient = input_gradient;
  return dense::with_precision(precision, [&](auto form) {
    return dense::run<dense::precision_of(form)>(pass, work, weight_gradients, stream);
  });
}

int sagips_cuda_dense_outputs(sagips_cuda_dense shape, int precision, const void* packed,
                              const float* input, int64_t rows, float* output, void* stream) {
  return sagips_cuda_dense_passes(shape, precision, packed, input, rows, {}, output, nullptr,
                                  nullptr, nullptr, stream);
}

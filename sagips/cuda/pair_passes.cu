// Pair passes, fused: for each receiver the sum over senders of a network of pairs, whose first layer is
// activation(a of the receiver + b of the sender). A block takes an event, its warps share the senders:
// each takes 16 receivers and one sender at a time through all layers, in registers. The way back makes
// the values anew, so that nothing of the size of all pairs goes to memory.
//
// A tile, 16 pairs times a layer's columns, has two forms: as tensor cores leave it, which serves as it is
// where columns are summed over, and turned, which serves where pairs are. Products with the unit matrix
// turn it: what tensor cores read, they pass on as it is.
#include <algorithm>

#include "sagips/cuda/device.cuh"
#include "sagips/cuda/interface.h"

namespace sagips::cuda::pairs {
namespace {

constexpr unsigned all_lanes = ~0u;
constexpr int block_columns = 16;  // layers are padded to these
constexpr int tile_rows = 16;
constexpr int most_width = 64;
constexpr int adders = 8;  // threads that share the parts of one sum
constexpr int most_particles = 1 << 16;
constexpr float log2_e = 1.442695041f;
// What cutting 13 bits off takes from a number in the mean, where its logarithm is uniform.
constexpr double mean_cut = 0.3522e-3;

constexpr int one_at_least(int value) { return value > 0 ? value : 1; }

/// What a kernel is built for: the layers' columns in blocks of 16, 0 for no such layer.
/// exact: float32 as three products of tf32. smooth: exponential below 0, else linear.
template <int first_, int second_, int third_, bool exact_, bool smooth_>
struct Form {
  static constexpr int first = first_, second = second_, third = third_;
  static constexpr bool exact = exact_, smooth = smooth_;
  static constexpr int layers = third > 0 ? 3 : second > 0 ? 2 : 1;
  static constexpr float of_sums = smooth ? log2_e : 1.0f;  // see Activation
  static constexpr int last = third > 0 ? third : second > 0 ? second : first;
  static constexpr int weights = 256 * (first * second + second * third);
  static constexpr int biases = 2 * block_columns * (second + third);  // twice each
  static constexpr int sender_columns = block_columns * first;
  // Weight gradients of 16 outputs a layer fit into registers; more take another run each.
  static constexpr int parts = one_at_least(std::max(second, third));
  static constexpr int most_warps = first + second + third <= 4 && !exact ? 16 : 8;  // by registers
  /// Numbers that a lane sums of weight gradients: of the second layer's, of all.
  static constexpr int second_sums = second > 0 ? 8 * first + 2 : 0;
  static constexpr int sums = second_sums + (third > 0 ? 8 * second + 2 : 0);
};

/// Sums in front of an activation with an exponential come times log2(e), so that 2^sum is all it takes.
struct alignas(16) Activation {
  float positive;  ///< value over such a sum, where it is positive
  float above;     ///< slope where the sum is positive
  float below;     ///< slope at small negative sums
  float unused;
};

struct Pass {
  int events, particles;
  int widths[3];
  // Tensor cores cut factors off. What becomes one is made larger by the mean of that; rounding it would
  // take three instructions a number.
  Activation plain, of_factors;
  const float* halves;
  const uint8_t* present;
  const float *weights, *slopes;
  float *messages, *halves_gradient;
  float* sums;  ///< of each part and block [F::sums, 32]

  /// Where a dense layer's weight starts; its bias follows.
  __host__ __device__ int weight_at(int layer) const {
    return layer == 1 ? 0 : (widths[0] + 1) * widths[1];
  }
  __host__ __device__ int bias_at(int layer) const {
    return weight_at(layer) + widths[layer - 1] * widths[layer];
  }
};

template <int count, class Body>
__device__ __forceinline__ void unrolled(const Body& body) {
  SAGIPS_CUDA_UNROLL(count)
  for (int i = 0; i < count; ++i) body(i);
}
__device__ __forceinline__ float from_lane_xor(float value, int mask) {
  return __shfl_xor_sync(all_lanes, value, mask);
}

/// Lane 4 g + t has c[n][j] of row g + 8 (j / 2), column 8 n + 2 t + j % 2.
template <int blocks>
using Tile = float[one_at_least(2 * blocks)][4];
/// Lane 4 g + t has c[m][h][j] of row 8 h + 2 t + j % 2, column 16 m + g + 8 (j / 2).
template <int blocks>
using Turned = float[one_at_least(blocks)][2][4];

struct Split {
  uint32_t high, low;
};
/// The bits that tensor cores read, and the rest.
template <bool exact>
__device__ __forceinline__ Split split(float value) {
  const uint32_t bits = __float_as_uint(value);
  if constexpr (!exact) return {bits, 0};
  const uint32_t high = bits & 0xffffe000u;
  return {high, __float_as_uint(value - __uint_as_float(high))};
}
/// d [16, 8] += a [16, 8] b [8, 8], small parts first. unit: a has no small parts.
template <bool exact, bool unit = false>
__device__ __forceinline__ void multiply(float (&d)[4], const float (&a)[4], const float (&b)[2]) {
  uint32_t high[4], low[4], right_high[2], right_low[2];
  unrolled<4>([&](int i) {
    const Split s = split < exact && !unit > (a[i]);
    high[i] = s.high, low[i] = s.low;
  });
  unrolled<2>([&](int i) {
    const Split s = split<exact>(b[i]);
    right_high[i] = s.high, right_low[i] = s.low;
  });
  if constexpr (exact && !unit) multiply_tf32(d, low, right_high);
  if constexpr (exact) multiply_tf32(d, high, right_low);
  multiply_tf32(d, high, right_high);
}

/// A dense layer's weights as the products want them, and biases, in shared memory.
struct Layer {
  const float4 *forward, *backward, *bias;
};
/// Slots t and t + 4 of a step stand for columns 2 t and 2 t + 1, so that what was summed serves as factor
/// of the next product as it is.
__device__ __forceinline__ void as_factor(float (&a)[4], const float (&c)[4]) {
  a[0] = c[0], a[1] = c[2], a[2] = c[1], a[3] = c[3];
}
/// c = bias + values W^T.
template <class F, int below, int above>
__device__ __forceinline__ void apply(Tile<above>& c, const Tile<below>& values, const Layer& layer,
                                      int lane) {
  unrolled<2 * above>([&](int n) {
    const float4 bias = layer.bias[n * 4 + (lane & 3)];
    c[n][0] = bias.x, c[n][1] = bias.y, c[n][2] = bias.z, c[n][3] = bias.w;
  });
  unrolled<below>([&](int s) {
    float a[2][4];
    unrolled<2>([&](int i) { as_factor(a[i], values[2 * s + i]); });
    unrolled<2 * above>([&](int n) {
      const float4 w = layer.forward[(n * below + s) * 32 + lane];
      multiply<F::exact>(c[n], a[0], {w.x, w.y});
      multiply<F::exact>(c[n], a[1], {w.z, w.w});
    });
  });
}
/// c = delta W.
template <class F, int below, int above>
__device__ __forceinline__ void pull_back(Tile<below>& c, const Tile<above>& delta,
                                          const Layer& layer, int lane) {
  unrolled<2 * below>([&](int n) { unrolled<4>([&](int j) { c[n][j] = 0; }); });
  unrolled<2 * above>([&](int s) {
    float a[4];
    as_factor(a, delta[s]);
    unrolled<below>([&](int m) {
      const float4 w = layer.backward[(m * 2 * above + s) * 32 + lane];
      multiply<F::exact>(c[2 * m], a, {w.x, w.y});
      multiply<F::exact>(c[2 * m + 1], a, {w.z, w.w});
    });
  });
}
/// Block m of the same, turned.
template <class F, int above>
__device__ __forceinline__ void pull_back_turned(float (&c)[2][4], const Tile<above>& delta,
                                                 const Layer& layer, int m, int lane) {
  unrolled<2>([&](int h) { unrolled<4>([&](int j) { c[h][j] = 0; }); });
  unrolled<2 * above>([&](int s) {
    const float4 w = layer.backward[(m * 2 * above + s) * 32 + lane];
    unrolled<2>([&](int h) {
      multiply<F::exact>(c[h], {w.x, w.y, w.z, w.w}, {delta[s][2 * h], delta[s][2 * h + 1]});
    });
  });
}

/// Numbers that a warp sums of a layer's weight gradients: outputs g and g + 8 of a part, inputs
/// 8 n + 2 t and the next one.
template <int below>
struct LayerSums {
  float weight[one_at_least(2 * below)][4] = {};
  float bias[2] = {};
};

template <class F>
struct Values {
  Tile<F::first> first;
  Tile<F::second> second;
  Tile<F::third> third;

  __device__ __forceinline__ Tile<F::last>& top() {
    if constexpr (F::third > 0)
      return third;
    else if constexpr (F::second > 0)
      return second;
    else
      return first;
  }
};

/// What the compiler would make anew for each use, did it not have to load it.
struct Constants {
  float4 unit[2][32];  ///< of each lane: factors that take columns 0 to 7 and 8 to 15 as they are
  Activation plain, of_factors;
};

/// A warp and what it sums.
template <class F>
struct Warp {
  const Pass& p;
  Layer second, third;
  const Constants* constants;
  const float4* received;  ///< halves of the receivers, as tiles have them
  const float4* given;     ///< slopes by the receivers' sums
  int lane, part;
  int g = lane >> 2, t = lane & 3;
  float4 unit[2] = {};
  Turned<F::first> of_received = {};  ///< gradients of the receivers' halves
  LayerSums<F::first> second_sums = {};
  LayerSums<F::second> third_sums = {};

  /// The activation's slope where its value is v.
  static __device__ __forceinline__ float slope(const Activation& f, float v) {
    return v > 0 ? f.above : F::smooth ? v + f.below : f.below;
  }
  template <int groups>
  __device__ __forceinline__ void activate(float (&c)[groups][4], const Activation& f) const {
    const Activation loaded = f;
    const float positive = loaded.positive, below = loaded.below;
    unrolled<groups>([&](int n) {
      unrolled<4>([&](int j) {
        const float x = c[n][j];
        if constexpr (F::smooth)
          c[n][j] = x > 0 ? positive * x : below * power_of_2(x) - below;
        else
          c[n][j] = x > 0 ? positive * x : below * x;
      });
    });
  }

  /// Values of all layers for the sender whose half lies in shared memory, lane by lane.
  __device__ __forceinline__ void forward(Values<F>& v, const float* sent,
                                          const Activation& of_last) const {
    const auto* four = reinterpret_cast<const float4*>(sent) + t * F::first;
    unrolled<F::first>([&](int k) {
      const float4 b = four[k], a0 = received[2 * k * 32], a1 = received[(2 * k + 1) * 32];
      v.first[2 * k][0] = a0.x + b.x, v.first[2 * k][1] = a0.y + b.y;
      v.first[2 * k][2] = a0.z + b.x, v.first[2 * k][3] = a0.w + b.y;
      v.first[2 * k + 1][0] = a1.x + b.z, v.first[2 * k + 1][1] = a1.y + b.w;
      v.first[2 * k + 1][2] = a1.z + b.z, v.first[2 * k + 1][3] = a1.w + b.w;
    });
    activate(v.first, F::layers == 1 ? of_last : constants->of_factors);
    if constexpr (F::second > 0) {
      apply<F, F::first, F::second>(v.second, v.first, second, lane);
      activate(v.second, F::layers == 2 ? of_last : constants->of_factors);
    }
    if constexpr (F::third > 0) {
      apply<F, F::second, F::third>(v.third, v.second, third, lane);
      activate(v.third, of_last);
    }
  }
  /// Sets the row of the pair of a particle with itself to 0. own: this row, or none of the tile
  template <int groups>
  __device__ __forceinline__ void drop_own(float (&c)[groups][4], int own) const {
    if (unsigned(own) >= unsigned(tile_rows)) return;
    unrolled<groups>([&](int n) {
      unrolled<4>([&](int j) {
        if (own == g + 8 * (j / 2)) c[n][j] = 0;
      });
    });
  }

  /// Block m of a tile, turned.
  template <int groups>
  __device__ __forceinline__ void turn_block(float (&to)[2][4], const float (&c)[groups][4],
                                             int m) const {
    unrolled<2>([&](int h) {
      unrolled<4>([&](int j) { to[h][j] = 0; });
      unrolled<2>([&](int i) {
        const float4 u = unit[i];
        multiply<F::exact, true>(to[h], {u.x, u.y, u.z, u.w},
                                 {c[2 * m + i][2 * h], c[2 * m + i][2 * h + 1]});
      });
    });
  }
  /// This part's outputs of delta, turned, and their sums; false if the layer has none in this part.
  template <int below, int above>
  __device__ __forceinline__ bool take_outputs(LayerSums<below>& sums, float (&d)[2][4],
                                               const Tile<above>& delta) const {
    unrolled<above>([&](int m) {
      if (m == part) turn_block(d, delta, m);
    });
    if (part >= above) return false;
    unrolled<2>([&](int q) {
      sums.bias[q] += (d[0][2 * q] + d[0][2 * q + 1]) + (d[1][2 * q] + d[1][2 * q + 1]);
    });
    return true;
  }
  /// sums += d values for the inputs of block m, in float32 after each tile: tensor cores round long sums
  /// towards zero.
  template <int below>
  __device__ __forceinline__ void add_gradients(LayerSums<below>& sums, const float (&d)[2][4],
                                                const float (&values)[2][4], int m) const {
    unrolled<2>([&](int i) {
      float c[4] = {};
      unrolled<2>([&](int h) {
        float a[4];
        as_factor(a, d[h]);
        multiply<F::exact>(c, a, {values[h][2 * i], values[h][2 * i + 1]});
      });
      unrolled<4>([&](int j) { sums.weight[2 * m + i][j] += c[j]; });
    });
  }
  /// What was a value becomes its slope times a factor.
  __device__ __forceinline__ void times_slopes(float (&c)[4], const float (&factors)[4]) const {
    const Activation f = constants->of_factors;
    unrolled<4>([&](int j) { c[j] = factors[j] * slope(f, c[j]); });
  }
  /// From the values to the gradients of both halves: those of the receivers are added to `of_received`,
  /// and their sums to the sender's, whose columns lie as sent_column tells.
  __device__ __forceinline__ void backward(Values<F>& v, int own, float* of_sent) {
    keep_inside();
    unrolled<2>([&](int i) { unit[i] = constants->unit[i][lane]; });
    auto& top = v.top();
    unrolled<2 * F::last>([&](int n) {
      const float4 of = given[n * 32];
      times_slopes(top[n], {of.x, of.y, of.z, of.w});
    });
    drop_own(top, own);
    if constexpr (F::third > 0) {
      float d[2][4], values[2][4];
      const bool takes = take_outputs<F::second, F::third>(third_sums, d, v.third);
      unrolled<F::second>([&](int m) {
        if (!takes) return;
        turn_block(values, v.second, m);
        add_gradients<F::second>(third_sums, d, values, m);
      });
      keep_inside();
      Tile<F::second> pulled;
      pull_back<F, F::second, F::third>(pulled, v.third, third, lane);
      unrolled<2 * F::second>([&](int n) { times_slopes(v.second[n], pulled[n]); });
    }
    float sums[2 * F::first];
    if constexpr (F::second > 0) {
      float d[2][4], values[2][4], c[2][4];
      const bool takes = take_outputs<F::first, F::second>(second_sums, d, v.second);
      const Activation f = constants->plain;
      unrolled<F::first>([&](int m) {
        keep_inside();
        turn_block(values, v.first, m);
        if (takes) add_gradients<F::first>(second_sums, d, values, m);
        pull_back_turned<F, F::second>(c, v.second, second, m, lane);
        unrolled<2>([&](int h) { unrolled<4>([&](int j) { c[h][j] *= slope(f, values[h][j]); }); });
        add_halves(sums, c, m);
      });
    } else {
      unrolled<F::first>([&](int m) {
        float c[2][4];
        turn_block(c, v.first, m);
        add_halves(sums, c, m);
      });
    }
    add_sent(of_sent, sums);
  }
  __device__ __forceinline__ void add_halves(float (&sums)[2 * F::first], const float (&c)[2][4],
                                             int m) {
    unrolled<2>([&](int h) { unrolled<4>([&](int j) { of_received[m][h][j] += c[h][j]; }); });
    unrolled<2>([&](int q) {
      sums[2 * m + q] = (c[0][2 * q] + c[0][2 * q + 1]) + (c[1][2 * q] + c[1][2 * q + 1]);
    });
  }
  __device__ __forceinline__ void add_sent(float* of_sent, float (&v)[2 * F::first]) const {
    unrolled<2>([&](int halving) {
      const int h = F::first >> halving, mask = 2 >> halving;
      const bool upper = t & mask;
      unrolled<F::first>([&](int i) {
        if (i >= h) return;
        const float mine = upper ? v[i + h] : v[i], others = upper ? v[i] : v[i + h];
        v[i] = mine + from_lane_xor(others, mask);
      });
    });
    unrolled<F::first / 2>([&](int i) { of_sent[i * 32 + lane] += v[i]; });
  }
};
template <class F>
__device__ __forceinline__ int sent_column(int place) {
  const int lane = place % 32, t = lane & 3;
  return 8 * (F::first * (t >> 1) + F::first / 2 * (t & 1) + place / 32) + (lane >> 2);
}

/// What a block has in shared memory, in float32 numbers from its start. What has a size that is known
/// comes first, so that its addresses take no registers.
template <class F, bool backward>
struct Shared {
  static constexpr int weights = sizeof(Constants) / sizeof(float);
  static constexpr int biases = weights + F::weights * (backward ? 2 : 1);
  static constexpr int received = biases + F::biases;  ///< halves of 16 receivers
  static constexpr int given = received + tile_rows * F::sender_columns;  ///< slopes by their sums
  static constexpr int sent = given + (backward ? tile_rows * block_columns * F::last : 0);
  static constexpr int of_lane = 8 * (backward ? F::first : F::last);  ///< numbers of 16 receivers

  __host__ __device__ Shared(int particles, int warps)
      : of_sent(sent + particles * F::sender_columns),
        exchange(of_sent + (backward ? particles * F::sender_columns : 0)),
        present(exchange + exchanged(warps)),
        numbers(present + (particles + 3) / 4) {}
  static __host__ __device__ constexpr int exchanged(int warps) {
    const int receivers = warps * of_lane * 32, sums = backward ? F::sums * 32 : 0;
    return receivers > sums ? receivers : sums;
  }
  int of_sent;   ///< gradients of senders' halves
  int exchange;  ///< of warps
  int present, numbers;
};

__device__ void load_constants(Constants& to, const Pass& p, int lane) {
  const float even = lane / 4 == 2 * (lane % 4) ? 1.0f : 0.0f;
  const float odd = lane / 4 == 2 * (lane % 4) + 1 ? 1.0f : 0.0f;
  to.unit[0][lane] = make_float4(even, 0, odd, 0);
  to.unit[1][lane] = make_float4(0, even, 0, odd);
  if (lane == 0) to.plain = p.plain, to.of_factors = p.of_factors;
}

/// A dense layer's weights to shared memory, padded with zeros, and where they are.
/// backward: in the order of pull_back_turned for the second layer, of pull_back for the third
template <class F, int below, int above, bool backward>
__device__ Layer load_layer(const Pass& p, int layer, float* weights, float* bias) {
  constexpr int size = 256 * below * above;
  const int inputs = p.widths[layer - 1], outputs = p.widths[layer];
  const float* weight = p.weights + p.weight_at(layer);
  const auto at = [&](int output, int input, float factor) {
    if (output >= outputs || input >= inputs) return 0.0f;
    const float value = weight[output * inputs + input] * factor;
    return F::exact ? value : __uint_as_float(to_tf32(value));
  };
  for (int i = threadIdx.x; i < size; i += blockDim.x) {
    const int q = i % 4, lane = i / 4 % 32, step = i / 128, two = 2 * (lane % 4), g = lane / 4;
    const int n = step / below, s = step % below;
    weights[i] = at(8 * n + g, 16 * s + 8 * (q / 2) + two + q % 2, F::of_sums);
    if constexpr (backward) {
      const int m = step / (2 * above), k = step % (2 * above);
      const int output = layer == 1 ? q / 2 : q % 2, input = layer == 1 ? q % 2 : q / 2;
      weights[size + i] = at(8 * k + two + output, 16 * m + g + 8 * input, 1);
    }
  }
  for (int i = threadIdx.x; i < 2 * block_columns * above; i += blockDim.x) {
    const int output = i / 16 * 8 + i % 16 / 4 * 2 + i % 2;
    bias[i] = output < outputs ? p.weights[p.bias_at(layer) + output] * F::of_sums : 0.0f;
  }
  const auto* four = reinterpret_cast<const float4*>(weights);
  return {four, four + size / 4, reinterpret_cast<const float4*>(bias)};
}

/// A block with its event.
template <class F, bool backward>
struct Block {
  const Pass& p;
  float* shared;
  Shared<F, backward> at;
  int warps = int(blockDim.x / 32);
  int event = 0;

  __device__ __forceinline__ unsigned char* present() const {
    return reinterpret_cast<unsigned char*>(shared + at.present);
  }
  __device__ __forceinline__ const float* half(int particle, int which) const {
    return p.halves + ((int64_t{event} * p.particles + particle) * 2 + which) * p.widths[0];
  }
  __device__ __forceinline__ float* half_gradient(int particle, int which) const {
    return p.halves_gradient +
           ((int64_t{event} * p.particles + particle) * 2 + which) * p.widths[0];
  }
  /// Senders' halves, in the order in which a warp's lanes want them.
  __device__ void load_event() const {
    for (int i = threadIdx.x; i < p.particles * F::sender_columns; i += blockDim.x) {
      const int j = i / F::sender_columns, column = i % F::sender_columns;
      const int place = column % 8 / 2 * (4 * F::first) + column / 8 * 2 + column % 2;
      shared[at.sent + j * F::sender_columns + place] =
          column < p.widths[0] ? half(j, 1)[column] * F::of_sums : 0.0f;
      if constexpr (backward) shared[at.of_sent + i] = 0;
    }
    for (int j = threadIdx.x; j < p.particles; j += blockDim.x)
      present()[j] =
          p.present == nullptr || p.present[int64_t{event} * p.particles + j] != 0 ? 1 : 0;
  }
  __device__ __forceinline__ bool is_present(int particle) const {
    return particle < p.particles && present()[particle] != 0;
  }
  /// Rows of a tile. Those of absent particles become zeros, so that nothing of theirs counts.
  template <class Row>
  __device__ __forceinline__ void load_rows(float* to, int blocks, int base, int width,
                                            float factor, const Row& row_of) const {
    for (int i = threadIdx.x; i < tile_rows * block_columns * blocks; i += blockDim.x) {
      const int j = i % 4, lane = i / 4 % 32;
      const int row = base + lane / 4 + 8 * (j / 2), column = i / 128 * 8 + 2 * (lane % 4) + j % 2;
      to[i] = column < width && is_present(row) ? row_of(row)[column] * factor : 0.0f;
    }
  }
  __device__ void load_receivers(int base) const {
    load_rows(shared + at.received, F::first, base, p.widths[0], F::of_sums,
              [&](int row) { return half(row, 0); });
    if constexpr (backward)
      load_rows(shared + at.given, F::last, base, p.widths[F::layers - 1], 1, [&](int row) {
        return p.slopes + (int64_t{event} * p.particles + row) * p.widths[F::layers - 1];
      });
  }
  /// A warp's senders, each with 16 receivers.
  __device__ __forceinline__ void run_tile(Warp<F>& w, int base, int warp) const {
    float* mine = shared + at.exchange + warp * at.of_lane * 32 + w.lane;
    Tile<F::last> sum = {};
    unrolled<8 * F::first>([&](int i) { w.of_received[i / 8][i / 4 % 2][i % 4] = 0; });
    const int end = p.particles * (warp + 1) / warps;
    SAGIPS_CUDA_UNROLL(1)
    for (int j = p.particles * warp / warps; j < end; ++j) {
      if (present()[j] == 0) continue;
      keep_inside();
      Values<F> v;
      w.forward(v, shared + at.sent + j * F::sender_columns,
                backward ? w.constants->of_factors : w.constants->plain);
      if constexpr (backward) {
        w.backward(v, j - base, shared + at.of_sent + j * F::sender_columns);
      } else {
        w.drop_own(v.top(), j - base);
        unrolled<8 * F::last>([&](int i) { sum[i / 4][i % 4] += v.top()[i / 4][i % 4]; });
      }
    }
    if constexpr (backward)
      unrolled<8 * F::first>([&](int i) { mine[i * 32] = w.of_received[i / 8][i / 4 % 2][i % 4]; });
    else
      unrolled<8 * F::last>([&](int i) { mine[i * 32] = sum[i / 4][i % 4]; });
  }
  /// Adds what the warps found for 16 receivers, warp by warp.
  __device__ void store_tile(int base) const {
    const int width = p.widths[backward ? 0 : F::layers - 1];
    for (int i = threadIdx.x; i < at.of_lane * 32; i += blockDim.x) {
      const int v = i / 32, g = i % 32 / 4, t = i % 4, j = v % 4;
      const int row = base + (backward ? v / 4 % 2 * 8 + 2 * t + j % 2 : g + 8 * (j / 2));
      const int column = backward ? v / 8 * 16 + g + 8 * (j / 2) : v / 4 * 8 + 2 * t + j % 2;
      if (row >= p.particles || column >= width) continue;
      float sum = 0;
      for (int warp = 0; warp < warps; ++warp)
        sum += shared[at.exchange + warp * at.of_lane * 32 + i];
      if (present()[row] == 0) sum = 0;
      if constexpr (backward)
        half_gradient(row, 0)[column] = sum;
      else
        p.messages[(int64_t{event} * p.particles + row) * width + column] = sum;
    }
  }
  __device__ void store_senders() const {
    for (int i = threadIdx.x; i < p.particles * F::sender_columns; i += blockDim.x) {
      const int column = sent_column<F>(i % F::sender_columns);
      if (column < p.widths[0])
        half_gradient(i / F::sender_columns, 1)[column] = shared[at.of_sent + i];
    }
  }
  /// Adds the warps' sums of weight gradients, warp by warp.
  __device__ void store_sums(Warp<F>& w, int warp) const {
    float* to = shared + at.exchange;
    const auto put = [&](int i, float value) {
      float* place = to + i * 32 + w.lane;
      *place = warp == 0 ? value : *place + value;
    };
    const auto put_layer = [&](auto& sums, int from) {
      constexpr int groups = sizeof(sums.weight) / sizeof(sums.weight[0]);
      unrolled<4 * groups>([&](int i) { put(from + i, sums.weight[i / 4][i % 4]); });
      unrolled<2>([&](int q) {
        const float two = sums.bias[q] + from_lane_xor(sums.bias[q], 1);
        put(from + 4 * groups + q, two + from_lane_xor(two, 2));
      });
    };
    for (int turn = 0; turn < warps; ++turn) {
      if (turn == warp) {
        if constexpr (F::second > 0) put_layer(w.second_sums, 0);
        if constexpr (F::third > 0) put_layer(w.third_sums, F::second_sums);
      }
      __syncthreads();
    }
    float* out = p.sums + (int64_t{w.part} * gridDim.x + blockIdx.x) * (F::sums * 32);
    for (int i = threadIdx.x; i < F::sums * 32; i += blockDim.x) out[i] = to[i];
  }
};

template <class F, bool backward>
__global__ void __launch_bounds__(F::most_warps * 32, 1) passes(const __grid_constant__ Pass p) {
  SAGIPS_CUDA_SHARED(memory);
  auto* shared = reinterpret_cast<float*>(memory);
  const int warp = threadIdx.x / 32;
  Block<F, backward> block{p, shared, {p.particles, int(blockDim.x / 32)}};
  auto* constants = reinterpret_cast<Constants*>(shared);
  if (threadIdx.x < 32) load_constants(*constants, p, threadIdx.x);
  Layer second{}, third{};
  float *weights = shared + block.at.weights, *biases = shared + block.at.biases;
  constexpr int images = backward ? 2 : 1;
  if constexpr (F::second > 0)
    second = load_layer<F, F::first, F::second, backward>(p, 1, weights, biases);
  if constexpr (F::third > 0)
    third = load_layer<F, F::second, F::third, backward>(
        p, 2, weights + images * 256 * F::first * F::second,
        biases + 2 * block_columns * F::second);
  const int part = F::parts == 1 || !backward ? 0 : blockIdx.y;
  const int lane = threadIdx.x % 32;
  const auto* tiles = reinterpret_cast<const float4*>(shared) + lane;
  Warp<F> w{
      p,    second, third, constants, tiles + block.at.received / 4, tiles + block.at.given / 4,
      lane, part};
  for (block.event = blockIdx.x; block.event < p.events; block.event += gridDim.x) {
    block.load_event();
    __syncthreads();
    SAGIPS_CUDA_UNROLL(1)
    for (int base = 0; base < p.particles; base += tile_rows) {
      block.load_receivers(base);
      __syncthreads();
      block.run_tile(w, base, warp);
      __syncthreads();
      if (part == 0) block.store_tile(base);
    }
    if constexpr (backward)
      if (part == 0) block.store_senders();
    __syncthreads();
  }
  if constexpr (backward && F::sums > 0) {
    block.store_sums(w, warp);
  }
}

/// The place among all weights of one of the numbers that a block sums; -1: of none.
template <class F>
__device__ int place_of(const Pass& p, int number, int part) {
  const int lane = number % 32, g = lane / 4, t = lane % 4;
  const int layer = number / 32 < F::second_sums ? 1 : 2;
  const int v = number / 32 - (layer == 1 ? 0 : F::second_sums);
  const int weights = 8 * (layer == 1 ? F::first : F::second);
  const int inputs = p.widths[layer - 1], outputs = p.widths[layer];
  const bool is_bias = v >= weights;
  const int output = part * block_columns + g + 8 * (is_bias ? v - weights : v % 4 / 2);
  const int input = 8 * (v / 4) + 2 * t + v % 2;
  if (output >= outputs || (is_bias ? t != 0 : input >= inputs)) return -1;
  return is_bias ? p.bias_at(layer) + output : p.weight_at(layer) + output * inputs + input;
}

/// Adds the blocks' sums to the gradients, 32 numbers a block, in an order that does not change.
template <class F>
__global__ void add_parts(const __grid_constant__ Pass p, int blocks, float* gradients) {
  __shared__ float sums[adders][32];
  const int lane = threadIdx.x % 32, adder = threadIdx.x / 32, number = blockIdx.x * 32 + lane;
  const float* from = p.sums + int64_t{blockIdx.y} * blocks * (F::sums * 32) + number;
  float sum = 0;
  SAGIPS_CUDA_UNROLL(4)
  for (int k = adder; k < blocks; k += adders) sum += from[int64_t{k} * (F::sums * 32)];
  sums[adder][lane] = sum;
  __syncthreads();
  const int place = place_of<F>(p, number, blockIdx.y);
  if (adder != 0 || place < 0) return;
  for (int k = 1; k < adders; ++k) sum += sums[k][lane];
  gradients[place] += sum;
}

bool is_taken(const sagips_cuda_pairs& shape, int precision) {
  const auto within = [](int64_t value, int64_t most) { return value >= 1 && value <= most; };
  if (!within(shape.layers, 3) || !within(shape.particles, most_particles)) return false;
  if (shape.events < 0 || shape.events > int64_t{1} << 30) return false;
  for (int i = 0; i < shape.layers; ++i)
    if (!within(shape.widths[i], most_width)) return false;
  return (precision == SAGIPS_CUDA_FLOAT32 || precision == SAGIPS_CUDA_TF32) && shape.slope >= 0 &&
         shape.activation >= SAGIPS_CUDA_LEAKY_RELU && shape.activation <= SAGIPS_CUDA_SELU;
}

/// cut: of what becomes a factor
Activation activation_of(const sagips_cuda_pairs& shape, double cut) {
  // source: Klambauer et al., NIPS 2017, section 3
  constexpr double selu_scale = 1.0507009873554805, selu_alpha = 1.6732632423543772;
  const bool selu = shape.activation == SAGIPS_CUDA_SELU;
  const double above = (1 + cut) * (selu ? selu_scale : 1);
  const double below = (1 + cut) * (selu ? selu_scale * selu_alpha : double{shape.slope});
  const double of_sums = shape.activation == SAGIPS_CUDA_LEAKY_RELU ? 1.0 : double{log2_e};
  return {float(above / of_sums), float(above), float(below), 0};
}

Pass pass_of(const sagips_cuda_pairs& shape, int precision, const float* halves,
             const uint8_t* present, const float* weights) {
  Pass pass{};
  pass.events = int(shape.events), pass.particles = shape.particles;
  std::copy_n(shape.widths, shape.layers, pass.widths);
  pass.plain = activation_of(shape, 0);
  pass.of_factors = activation_of(shape, precision == SAGIPS_CUDA_FLOAT32 ? 0 : mean_cut);
  pass.halves = halves, pass.present = present, pass.weights = weights;
  return pass;
}

/// How a pass is spread over the GPU. warps 0: an event does not fit into shared memory.
template <class F, bool backward>
struct Plan {
  explicit Plan(const sagips_cuda_pairs& shape) {
    const auto bytes_of = [&](int count) {
      return size_t(Shared<F, backward>(shape.particles, count).numbers) * sizeof(float);
    };
    // Two blocks of 8 warps fill a multiprocessor better than one of 16, unless there are few events.
    const bool are_few = shape.events <= multiprocessors();
    const int most = are_few ? F::most_warps : 8, senders = are_few ? 6 : 12;
    warps = std::clamp((shape.particles + senders / 2) / senders, 1, most);
    while (warps > 0 && bytes_of(warps) > shared_limit()) --warps;
    if (warps == 0) return;
    bytes = bytes_of(warps);
    static const int answer = allow_shared(passes<F, backward>, shared_limit());
    refused = answer;
    const int64_t together = int64_t{multiprocessors()} *
                             std::max(1, blocks_together(passes<F, backward>, warps * 32, bytes));
    blocks = int(std::clamp<int64_t>(shape.events, 1, together));
  }
  int run(const Pass& pass, void* stream) const {
    if (warps == 0) return invalid_value;
    if (refused != 0) return refused;
    return launch(passes<F, backward>, dim3(blocks, backward ? F::parts : 1), warps * 32, bytes,
                  stream, pass);
  }
  int64_t sums() const { return int64_t{F::parts} * blocks * F::sums * 32; }
  int warps, blocks = 0, refused = 0;
  size_t bytes = 0;
};

/// Calls with the smallest form that holds the layers.
template <bool exact, bool smooth, class Call>
auto with_layers(const sagips_cuda_pairs& shape, const Call& call) {
  const auto fits = [&](int first, int second, int third) {
    const int most[] = {first * block_columns, second * block_columns, third * block_columns};
    for (int i = 0; i < shape.layers; ++i)
      if (shape.widths[i] > most[i]) return false;
    return true;
  };
  if (shape.layers == 1)
    return fits(2, 0, 0) ? call(Form<2, 0, 0, exact, smooth>())
                         : call(Form<4, 0, 0, exact, smooth>());
  if (shape.layers == 2)
    return fits(2, 2, 0) ? call(Form<2, 2, 0, exact, smooth>())
                         : call(Form<4, 4, 0, exact, smooth>());
  if (fits(2, 1, 1)) return call(Form<2, 1, 1, exact, smooth>());
  if (fits(4, 2, 1)) return call(Form<4, 2, 1, exact, smooth>());
  return call(Form<4, 4, 4, exact, smooth>());
}
template <class Call>
auto with_form(const sagips_cuda_pairs& shape, int precision, const Call& call) {
  const bool smooth = shape.activation != SAGIPS_CUDA_LEAKY_RELU;
  if (precision == SAGIPS_CUDA_FLOAT32)
    return smooth ? with_layers<true, true>(shape, call) : with_layers<true, false>(shape, call);
  return smooth ? with_layers<false, true>(shape, call) : with_layers<false, false>(shape, call);
}

}  // namespace
}  // namespace sagips::cuda::pairs

using namespace sagips::cuda;

int64_t sagips_cuda_pairs_work_bytes(sagips_cuda_pairs shape, int precision) {
  if (!pairs::is_taken(shape, precision)) return 0;
  return pairs::with_form(shape, precision, [&](auto form) -> int64_t {
    const pairs::Plan<decltype(form), true> plan(shape);
    return plan.warps == 0 ? 0 : std::max<int64_t>(plan.sums() * sizeof(float), 16);
  });
}

int sagips_cuda_pairs_forward(sagips_cuda_pairs shape, int precision, const float* halves,
                              const uint8_t* present, const float* weights, float* messages,
                              void* stream) {
  if (!pairs::is_taken(shape, precision)) return invalid_value;
  if (shape.events == 0) return 0;
  pairs::Pass pass = pairs::pass_of(shape, precision, halves, present, weights);
  pass.messages = messages;
  return pairs::with_form(shape, precision, [&](auto form) {
    return pairs::Plan<decltype(form), false>(shape).run(pass, stream);
  });
}

int sagips_cuda_pairs_backward(sagips_cuda_pairs shape, int precision, const float* halves,
                               const uint8_t* present, const float* weights, const float* slopes,
                               float* halves_gradient, float* weight_gradients, void* work,
                               void* stream) {
  if (!pairs::is_taken(shape, precision)) return invalid_value;
  if (shape.events == 0) return 0;
  pairs::Pass pass = pairs::pass_of(shape, precision, halves, present, weights);
  pass.slopes = slopes, pass.halves_gradient = halves_gradient;
  pass.sums = static_cast<float*>(work);
  return pairs::with_form(shape, precision, [&](auto form) {
    using F = decltype(form);
    const pairs::Plan<F, true> plan(shape);
    const int error = plan.run(pass, stream);
    if constexpr (F::sums > 0)
      if (error == 0)
        return launch(pairs::add_parts<F>, dim3(F::sums, F::parts), pairs::adders * 32, 0, stream,
                      pass, plan.blocks, weight_gradients);
    return error;
  });
}

#include "sagips/kernels/convolution_passes.hpp"

#include <algorithm>

#include "sagips/kernels/vectors.hpp"

namespace sagips::kernels {

namespace {

/// Vectors of one set of instructions, and how many of them are sums at a time: as many as its registers
/// hold beside what is multiplied.
template <std::size_t bytes, int most_channels, int registers>
struct Set {
  using Vector [[gnu::vector_size(bytes)]] = float;
  static constexpr int lanes = bytes / sizeof(float), channels = most_channels;
  static constexpr int vectors(int of_channels) {
    return of_channels == 1 ? 8 : registers / of_channels;
  }
  static constexpr int steps(int of_channels) { return std::min(4, registers / of_channels); }
};
using Wide = Set<64, 8, 24>;
using Middle = Set<32, 6, 12>;
using Narrow = Set<16, 4, 12>;

// calls body<n>() for 1 <= n <= most
template <int most, class Body>
[[gnu::always_inline]] inline void with_number(int n, const Body& body) {
  if constexpr (most > 0) {
    if (n == most) return body.template operator()<most>();
    with_number<most - 1>(n, body);
  }
}

/// A row of numbers and its place among zeros.
struct Row {
  const float* numbers;
  std::int64_t count, before;
};
// What tiles are cut from: row[t * outputs + r] for tiles t from `first` on, as arrays of r.
constexpr int most_tile = tile_points - 1;
template <class Of>
struct Phases {
  static constexpr int length = Of::lanes + tile_points;
  float values[most_tile][length];

  // as many tiles as there are; what is behind them is of no use
  template <int tile>
  [[gnu::always_inline]] inline void fill(const Row& row, std::int64_t first, std::int64_t tiles) {
    const std::int64_t count = std::min<std::int64_t>(tiles, Of::lanes) + most_tile / tile;
    std::int64_t z = first * tile - row.before;
    for (std::int64_t t = 0; t < count; ++t)
      for (int r = 0; r < tile; ++r, ++z)
        values[r][t] = z >= 0 && z < row.count ? row.numbers[z] : 0.0F;
  }
};

template <class Of, int tile, bool of_input>
[[gnu::always_inline]] inline void spread_tiles(const Rows& rows) {
  using Vector = typename Of::Vector;
  Phases<Of> phases{};
  for (std::int64_t y = 0; y < rows.count; ++y)
    for (std::int64_t t = 0; t < rows.layout.row; t += Of::lanes) {
      phases.template fill<tile>({rows.image + y * rows.length, rows.length, rows.before}, t,
                                 rows.layout.row - t);
      Vector cut[tile_points], at[tile_points];
#pragma GCC unroll 8
      for (int k = 0; k < (of_input ? tile_points : tile); ++k)
        cut[k] = load<Vector>(phases.values[k % tile] + k / tile);
      if constexpr (of_input)
        input_at_points(cut, at);
      else
        gradient_at_points<tile>(cut, at);
        // beyond the last tile the next row follows, which is written later
#pragma GCC unroll 8
      for (int f = 0; f < tile_points; ++f)
        store(rows.at + f * rows.far + y * rows.layout.row + t, at[f]);
    }
}
template <class Of, bool of_input>
[[gnu::always_inline]] inline void spread(const Rows& rows) {
  if (rows.layout.tile > 0)
    return with_number<most_tile>(
        rows.layout.tile, [&]<int n>() __attribute__((always_inline)) {
          spread_tiles<Of, n, of_input>(rows);
        });
  for (std::int64_t y = 0; y < rows.count; ++y) {
    float* to = std::fill_n(rows.at + y * rows.layout.row, rows.before, 0.0F);
    to = std::copy_n(rows.image + y * rows.length, rows.length, to);
    std::fill(to, rows.at + (y + 1) * rows.layout.row, 0.0F);
  }
}

// Rows lie one behind the other, so that short ones share a vector.
template <class Of, int tile>
[[gnu::always_inline]] inline void finish_tiles(const Finished& rows) {
  using Vector = typename Of::Vector;
  const float slope = rows.negative_slope;
  const std::int64_t tiles = rows.count * rows.layout.row;
  float* to = rows.image;
  std::int64_t left = rows.length;  // of a row
  for (std::int64_t first = 0; first < tiles; first += Of::lanes) {
    Vector at[tile_points], sums[tile];
#pragma GCC unroll 8
    for (int f = 0; f < tile_points; ++f) at[f] = load<Vector>(rows.at + f * rows.far + first);
    output_of_points<tile>(at, sums);
    float finished[tile][Of::lanes];
#pragma GCC unroll 8
    for (int k = 0; k < tile; ++k) {
      sums[k] += rows.bias;
      store<Vector>(finished[k], sums[k] > 0 ? sums[k] : sums[k] * slope);
    }
    const std::int64_t here = std::min<std::int64_t>(Of::lanes, tiles - first);
    for (std::int64_t i = 0; i < here; ++i) {
      if (left > tile) {
#pragma GCC unroll 8
        for (int k = 0; k < tile; ++k) to[k] = finished[k][i];
        to += tile;
        left -= tile;
      } else {
        for (std::int64_t k = 0; k < left; ++k) to[k] = finished[k][i];
        to += left;
        left = rows.length;
      }
    }
  }
}
template <class Vector>
[[gnu::always_inline]] inline void finish_one(const Finished& rows, const float* from, float* to) {
  const Vector sum = load<Vector>(from) + rows.bias;
  store<Vector>(to, sum > 0 ? sum : sum * rows.negative_slope);
}
template <class Of>
[[gnu::always_inline]] inline void finish(const Finished& rows) {
  using Vector = typename Of::Vector;
  if (rows.layout.tile > 0)
    return with_number<most_tile>(
        rows.layout.tile, [&]<int n>()
                              __attribute__((always_inline)) { finish_tiles<Of, n>(rows); });
  for (std::int64_t y = 0; y < rows.count; ++y) {
    const float* const from = rows.at + y * rows.layout.row;
    float* const to = rows.image + y * rows.length;
    std::int64_t z = 0;
    for (; z + Of::lanes <= rows.length; z += Of::lanes) finish_one<Vector>(rows, from + z, to + z);
    if (z == rows.length) continue;
    if (z > 0) {  // again some of the last ones
      finish_one<Vector>(rows, from + rows.length - Of::lanes, to + rows.length - Of::lanes);
    } else {
      float row[Of::lanes] = {};
      std::copy_n(from, rows.length, row);
      finish_one<Vector>(rows, row, row);
      std::copy_n(row, rows.length, to);
    }
  }
}

template <class Of, int channels>
[[gnu::always_inline]] inline void add_up(const Sums& sums) {
  using Vector = typename Of::Vector;
  constexpr int vectors = Of::vectors(channels);
  const Layout& layout = sums.layout;
  const auto [kx, ky, kz] = layout.taps;
  for (std::int64_t at = 0; at < layout.used; at += vectors * Of::lanes) {
    Vector sum[channels][vectors] = {};
    const float* weight = sums.weights;
    for (std::int64_t i = 0; i < sums.in_channels; ++i)
      for (std::int64_t x = 0; x < kx; ++x) {
        const float* const plane = sums.planes[static_cast<std::size_t>(x)];
        if (plane == nullptr) {
          weight += ky * kz * channels;
          continue;
        }
        for (std::int64_t y = 0; y < ky; ++y) {
          const float* from = plane + i * layout.plane + y * layout.row + at;
          for (std::int64_t z = 0; z < kz; ++z, weight += channels, from += layout.step) {
            Vector value[vectors];
            for (int v = 0; v < vectors; ++v) value[v] = load<Vector>(from + v * Of::lanes);
            for (int c = 0; c < channels; ++c)
              for (int v = 0; v < vectors; ++v) sum[c][v] += value[v] * weight[c];
          }
        }
      }
    for (int c = 0; c < channels; ++c)
      for (int v = 0; v < vectors; ++v)
        store(sums.output + c * sums.pitch + at + v * Of::lanes, sum[c][v]);
  }
}

template <class Of, int channels, int steps>
[[gnu::always_inline]] inline void add_slopes_of_taps(const Slopes& slopes, const float* input,
                                                      float* sums) {
  using Vector = typename Of::Vector;
  Vector sum[channels][steps];
  for (int c = 0; c < channels; ++c)
    for (int s = 0; s < steps; ++s) sum[c][s] = load<Vector>(sums + (c * steps + s) * Of::lanes);
  const std::int64_t step = slopes.layout.step, pitch = slopes.layout.pitch;
  for (std::int64_t p = 0; p < slopes.places; p += Of::lanes) {
    Vector value[steps];
    for (int s = 0; s < steps; ++s) value[s] = load<Vector>(input + p + s * step);
    for (int c = 0; c < channels; ++c) {
      const Vector one = load<Vector>(slopes.gradient + c * pitch + p);
      for (int s = 0; s < steps; ++s) sum[c][s] += value[s] * one;
    }
  }
  for (int c = 0; c < channels; ++c)
    for (int s = 0; s < steps; ++s) store(sums + (c * steps + s) * Of::lanes, sum[c][s]);
}

template <class Of, int channels>
[[gnu::always_inline]] inline void add_slopes(const Slopes& slopes) {
  constexpr int most = Of::steps(channels);
  const auto [kx, ky, kz] = slopes.layout.taps;
  float* sums = slopes.sums;
  for (std::int64_t x = 0; x < kx; ++x) {
    const float* const plane = slopes.planes[static_cast<std::size_t>(x)];
    if (plane == nullptr) {
      sums += ky * kz * channels * Of::lanes;
      continue;
    }
    for (std::int64_t y = 0; y < ky; ++y)
      for (std::int64_t z = 0; z < kz; z += most) {
        const int steps = static_cast<int>(std::min<std::int64_t>(most, kz - z));
        with_number<most>(
            steps, [&]<int n>() __attribute__((always_inline)) {
              add_slopes_of_taps<Of, channels, n>(
                  slopes, plane + y * slopes.layout.row + z * slopes.layout.step, sums);
            });
        sums += channels * steps * Of::lanes;
      }
  }
}

#define SAGIPS_INSTRUCTIONS(name, Of, ...)                                                     \
  __VA_ARGS__ void name##_spread_input(const Rows& rows) { spread<Of, true>(rows); }           \
  __VA_ARGS__ void name##_spread_gradient(const Rows& rows) { spread<Of, false>(rows); }       \
  __VA_ARGS__ void name##_add_up(const Sums& sums, int channels) {                             \
    with_number<Of::channels>(                                                                 \
        channels, [&]<int n>() __attribute__((always_inline)) { add_up<Of, n>(sums); });       \
  }                                                                                            \
  __VA_ARGS__ void name##_add_slopes(const Slopes& slopes, int channels) {                     \
    with_number<Of::channels>(                                                                 \
        channels, [&]<int n>() __attribute__((always_inline)) { add_slopes<Of, n>(slopes); }); \
  }                                                                                            \
  __VA_ARGS__ void name##_finish(const Finished& rows) { finish<Of>(rows); }                   \
  constexpr ConvolutionInstructions name##_instructions{                                       \
      Of::lanes,           Of::channels,           [](int channels) { return Of::steps(channels); },                       \
      name##_spread_input, name##_spread_gradient, name##_add_up,                              \
      name##_add_slopes,   name##_finish};
#if defined(__x86_64__)
SAGIPS_INSTRUCTIONS(wide, Wide, __attribute__((target("avx512f,fma"))))
SAGIPS_INSTRUCTIONS(middle, Middle, __attribute__((target("avx2,fma"))))
#endif
SAGIPS_INSTRUCTIONS(narrow, Narrow)
#undef SAGIPS_INSTRUCTIONS

// The widest first.
std::vector<NamedInstructions> sets_here() {
  std::vector<NamedInstructions> all;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) all.push_back({"avx512f", &wide_instructions});
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    all.push_back({"avx2", &middle_instructions});
#endif
  all.push_back({"plain", &narrow_instructions});
  return all;
}

}  // namespace

const std::vector<NamedInstructions>& instructions_here() {
  static const std::vector<NamedInstructions> all = sets_here();
  return all;
}

}  // namespace sagips::kernels

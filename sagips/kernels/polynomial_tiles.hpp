#pragma once
#include <array>
#include <cstdint>

namespace sagips::kernels {

/// Rows by polynomials: a row of the input is cut into tiles of 8 numbers that overlap, each of which gives
/// 9 - k numbers of the output of k taps. What polynomials of the tile and of the taps are at 7 places and at
/// infinity is multiplied: 8 products in place of k (9 - k). Of the places 0, +-1, +-2, +-1/2 sums lose a
/// factor of two in precision to those of products one by one.
/// source: Toom, Soviet Math. Dokl. 3 (1963) 714; Winograd, Arithmetic complexity of computations (1980)
inline constexpr int tile_points = 8;
inline constexpr std::array<double, tile_points - 1> tile_places{0, 1, -1, 2, -2, 0.5, -0.5};

/// The coefficients of the product of x - place over the first places, without that of this number where it is
/// one.
constexpr std::array<double, tile_points> product_without(int left_out,
                                                          int count = tile_points - 1) {
  std::array<double, tile_points> product{1};
  for (int p = 0; p < count; ++p) {
    if (p == left_out) continue;
    for (int k = tile_points - 1; k >= 0; --k)
      product[k] = (k > 0 ? product[k - 1] : 0) - tile_places[p] * product[k];
  }
  return product;
}
constexpr double power(double of, int exponent) {
  double result = 1;
  for (int i = 0; i < exponent; ++i) result *= of;
  return result;
}
constexpr double value_at(const std::array<double, tile_points>& polynomial, double place) {
  double sum = 0;
  for (int k = 0; k < tile_points; ++k) sum += polynomial[k] * power(place, k);
  return sum;
}

/// What taps of a kernel with so many of them, fewer than points, add at each point. shape: [points][taps]
using AtPoints = std::array<std::array<double, tile_points>, tile_points>;
inline AtPoints taps_at_points(std::int64_t taps) {
  AtPoints all{};
  for (int p = 0; p < tile_points - 1; ++p) {
    const double scale = value_at(product_without(p), tile_places[p]);
    for (int tap = 0; tap < taps; ++tap) all[p][tap] = power(tile_places[p], tap) / scale;
  }
  all[tile_points - 1][taps - 1] = 1;
  return all;
}

/// Tiles at all points. Each place but 0 has its opposite behind it: even and odd powers are shared.
template <class Vector>
[[gnu::always_inline]] inline void input_at_points(const Vector* tile, Vector* at) {
  constexpr auto at_zero = product_without(0), at_infinity = product_without(-1);
  at[0] = at[tile_points - 1] = Vector{};
#pragma GCC unroll 8
  for (int k = 0; k < tile_points; ++k) {
    if (at_zero[k] != 0) at[0] += static_cast<float>(at_zero[k]) * tile[k];
    if (at_infinity[k] != 0) at[tile_points - 1] += static_cast<float>(at_infinity[k]) * tile[k];
  }
#pragma GCC unroll 8
  for (int p = 1; p < tile_points - 1; p += 2) {
    const auto factors = product_without(p);
    Vector even{}, odd{};
#pragma GCC unroll 8
    for (int k = 0; k < tile_points - 1; ++k)
      (k % 2 == 0 ? even : odd) += static_cast<float>(factors[k]) * tile[k];
    at[p] = even + odd;
    at[p + 1] = even - odd;
  }
}
/// Numbers of a tile of the output as factors of powers, at all points.
template <int outputs, class Vector>
[[gnu::always_inline]] inline void gradient_at_points(const Vector* tile, Vector* at) {
  at[0] = tile[0];
  at[tile_points - 1] = tile[outputs - 1];
#pragma GCC unroll 8
  for (int p = 1; p < tile_points - 1; p += 2) {
    Vector even{}, odd{};
#pragma GCC unroll 8
    for (int k = 0; k < outputs; ++k)
      (k % 2 == 0 ? even : odd) += static_cast<float>(power(tile_places[p], k)) * tile[k];
    at[p] = even + odd;
    at[p + 1] = even - odd;
  }
}
template <int outputs, class Vector>
[[gnu::always_inline]] inline void output_of_points(const Vector* at, Vector* tile) {
#pragma GCC unroll 8
  for (int k = 0; k < outputs; ++k) {
    tile[k] = k == 0 ? at[0] : Vector{};
#pragma GCC unroll 8
    for (int p = 1; p < tile_points - 1; p += 2)
      tile[k] += static_cast<float>(power(tile_places[p], k)) *
                 (k % 2 == 0 ? at[p] + at[p + 1] : at[p] - at[p + 1]);
  }
  tile[outputs - 1] += at[tile_points - 1];
}

}  // namespace sagips::kernels

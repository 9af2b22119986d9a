#pragma once
#include <array>
#include <cstdint>

namespace sagips::kernels {

/// Arrays [outer, x, y, z, inner] of which the three dimensions in the middle are cut into boxes; what is left
/// over at their ends belongs to none.
struct Boxes {
  std::array<std::int64_t, 3> lengths{1, 1, 1}, box{1, 1, 1};
  std::int64_t inner = 1;

  std::int64_t count(std::size_t i) const { return lengths[i] / box[i]; }
  std::int64_t numbers() const { return lengths[0] * lengths[1] * lengths[2] * inner; }
  std::int64_t all() const { return count(0) * count(1) * count(2) * inner; }
};

/// The largest number of each box of one outer place, NaN where there is one.
/// shape: from [x, y, z, inner] -> to [boxes in x, in y, in z, inner]
void largest_of_boxes(const Boxes& boxes, const float* from, float* to);
/// Gives each box's gradient to the first of its numbers that is the largest, or to the last that is NaN, and
/// zeros to the others, as LibTorch does.
/// shape: from, to [x, y, z, inner]; largest, gradient [boxes in x, in y, in z, inner]
void give_to_largest(const Boxes& boxes, const float* from, const float* largest,
                     const float* gradient, float* to);

}  // namespace sagips::kernels

#include "sagips/kernels/boxes.hpp"

#include <algorithm>
#include <vector>

#include "sagips/core/vector_widths.hpp"

namespace sagips::kernels {

namespace {

/// Numbers of a row of boxes: step * k + inner number i is a box's first one.
struct RowOfBoxes {
  std::int64_t count, step, inner;
};

// body(place in the row of boxes, place in the row of numbers)
template <class Body>
[[gnu::always_inline]] inline void each(const RowOfBoxes& row, const Body& body) {
  if (row.inner == 1 && row.step == 2) {  // a number that is known, so that lanes are taken apart
    for (std::int64_t k = 0; k < row.count; ++k) body(k, 2 * k);
    return;
  }
  if (row.inner == 1) {
    for (std::int64_t k = 0; k < row.count; ++k) body(k, row.step * k);
    return;
  }
  for (std::int64_t k = 0; k < row.count; ++k)
    for (std::int64_t i = 0; i < row.inner; ++i) body(k * row.inner + i, k * row.step + i);
}

SAGIPS_VECTOR_WIDTHS void take_larger(const RowOfBoxes& row, const float* __restrict from,
                                      float* __restrict to) {
  each(row, [&](std::int64_t box, std::int64_t number) {
    const float value = from[number], known = to[box];
    to[box] = value > known || value != value ? value : known;
  });
}
SAGIPS_VECTOR_WIDTHS void take_first(const RowOfBoxes& row, const float* __restrict from,
                                     float* __restrict to) {
  each(row, [&](std::int64_t box, std::int64_t number) { to[box] = from[number]; });
}
SAGIPS_VECTOR_WIDTHS void give(const RowOfBoxes& row, const float* __restrict from,
                               const float* __restrict largest, float* __restrict left,
                               float* __restrict to) {
  each(row, [&](std::int64_t box, std::int64_t number) {
    const float own = left[box];
    const bool is_largest = from[number] == largest[box];
    to[number] = is_largest ? own : 0.0F;
    left[box] = is_largest ? 0.0F : own;
  });
}

// body(first number of a row of the first box's numbers, place of the row of boxes, place in the box)
template <class Body>
void each_row(const Boxes& boxes, const Body& body) {
  const auto [nx, ny, nz] = boxes.lengths;
  const auto [bx, by, bz] = boxes.box;
  const std::int64_t row = boxes.count(2) * boxes.inner;
  for (std::int64_t x = 0; x < boxes.count(0); ++x)
    for (std::int64_t y = 0; y < boxes.count(1); ++y)
      for (std::int64_t part = 0; part < bx * by * bz; ++part) {
        const std::int64_t c = part % bz, b = part / bz % by, a = part / (bz * by);
        body((((x * bx + a) * ny + y * by + b) * nz + c) * boxes.inner,
             (x * boxes.count(1) + y) * row, part);
      }
}

}  // namespace

void largest_of_boxes(const Boxes& boxes, const float* from, float* to) {
  const RowOfBoxes row{boxes.count(2), boxes.box[2] * boxes.inner, boxes.inner};
  each_row(boxes, [&](std::int64_t number, std::int64_t box, std::int64_t part) {
    (part == 0 ? take_first : take_larger)(row, from + number, to + box);
  });
}

void give_to_largest(const Boxes& boxes, const float* from, const float* largest,
                     const float* gradient, float* to) {
  const RowOfBoxes row{boxes.count(2), boxes.box[2] * boxes.inner, boxes.inner};
  std::vector<float> left(static_cast<std::size_t>(row.count * row.inner));
  bool covers = true;  // all numbers are in boxes
  for (std::size_t i = 0; i < 3; ++i)
    covers = covers && boxes.count(i) * boxes.box[i] == boxes.lengths[i];
  if (!covers) std::fill_n(to, boxes.numbers(), 0.0F);
  each_row(boxes, [&](std::int64_t number, std::int64_t box, std::int64_t part) {
    if (part == 0) std::copy_n(gradient + box, left.size(), left.begin());
    give(row, from + number, largest + box, left.data(), to + number);
  });
}

}  // namespace sagips::kernels

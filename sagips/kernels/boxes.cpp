#include "sagips/kernels/boxes.hpp"

#include <algorithm>
#include <vector>

#include "sagips/core/vector_widths.hpp"
#include "sagips/kernels/vectors.hpp"

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

// Boxes of 2 x 2 neighbours, the usual ones, four at a time: two rows are read once, in place of four times.
using Four [[gnu::vector_size(16)]] = float;
/// The numbers of four boxes, by their places in these.
struct FourBoxes {
  Four numbers[4];
  [[gnu::always_inline]] FourBoxes(const float* upper, const float* lower) {
    for (std::ptrdiff_t row = 0; row < 2; ++row) {
      const float* const from = row == 0 ? upper : lower;
      const Four a = load<Four>(from), b = load<Four>(from + 4);
      numbers[2 * row] = __builtin_shufflevector(a, b, 0, 2, 4, 6);
      numbers[2 * row + 1] = __builtin_shufflevector(a, b, 1, 3, 5, 7);
    }
  }
};
bool are_pairs(const Boxes& boxes) {
  return boxes.inner == 1 && boxes.box[1] == 2 && boxes.box[2] == 2 && boxes.box[0] == 1 &&
         boxes.count(2) >= 4;
}
// body(places of a first number in its plane's upper row, of its box): the last four boxes may come twice
template <class Body>
void each_four(const Boxes& boxes, const Body& body) {
  const std::int64_t count = boxes.count(2), length = boxes.lengths[2];
  for (std::int64_t x = 0; x < boxes.lengths[0]; ++x)
    for (std::int64_t y = 0; y < boxes.count(1); ++y)
      for (std::int64_t k = 0; k < count; k += 4) {
        const std::int64_t first = std::min(k, count - 4);
        body((x * boxes.lengths[1] + 2 * y) * length + 2 * first,
             (x * boxes.count(1) + y) * count + first);
      }
}
void largest_of_pairs(const Boxes& boxes, const float* from, float* to) {
  each_four(boxes, [&](std::int64_t number, std::int64_t box) {
    const FourBoxes four(from + number, from + number + boxes.lengths[2]);
    Four largest = four.numbers[0];
    for (int i = 1; i < 4; ++i) {
      const Four value = four.numbers[i];
      largest = ((value > largest) | (value != value)) ? value : largest;
    }
    store(to + box, largest);
  });
}
void give_to_pairs(const Boxes& boxes, const float* from, const float* largest,
                   const float* gradient, float* to) {
  each_four(boxes, [&](std::int64_t number, std::int64_t box) {
    const FourBoxes four(from + number, from + number + boxes.lengths[2]);
    const Four known = load<Four>(largest + box);
    Four left = load<Four>(gradient + box), given[4];
    for (int i = 0; i < 4; ++i) {
      const auto is_largest = four.numbers[i] == known;
      given[i] = is_largest ? left : Four{};
      left = is_largest ? Four{} : left;
    }
    for (std::ptrdiff_t row = 0; row < 2; ++row) {
      float* const at = to + number + row * boxes.lengths[2];
      const Four even = given[2 * row], odd = given[2 * row + 1];
      store<Four>(at, __builtin_shufflevector(even, odd, 0, 4, 1, 5));
      store<Four>(at + 4, __builtin_shufflevector(even, odd, 2, 6, 3, 7));
    }
  });
}

bool is_nan(float value) { return value != value; }

// No number equals the largest one where that is NaN: those boxes have given nothing yet.
void give_to_nan(const Boxes& boxes, const float* from, const float* largest, const float* gradient,
                 float* to) {
  if (std::none_of(largest, largest + boxes.all(), is_nan)) return;
  std::vector<std::int64_t> last(static_cast<std::size_t>(boxes.all()), -1);
  const RowOfBoxes row{boxes.count(2), boxes.box[2] * boxes.inner, boxes.inner};
  each_row(boxes, [&](std::int64_t numbers, std::int64_t row_of_boxes, std::int64_t) {
    each(row, [&](std::int64_t box, std::int64_t number) {
      if (is_nan(from[numbers + number]))
        last[static_cast<std::size_t>(row_of_boxes + box)] = numbers + number;
    });
  });
  for (std::size_t box = 0; box < last.size(); ++box)
    if (last[box] >= 0) to[last[box]] = gradient[box];
}

}  // namespace

void largest_of_boxes(const Boxes& boxes, const float* from, float* to) {
  if (are_pairs(boxes)) return largest_of_pairs(boxes, from, to);
  const RowOfBoxes row{boxes.count(2), boxes.box[2] * boxes.inner, boxes.inner};
  each_row(boxes, [&](std::int64_t number, std::int64_t box, std::int64_t part) {
    (part == 0 ? take_first : take_larger)(row, from + number, to + box);
  });
}

void give_to_largest(const Boxes& boxes, const float* from, const float* largest,
                     const float* gradient, float* to) {
  bool covers = true;  // all numbers are in boxes
  for (std::size_t i = 0; i < 3; ++i)
    covers = covers && boxes.count(i) * boxes.box[i] == boxes.lengths[i];
  if (!covers) std::fill_n(to, boxes.numbers(), 0.0F);
  if (are_pairs(boxes)) {
    give_to_pairs(boxes, from, largest, gradient, to);
  } else {
    const RowOfBoxes row{boxes.count(2), boxes.box[2] * boxes.inner, boxes.inner};
    std::vector<float> left(static_cast<std::size_t>(row.count * row.inner));
    each_row(boxes, [&](std::int64_t number, std::int64_t box, std::int64_t part) {
      if (part == 0) std::copy_n(gradient + box, left.size(), left.begin());
      give(row, from + number, largest + box, left.data(), to + number);
    });
  }
  give_to_nan(boxes, from, largest, gradient, to);
}

}  // namespace sagips::kernels

#pragma once
#include <cstdint>
#include <vector>

namespace sagips::testing {

/// The shape of a product [rows, depth] x [depth, columns].
struct Shape {
  std::int64_t rows, depth, columns;
};

/// The shapes that networks need, and odd ones.
inline const std::vector<Shape> product_shapes = {
    {1, 1, 1}, {32, 2, 128}, {32, 128, 128}, {3, 5, 7}, {32, 64, 1}, {7, 128, 33}, {1, 300, 17}};

}  // namespace sagips::testing

#include <cstddef>

#include "sagips/core/vector_widths.hpp"
#include "sagips/kernels/products_found.hpp"

namespace sagips::kernels {

namespace {

SAGIPS_VECTOR_WIDTHS void multiply_rows(const float* a, const float* b, float* c, std::size_t rows,
                                        std::size_t depth, std::size_t columns) {
  for (std::size_t row = 0; row < rows; ++row) {
    float* __restrict sum = c + row * columns;
    for (std::size_t j = 0; j < columns; ++j) sum[j] = 0;
    for (std::size_t k = 0; k < depth; ++k) {
      const float factor = a[row * depth + k];
      const float* __restrict from = b + k * columns;
      for (std::size_t j = 0; j < columns; ++j) sum[j] += factor * from[j];
    }
  }
}

SAGIPS_VECTOR_WIDTHS void accumulate_rows(const float* a, const float* b, float* c,
                                          std::size_t depth, std::size_t rows,
                                          std::size_t columns) {
  for (std::size_t k = 0; k < depth; ++k) {
    const float* __restrict from = b + k * columns;
    for (std::size_t row = 0; row < rows; ++row) {
      const float factor = a[k * rows + row];
      float* __restrict sum = c + row * columns;
      for (std::size_t j = 0; j < columns; ++j) sum[j] += factor * from[j];
    }
  }
}

/// Loops as anybody would write them: for machines where no library was found, and what the
/// libraries are compared with.
class Plain final : public Products {
 public:
  std::string name() const override { return "plain"; }
  Kernel multiply(std::int64_t rows, std::int64_t depth, std::int64_t columns) const override {
    return [=](const float* a, const float* b, float* c) {
      multiply_rows(a, b, c, static_cast<std::size_t>(rows), static_cast<std::size_t>(depth),
                    static_cast<std::size_t>(columns));
    };
  }
  Kernel accumulate(std::int64_t depth, std::int64_t rows, std::int64_t columns) const override {
    return [=](const float* a, const float* b, float* c) {
      accumulate_rows(a, b, c, static_cast<std::size_t>(depth), static_cast<std::size_t>(rows),
                      static_cast<std::size_t>(columns));
    };
  }
};

}  // namespace

std::shared_ptr<const Products> plain_products() { return std::make_shared<Plain>(); }

}  // namespace sagips::kernels

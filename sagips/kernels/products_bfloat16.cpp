#include "sagips/kernels/bfloat16.hpp"

#include <string>
#include <utility>

#include "sagips/kernels/aligned.hpp"
#include "sagips/kernels/products_found.hpp"

namespace sagips::kernels {

#ifdef SAGIPS_BFLOAT16
namespace {

using namespace bfloat16;

/// Instructions of the processor on packed tiles. On a Xeon (Emerald Rapids), [32 x 128] x [128 x 128]
/// runs at 1.8 TFLOP/s from packed operands in the cache (float32: 0.18); MKL's bfloat16 packs again
/// at each call: 1.1 times float32 for 32 rows. The vectors without tiles reach half of float32 there;
/// they are for AMD's processors, on which they were not measured.
class Bfloat16 final : public Products {
 public:
  using Multiply = void (*)(const Packed& product);
  Bfloat16(std::string name, Multiply run) : name_(std::move(name)), multiply_(run) {}

  std::string name() const override { return name_; }

  Kernel multiply(std::int64_t rows, std::int64_t depth, std::int64_t columns) const override {
    return rounding_both(rows, depth, columns, false);
  }
  Kernel accumulate(std::int64_t depth, std::int64_t rows, std::int64_t columns) const override {
    return rounding_both(rows, depth, columns, true);
  }
  std::int64_t packed_floats(std::int64_t depth, std::int64_t columns) const override {
    return packed_size(columns, depth);
  }
  void pack(std::int64_t depth, std::int64_t columns, const float* b,
            float* packed) const override {
    pack_columns({b, columns, depth, columns}, packed);
  }
  Kernel multiply_packed(std::int64_t rows, std::int64_t depth,
                         std::int64_t columns) const override {
    return [=, run = multiply_](const float* a, const float* packed, float* c) {
      const PackedOperands memory(rows, depth, 0);
      pack_rows({a, depth, rows, depth}, memory.a);
      run({memory.a, packed, c, rows, depth, columns, false});
    };
  }

 private:
  /// The thread's memory for packed operands.
  struct PackedOperands {
    PackedOperands(std::int64_t rows, std::int64_t depth, std::int64_t columns) {
      thread_local AlignedFloats memory;
      const std::int64_t of_a = packed_size(rows, depth), of_b = packed_size(columns, depth);
      memory.grow(static_cast<std::size_t>(of_a + of_b));
      a = memory.data();
      b = a + of_a;
    }
    float *a, *b;
  };

  /// c = a b, or c += a^T b of a transposed one.
  Kernel rounding_both(std::int64_t rows, std::int64_t depth, std::int64_t columns,
                       bool transposed) const {
    return [=, run = multiply_](const float* a, const float* b, float* c) {
      const PackedOperands memory(rows, depth, columns);
      if (transposed)
        pack_transposed({a, rows, depth, rows}, memory.a);
      else
        pack_rows({a, depth, rows, depth}, memory.a);
      pack_columns({b, columns, depth, columns}, memory.b);
      run({memory.a, memory.b, c, rows, depth, columns, transposed});
    };
  }

  std::string name_;
  Multiply multiply_;
};

}  // namespace

std::shared_ptr<const Products> amx_bfloat16_products() {
  if (!has_vectors() || !has_tiles()) return nullptr;
  return std::make_shared<Bfloat16>("amx_bfloat16", multiply_tiles);
}
std::shared_ptr<const Products> avx512_bfloat16_products() {
  if (!has_vectors()) return nullptr;
  return std::make_shared<Bfloat16>("avx512_bfloat16", multiply_vectors);
}
#else
std::shared_ptr<const Products> amx_bfloat16_products() { return nullptr; }
std::shared_ptr<const Products> avx512_bfloat16_products() { return nullptr; }
#endif

std::shared_ptr<const Products> bfloat16_products() {
  auto found = amx_bfloat16_products();
  return found ? found : avx512_bfloat16_products();
}

}  // namespace sagips::kernels

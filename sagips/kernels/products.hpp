#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace sagips::kernels {

/// Small float32 matrix products of fixed shapes, on one thread. All matrices are row-major without
/// gaps between rows.
class Products {
 public:
  /// A product whose shape is settled; safe to call from several threads.
  using Kernel = std::function<void(const float* a, const float* b, float* c)>;

  virtual ~Products() = default;
  virtual std::string name() const = 0;
  /// c = a b.
  /// shape: a [rows, depth], b [depth, columns], c [rows, columns]
  virtual Kernel multiply(std::int64_t rows, std::int64_t depth, std::int64_t columns) const = 0;
  /// c += a^T b.
  /// shape: a [depth, rows], b [depth, columns], c [rows, columns]
  virtual Kernel accumulate(std::int64_t depth, std::int64_t rows, std::int64_t columns) const = 0;

  /// A b that many products share may be packed once: `multiply_packed` is `multiply` with the packed
  /// b. Worth it in bfloat16, where rounding b costs more than a product of 32 rows; others copy.
  /// shape: b [depth, columns], packed [packed_floats]
  virtual void pack(std::int64_t depth, std::int64_t columns, const float* b, float* packed) const {
    std::copy_n(b, depth * columns, packed);
  }
  virtual std::int64_t packed_floats(std::int64_t depth, std::int64_t columns) const {
    return depth * columns;
  }
  virtual Kernel multiply_packed(std::int64_t rows, std::int64_t depth,
                                 std::int64_t columns) const {
    return multiply(rows, depth, columns);
  }
};

/// Names that `products` understands and that work here: "libxsmm" and "mkl" where they were found
/// when SAGIPS was built and the processor suits them, "plain" always. The best comes first: libxsmm
/// reaches the rate of the machine on processors of both makers, MKL only on Intel's
/// (docs/step_engine.md has the figures).
std::vector<std::string> available_products();

/// throws: ConfigError naming `key` for a library that is not there
std::shared_ptr<const Products> products(const std::string& name, const std::string& key = "");

/// Products whose factors are rounded to bfloat16 (8 bits of mantissa, ties to even, numbers below
/// 2^-126 to 0) and whose sums are float32. Not among the available ones: those agree with each
/// other to float32 rounding, these do not.
///
/// throws: ConfigError naming `key` where the processor has no such instructions
std::shared_ptr<const Products> products_in_bfloat16(const std::string& key);

}  // namespace sagips::kernels

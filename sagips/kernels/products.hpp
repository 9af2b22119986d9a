#pragma once
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
};

/// Names that `products` understands and that work here: "libxsmm" and "mkl" where they were found
/// when SAGIPS was built and the processor suits them, "plain" always. The best comes first: libxsmm
/// reaches the rate of the machine on processors of both makers, MKL only on Intel's
/// (docs/step_engine.md has the figures).
std::vector<std::string> available_products();

/// throws: ConfigError naming `key` for a library that is not there
std::shared_ptr<const Products> products(const std::string& name, const std::string& key = "");

}  // namespace sagips::kernels

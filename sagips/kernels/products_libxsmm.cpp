#include "sagips/kernels/products_found.hpp"

#ifdef SAGIPS_LIBXSMM
#include <libxsmm.h>

#include <cstring>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#endif

namespace sagips::kernels {

#ifdef SAGIPS_LIBXSMM
namespace {

/// Code for each shape, generated when it is asked for.
///
/// libxsmm thinks in columns: a row-major matrix is its transposed one. c = a b becomes
/// c^T = b^T a^T, so that the columns of c lie along the vector.
class Libxsmm final : public Products {
 public:
  std::string name() const override { return "libxsmm"; }

  Kernel multiply(std::int64_t rows, std::int64_t depth, std::int64_t columns) const override {
    return kernel(columns, rows, depth, depth, LIBXSMM_GEMM_FLAG_BETA_0, 0);
  }
  Kernel accumulate(std::int64_t depth, std::int64_t rows, std::int64_t columns) const override {
    return kernel(columns, rows, depth, rows, LIBXSMM_GEMM_FLAG_TRANS_B, 1);
  }

 private:
  static Kernel kernel(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t stride_of_a,
                       int flags, float beta) {
    const auto columns = static_cast<libxsmm_blasint>(m), stride = static_cast<int>(stride_of_a);
    const float alpha = 1;
    const libxsmm_smmfunction code = libxsmm_smmdispatch(
        columns, static_cast<libxsmm_blasint>(n), static_cast<libxsmm_blasint>(k), &columns,
        &stride, &columns, &alpha, &beta, &flags, nullptr);
    if (!code)
      throw core::Error(core::text("libxsmm generates no product of shape ", n, " x ", k, " x ", m,
                                   ". Choose other products (dense.library)."));
    return [code](const float* a, const float* b, float* c) { code(b, a, c); };
  }
};

}  // namespace

// Below AVX2 its code is no faster than plain loops; a system that forbids generated code gets none.
std::shared_ptr<const Products> libxsmm_products() {
  libxsmm_init();
  if (libxsmm_get_target_archid() < LIBXSMM_X86_AVX2) return nullptr;
  auto found = std::make_shared<Libxsmm>();
  try {
    found->multiply(8, 8, 8);
  } catch (const core::Error&) {
    return nullptr;
  }
  return found;
}
#else
std::shared_ptr<const Products> libxsmm_products() { return nullptr; }
#endif

}  // namespace sagips::kernels

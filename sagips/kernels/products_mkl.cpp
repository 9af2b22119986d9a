#include "sagips/kernels/products_found.hpp"

#ifdef SAGIPS_WHEEL_MKL
// The MKL inside LibTorch's wheel comes without headers; a probe at configure time found these.
extern "C" {
void sgemm_(const char* transpose_a, const char* transpose_b, const int* m, const int* n,
            const int* k, const float* alpha, const float* a, const int* stride_a, const float* b,
            const int* stride_b, const float* beta, float* c, const int* stride_c);
int MKL_Set_Num_Threads_Local(int threads);
}
#endif

namespace sagips::kernels {

#ifdef SAGIPS_WHEEL_MKL
namespace {

/// The BLAS of LibTorch's wheel. In columns, as Fortran thinks: c^T = b^T a^T.
class Mkl final : public Products {
 public:
  std::string name() const override { return "mkl"; }

  Kernel multiply(std::int64_t rows, std::int64_t depth, std::int64_t columns) const override {
    return kernel("N", columns, rows, depth, depth, 0);
  }
  Kernel accumulate(std::int64_t depth, std::int64_t rows, std::int64_t columns) const override {
    return kernel("T", columns, rows, depth, rows, 1);
  }

 private:
  static Kernel kernel(const char* transpose, std::int64_t m, std::int64_t n, std::int64_t k,
                       std::int64_t stride_of_a, float beta) {
    return [=, columns = static_cast<int>(m), rows = static_cast<int>(n),
            depth = static_cast<int>(k),
            stride = static_cast<int>(stride_of_a)](const float* a, const float* b, float* c) {
      const float one = 1;
      const int before = MKL_Set_Num_Threads_Local(1);  // threads take tiles, not parts of products
      sgemm_("N", transpose, &columns, &rows, &depth, &one, b, &columns, a, &stride, &beta, c,
             &columns);
      MKL_Set_Num_Threads_Local(before);
    };
  }
};

}  // namespace

std::shared_ptr<const Products> mkl_products() { return std::make_shared<Mkl>(); }
#else
std::shared_ptr<const Products> mkl_products() { return nullptr; }
#endif

}  // namespace sagips::kernels

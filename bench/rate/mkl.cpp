#include "bench/rate/rate.hpp"

// The MKL inside LibTorch's wheel: exported, but without headers.
extern "C" {
void sgemm_(const char* transpose_a, const char* transpose_b, const int* m, const int* n,
            const int* k, const float* alpha, const float* a, const int* lda, const float* b,
            const int* ldb, const float* beta, float* c, const int* ldc);
int MKL_Set_Num_Threads_Local(int threads);
}

namespace {

using namespace sagips::bench;

// Fortran thinks in columns: c^T = b^T a^T
void multiply(bool transposed, int m, int n, int k, const float* a, const float* b, float beta,
              float* c) {
  const char plain = 'N', order_of_a = transposed ? 'T' : 'N';
  const float alpha = 1;
  const int lda = transposed ? m : k;
  sgemm_(&plain, &order_of_a, &n, &m, &k, &alpha, b, &n, a, &lda, &beta, c, &n);
}

std::vector<Product> products(const Arrays& arrays) {
  MKL_Set_Num_Threads_Local(1);
  return all_products(arrays, multiply);
}

}  // namespace

int main(int argc, char** argv) { return rate_program("mkl", products, argc, argv); }

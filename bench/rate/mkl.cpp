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

// C = A B + beta C as Fortran sees it, columns first
void multiply(char transpose_b, int m, int n, int k, const float* a, const float* b, float beta,
              float* c) {
  const char plain = 'N';
  const float alpha = 1;
  const int ldb = transpose_b == 'N' ? k : n;
  sgemm_(&plain, &transpose_b, &m, &n, &k, &alpha, a, &m, b, &ldb, &beta, c, &m);
}

std::vector<Product> products(const Arrays& arrays) {
  MKL_Set_Num_Threads_Local(1);
  float *left = arrays.left(), *right = arrays.right(), *result = arrays.result(),
        *gradient = arrays.gradient();
  std::vector<Product> all = {
      {"2048^3", large_flop(),
       [=] { multiply('N', large_size, large_size, large_size, left, right, 0, result); }}};
  for (const int rows : tile_rows) {
    // row-major [rows, 128] is 128 x rows here
    all.push_back({forward_shape(rows), layer_flop(rows),
                   [=] { multiply('N', layer_width, rows, layer_width, left, right, 0, result); }});
    all.push_back({weight_gradient_shape(rows), layer_flop(rows), [=] {
                     multiply('T', layer_width, layer_width, rows, left, right, 1, gradient);
                   }});
  }
  return all;
}

}  // namespace

int main(int argc, char** argv) { return rate_program("mkl", products, argc, argv); }

#include <libxsmm.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

#include "bench/rate/rate.hpp"

namespace {

using namespace sagips::bench;

constexpr int block = 32;  // rows of one call; longer kernels are not faster

libxsmm_smmfunction kernel(int n, int k, int flags, float beta) {
  const int m = layer_width, ld = layer_width;
  const float alpha = 1;
  const auto made = libxsmm_smmdispatch(m, n, k, &ld, &ld, &ld, &alpha, &beta, &flags, nullptr);
  if (made == nullptr) {
    std::fprintf(stderr, "libxsmm makes no kernel for %d x %d x %d on this processor\n", m, n, k);
    std::exit(1);
  }
  return made;
}

// 2048^3 is not what the library is for
std::vector<Product> products(const Arrays& arrays) {
  float *left = arrays.left(), *right = arrays.right(), *result = arrays.result(),
        *gradient = arrays.gradient();
  std::vector<Product> all;
  const auto forward = kernel(block, layer_width, LIBXSMM_GEMM_FLAG_BETA_0, 0);
  for (const int rows : tile_rows) {
    static_assert(std::all_of(std::begin(tile_rows), std::end(tile_rows),
                              [](int wanted) { return wanted % block == 0; }));
    all.push_back({forward_shape(rows), layer_flop(rows), [=] {
                     for (std::ptrdiff_t row = 0; row < rows; row += block)
                       forward(left, right + row * layer_width, result + row * layer_width);
                   }});
    const auto weight_gradient = kernel(layer_width, rows, LIBXSMM_GEMM_FLAG_TRANS_B, 1);
    all.push_back({weight_gradient_shape(rows), layer_flop(rows),
                   [=] { weight_gradient(left, right, gradient); }});
  }
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  libxsmm_init();
  return rate_program("libxsmm", products, argc, argv);
}

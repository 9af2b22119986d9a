#include <omp.h>
#include <dnnl.hpp>

#include "bench/rate/rate.hpp"

namespace {

using namespace sagips::bench;
using dnnl::memory;

void multiply(bool transposed, int m, int n, int k, const float* a, const float* b, float beta,
              float* c) {
  dnnl_sgemm(transposed ? 'T' : 'N', 'N', m, n, k, 1, a, transposed ? m : k, b, n, beta, c, n);
}

memory::desc rows_of_128(int rows) {
  return {{rows, layer_width}, memory::data_type::f32, memory::format_tag::ab};
}

// The same forward product as a primitive, which may keep the weights in an order that it likes:
// they are reordered once for all tiles.
Product matmul(int rows, const Arrays& arrays) {
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  const memory::desc weights_as_it_likes({layer_width, layer_width}, memory::data_type::f32,
                                         memory::format_tag::any);
  const dnnl::matmul::primitive_desc description(
      {rows_of_128(rows), weights_as_it_likes, rows_of_128(rows)}, engine);
  const memory inputs(rows_of_128(rows), engine, arrays.left());
  memory plain_weights(rows_of_128(layer_width), engine, arrays.right());
  const memory outputs(rows_of_128(rows), engine, arrays.result());
  memory weights(description.weights_desc(), engine);
  const dnnl::stream stream(engine);
  dnnl::reorder(plain_weights, weights).execute(stream, plain_weights, weights);
  const dnnl::matmul product(description);
  return {"matmul " + std::to_string(rows), layer_flop(rows), [=] {
            product.execute(
                stream,
                {{DNNL_ARG_SRC, inputs}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_DST, outputs}});
          }};
}

std::vector<Product> products(const Arrays& arrays) {
  omp_set_num_threads(1);  // holds for the products that this thread calls
  std::vector<Product> all = all_products(arrays, multiply);
  for (const int rows : tile_rows) all.push_back(matmul(rows, arrays));
  return all;
}

}  // namespace

int main(int argc, char** argv) { return rate_program("onednn", products, argc, argv); }

#pragma once
#include <memory>

#include "sagips/kernels/products.hpp"

namespace sagips::kernels {

// Each gives nothing where its library was not found or the processor does not suit it.
std::shared_ptr<const Products> libxsmm_products();
std::shared_ptr<const Products> mkl_products();
std::shared_ptr<const Products> plain_products();

// Products in bfloat16; the last is the best of those before it.
std::shared_ptr<const Products> amx_bfloat16_products();
std::shared_ptr<const Products> avx512_bfloat16_products();
std::shared_ptr<const Products> bfloat16_products();

}  // namespace sagips::kernels

#pragma once
#include <memory>

#include "sagips/kernels/products.hpp"

namespace sagips::kernels {

// Each gives nothing where its library was not found or the processor does not suit it.
std::shared_ptr<const Products> libxsmm_products();
std::shared_ptr<const Products> mkl_products();
std::shared_ptr<const Products> plain_products();

}  // namespace sagips::kernels

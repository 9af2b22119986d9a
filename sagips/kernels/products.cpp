#include "sagips/kernels/products.hpp"

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/kernels/products_found.hpp"

namespace sagips::kernels {

namespace {

const std::vector<std::shared_ptr<const Products>>& all_products() {
  static const std::vector<std::shared_ptr<const Products>> found = [] {
    std::vector<std::shared_ptr<const Products>> list;
    for (auto candidate : {libxsmm_products(), mkl_products(), plain_products()})
      if (candidate) list.push_back(std::move(candidate));
    return list;
  }();
  return found;
}

}  // namespace

std::vector<std::string> available_products() {
  std::vector<std::string> names;
  for (const auto& candidate : all_products()) names.push_back(candidate->name());
  return names;
}

std::shared_ptr<const Products> products(const std::string& name, const std::string& key) {
  for (const auto& candidate : all_products())
    if (candidate->name() == name) return candidate;
  throw core::ConfigError(
      key,
      core::text("matrix products of '", name, "' are not in this program, or its processor ",
                 "lacks what they need. Here are: ", core::join(available_products(), ", "), "."));
}

}  // namespace sagips::kernels

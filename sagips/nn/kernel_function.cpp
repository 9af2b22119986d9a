#include "sagips/nn/kernel_function.hpp"

#include <ATen/TensorIterator.h>
#include <torch/autograd.h>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::nn {

bool suits_kernels(const torch::Tensor& numbers) {
  return numbers.is_cpu() && numbers.scalar_type() == torch::kFloat32 && numbers.size(0) > 0;
}

bool is_owned_alone(const torch::Tensor& numbers) {
  return numbers.use_count() == 1 && numbers.storage().use_count() == 1 && numbers.is_contiguous();
}

// LibTorch's iterator, which is compiled with OpenMP, walks over a byte for each piece: its address is the number.
void share_pieces(std::int64_t pieces, std::int64_t at_least,
                  const std::function<void(std::int64_t first, std::int64_t last)>& work) {
  if (pieces <= at_least) return work(0, pieces);
  torch::Tensor bytes = torch::empty({pieces}, torch::kUInt8);
  const auto* const first = reinterpret_cast<const char*>(bytes.const_data_ptr<std::uint8_t>());
  at::TensorIterator::nullary_op(bytes).for_each(
      [&](char** data, const std::int64_t*, std::int64_t count, std::int64_t) {
        work(data[0] - first, data[0] - first + count);
      },
      at_least);
}

void refuse_second_derivatives(const char* what, const char* remedy) {
  if (torch::GradMode::is_enabled())
    throw core::StateError(
        core::text("a gradient through ", what, " cannot be differentiated again.", remedy));
}

}  // namespace sagips::nn

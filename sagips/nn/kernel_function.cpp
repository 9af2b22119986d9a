#include "sagips/nn/kernel_function.hpp"

#include <torch/autograd.h>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::nn {

bool suits_kernels(const torch::Tensor& numbers) {
  return numbers.is_cpu() && numbers.scalar_type() == torch::kFloat32 && numbers.size(0) > 0;
}

void refuse_second_derivatives(const char* what, const char* remedy) {
  if (torch::GradMode::is_enabled())
    throw core::StateError(
        core::text("a gradient through ", what, " cannot be differentiated again.", remedy));
}

}  // namespace sagips::nn

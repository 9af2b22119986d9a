#pragma once
#include <vector>

#include "sagips/data/torch.hpp"

namespace sagips::data {

/// The elements of a tensor of any type, in order.
template <class Number = double>
std::vector<Number> numbers_of(const torch::Tensor& tensor) {
  const torch::Tensor dense =
      tensor.to(torch::kCPU, c10::CppTypeToScalarType<Number>::value).contiguous();
  return {dense.const_data_ptr<Number>(), dense.const_data_ptr<Number>() + dense.numel()};
}

}  // namespace sagips::data

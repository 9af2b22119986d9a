#pragma once
#include "sagips/data/torch.hpp"

namespace sagips::env {

/// Numbers that a stage needs at every call, made once, in float32 and float64.
class Constant {
 public:
  Constant() = default;
  explicit Constant(const torch::Tensor& numbers)
      : double_(numbers.to(torch::kFloat64)), single_(double_.to(torch::kFloat32)) {}

  /// The numbers with the type and on the device of another tensor.
  torch::Tensor like(const torch::Tensor& other) const {
    return (other.scalar_type() == torch::kFloat32 ? single_ : double_)
        .to(other.device(), other.scalar_type());
  }

 private:
  torch::Tensor double_, single_;
};

}  // namespace sagips::env

#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "sagips/data/torch.hpp"

namespace sagips::env {

/// Numbers that a stage needs at every call, made once a type of numbers and device.
class Constant {
 public:
  Constant() = default;
  explicit Constant(const torch::Tensor& numbers)
      : double_(numbers.to(torch::kFloat64)), single_(double_.to(torch::kFloat32)) {}

  /// Numbers of any type, which stay what they are: for `on` alone.
  static Constant as_given(const torch::Tensor& numbers) {
    Constant made;
    made.double_ = numbers;
    return made;
  }

  /// The numbers with the type and on the device of another tensor.
  torch::Tensor like(const torch::Tensor& other) const {
    const torch::Tensor& numbers = other.scalar_type() == torch::kFloat32 ? single_ : double_;
    return other.is_cpu() ? numbers.to(other.scalar_type())
                          : there(other.device(), numbers, other.scalar_type());
  }
  torch::Tensor on(const torch::Device& device) const {
    return device.is_cpu() ? double_ : there(device, double_, double_.scalar_type());
  }

 private:
  /// Of GPUs, which would wait for each copy.
  struct Elsewhere {
    std::mutex mutex;
    std::map<std::pair<int, torch::ScalarType>, torch::Tensor> numbers;
  };
  torch::Tensor there(const torch::Device& device, const torch::Tensor& numbers,
                      torch::ScalarType type) const {
    const std::lock_guard lock(elsewhere_->mutex);
    torch::Tensor& copy = elsewhere_->numbers[{device.index(), type}];
    if (!copy.defined()) copy = numbers.to(device, type);
    return copy;
  }

  torch::Tensor double_, single_;
  std::shared_ptr<Elsewhere> elsewhere_ = std::make_shared<Elsewhere>();
};

}  // namespace sagips::env

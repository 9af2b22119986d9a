#include "sagips/optim/adversarial/conditions.hpp"

#include <memory>

#include "sagips/env/noise/noise.hpp"

namespace sagips::optim {

std::int64_t GeneratorInput::width() const {
  std::int64_t sum = noise_;
  for (const Condition& condition : conditions_) sum += condition.width();
  return sum;
}

torch::Tensor GeneratorInput::operator()(const torch::Tensor& targets,
                                         const core::RandomStream& noise,
                                         std::int64_t first) const {
  const torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> parts;
  for (const Condition& condition : conditions_) {
    const torch::Tensor own = condition.target.of(targets).flatten(1);
    parts.push_back(
        condition.classes > 0
            ? torch::one_hot(own.flatten().to(torch::kInt64), condition.classes).to(torch::kFloat32)
            : own);
  }
  env::Noise numbers(std::make_shared<env::PhiloxNoise>(noise), targets.size(0), noise_, first,
                     torch::kFloat32, targets.device());
  parts.push_back(numbers.normal());
  return torch::cat(parts, 1);
}

}  // namespace sagips::optim

#include "sagips/nn/spectral_norm.hpp"

#include <cmath>

#include "sagips/core/text.hpp"

namespace sagips::nn {

namespace {

// An update turns the first singular vectors by little, and the ones before are the start.
constexpr int iterations = 3;
constexpr int first_iterations = 1000;
constexpr double settled = 1e-7;  // relative change of sigma
constexpr double least_norm = 1e-12;

torch::Tensor unit(const torch::Tensor& vector) {
  return vector / vector.norm().clamp_min(least_norm);
}

}  // namespace

SpectralNorm::SpectralNorm(Replica& replica, const core::RandomStream& stream)
    : replica_(&replica) {
  torch::NoGradGuard no_grad;
  for (std::size_t i = 0; i < replica.parameters().size(); ++i) {
    const ParameterTensor& parameter = replica.parameters()[i];
    if (parameter.is_bias) continue;
    std::vector<float> start(static_cast<std::size_t>(parameter.shape[0]));
    stream.uniform(static_cast<std::uint32_t>(i), 0, start);
    const torch::Tensor uniform =
        torch::from_blob(start.data(), {parameter.shape[0]}).to(replica.weights().device());
    left_.push_back(unit(uniform - 0.5));
    const torch::Tensor weight = replica.view(replica.weights(), i).flatten(1);
    double sigma = 0;
    for (int k = 0; k < first_iterations; k += iterations) {
      const double last = sigma;
      sigma = largest(weight, left_.back()).item<double>();
      if (std::abs(sigma - last) <= settled * sigma) break;
    }
    weight.div_(std::max(sigma, least_norm));
  }
}

// v = W' u, u = W v, both at length 1; sigma = |W v|
torch::Tensor SpectralNorm::largest(const torch::Tensor& weight, torch::Tensor& left) const {
  torch::Tensor image;
  for (int k = 0; k < iterations; ++k) {
    image = torch::mv(weight, unit(torch::mv(weight.t(), left)));
    left.copy_(unit(image));
  }
  return image.norm();
}

void SpectralNorm::normalise() {
  torch::NoGradGuard no_grad;
  auto left = left_.begin();
  for (std::size_t i = 0; i < replica_->parameters().size(); ++i) {
    if (replica_->parameters()[i].is_bias) continue;
    const torch::Tensor weight = replica_->view(replica_->weights(), i).flatten(1);
    const torch::Tensor norm = largest(weight, *left++);
    if (norm.is_cpu())
      weight.div_(std::max(norm.item<double>(), least_norm));
    else
      weight.div_(norm.clamp_min(least_norm));  // nobody waits for the number
  }
}

void SpectralNorm::state(StateList& list) {
  for (std::size_t k = 0; k < left_.size(); ++k) list.field(core::text("left", k), left_[k]);
}

}  // namespace sagips::nn

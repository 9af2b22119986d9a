#include "sagips/nn/initialise.hpp"

#include <cmath>
#include <vector>

namespace sagips::nn {

namespace {

// draw: a parameter's uniform numbers [its shape] -> its weights
template <class Draw>
void initialise(Replica& replica, const core::RandomStream& stream, const Draw& draw) {
  torch::NoGradGuard no_grad;
  for (std::size_t i = 0; i < replica.parameters().size(); ++i) {
    const ParameterTensor& parameter = replica.parameters()[i];
    torch::Tensor weights = replica.view(replica.weights(), i);
    if (parameter.initial) {
      weights.copy_(parameter.initial(stream));
      continue;
    }
    std::vector<float> uniform(static_cast<std::size_t>(parameter.size()));
    stream.uniform(static_cast<std::uint32_t>(i), 0, uniform);
    weights.copy_(draw(parameter, torch::from_blob(uniform.data(), parameter.shape)));
  }
}

}  // namespace

void initialise_kaiming_normal(Replica& replica, double negative_slope,
                               const core::RandomStream& stream) {
  initialise(replica, stream, [&](const ParameterTensor& parameter, const torch::Tensor& uniform) {
    if (parameter.is_bias) return torch::zeros_like(uniform);
    // sigma^2 = 2 / ((1 + a^2) fan_in)
    const double sigma = std::sqrt(
        2.0 / ((1.0 + negative_slope * negative_slope) * static_cast<double>(parameter.fan_in)));
    return torch::special_ndtri(uniform) * sigma;
  });
}

void initialise_uniform(Replica& replica, const core::RandomStream& stream) {
  initialise(replica, stream, [](const ParameterTensor& parameter, const torch::Tensor& uniform) {
    const double bound = 1 / std::sqrt(static_cast<double>(parameter.fan_in));
    return (uniform * 2 - 1) * bound;
  });
}

}  // namespace sagips::nn

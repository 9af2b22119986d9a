#include "workloads/resonance/line_shape.hpp"

namespace sagips::workloads::resonance {

torch::Tensor LineShape::table(const torch::Tensor& parameters) const {
  constexpr double reach = 6, step = 0.25;
  const auto options = parameters.options().requires_grad(false);
  const torch::Tensor m = window_.positions(options);
  const torch::Tensor t = torch::arange(-reach, reach + step / 2, step, options);
  const torch::Tensor kernel = torch::exp(t.square() * -0.5);
  const auto column = [&](std::int64_t i) { return parameters.select(1, i).unsqueeze(1); };
  const torch::Tensor mass = column(0), width = column(1), resolution = column(2);

  // f(m - resolution t), shape [samples, points, nodes]
  const torch::Tensor true_m = m.view({1, -1, 1}) - (resolution * t).unsqueeze(1);
  const torch::Tensor square = true_m.square();
  const torch::Tensor peak = mass.square().unsqueeze(2),
                      broad = (mass * width).square().unsqueeze(2);
  const torch::Tensor shape = square / ((square - peak).square() + broad);
  const torch::Tensor signal = torch::matmul(shape, kernel);

  const torch::Tensor background = torch::exp(-column(4) * (m - window_.low));
  const auto normalised = [&](const torch::Tensor& density) {
    return density / window_.integral(density).unsqueeze(1);
  };
  const torch::Tensor fraction = column(3);
  return (normalised(signal) * fraction + normalised(background) * (1 - fraction)).unsqueeze(1);
}

}  // namespace sagips::workloads::resonance

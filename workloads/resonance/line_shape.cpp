#include "workloads/resonance/line_shape.hpp"

#include <cmath>

namespace sagips::workloads::resonance {

namespace {

constexpr double reach = 6, step = 0.75;  // of the sum, in units of the resolution

// What the sum has too much because the signal's pole lies near the real axis, divided by the step.
//
// The pole p^2 = M^2 + i M W lies at z = x + i y in units of the resolution; q = exp(2 pi i z / h):
//   h sum - integral = Re[pi p* / (M W resolution) exp(-z^2 / 2) q / (1 - q)]
torch::Tensor pole_excess(const torch::Tensor& m, const torch::Tensor& mass,
                          const torch::Tensor& width, const torch::Tensor& resolution) {
  constexpr double turn = 2 * M_PI / step;
  const torch::Tensor real =
      mass * torch::sqrt((torch::sqrt((width / mass).square() + 1) + 1) * 0.5);
  const torch::Tensor imaginary = mass * width / (real * 2);
  const torch::Tensor x = (m - real) / resolution;
  // a pole higher than this changes nothing, and exp(y^2 / 2) must not overflow
  const torch::Tensor y = (imaginary / resolution).clamp_max(turn);
  const torch::Tensor q_size = torch::exp(-y * turn), q_angle = x * turn, beat = x * y;
  const torch::Tensor size =
      torch::exp((y.square() - x.square()) * 0.5 - y * turn) * (M_PI / step) /
      (mass * width * resolution * (q_size.square() - q_size * torch::cos(q_angle) * 2 + 1));
  return size * (real * (torch::cos(q_angle - beat) - q_size * torch::cos(beat)) +
                 imaginary * (torch::sin(q_angle - beat) + q_size * torch::sin(beat)));
}

}  // namespace

torch::Tensor LineShape::table(const torch::Tensor& parameters) const {
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
  const torch::Tensor signal =
      torch::matmul(shape, kernel) - pole_excess(m, mass, width, resolution);

  const torch::Tensor background = torch::exp(-column(4) * (m - window_.low));
  const auto normalised = [&](const torch::Tensor& density) {
    return density / window_.integral(density).unsqueeze(1);
  };
  const torch::Tensor fraction = column(3);
  return (normalised(signal) * fraction + normalised(background) * (1 - fraction)).unsqueeze(1);
}

}  // namespace sagips::workloads::resonance

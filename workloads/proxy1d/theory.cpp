#include "workloads/proxy1d/theory.hpp"

namespace sagips::workloads::proxy1d {

torch::Tensor Theory::table(const torch::Tensor& parameters) const {
  const torch::Tensor x = grid_.positions(parameters.options().requires_grad(false));
  const torch::Tensor log_x = torch::log(x), log_rest = torch::log1p(-x);
  // q(x) = N exp(a ln x + b ln(1 - x)), shape [samples, points]
  const auto density = [&](std::int64_t first) {
    const auto column = [&](std::int64_t i) {
      return parameters.select(1, first + i).unsqueeze(1);
    };
    return column(0) * torch::exp(column(1) * log_x + column(2) * log_rest);
  };
  const torch::Tensor u = density(0), d = density(3);
  return torch::stack({u * 4 + d, d * 4 + u}, 1);
}

}  // namespace sagips::workloads::proxy1d

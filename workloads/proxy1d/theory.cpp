#include "workloads/proxy1d/theory.hpp"

namespace sagips::workloads::proxy1d {

Theory::Theory(const env::Grid& grid)
    : charges_(torch::tensor({{4.0, 1.0}, {1.0, 4.0}}, torch::kFloat64)) {
  const torch::Tensor x = grid.positions(torch::kFloat64);
  logs_ = env::Constant(torch::stack({torch::log(x), torch::log1p(-x)}));
}

// Few operations, each over whole tables of u and d. q(x) = N exp(a ln x + b ln(1 - x))
torch::Tensor Theory::table(const torch::Tensor& parameters) const {
  const torch::Tensor quarks = parameters.reshape({-1, 2, 3});  // [samples, u and d, (N, a, b)]
  const torch::Tensor shapes =
      torch::exp(torch::matmul(quarks.narrow(2, 1, 2), logs_.like(parameters)));
  const torch::Tensor norms = quarks.select(2, 0).unsqueeze(1);
  return torch::bmm(norms * charges_.like(parameters), shapes);
}

}  // namespace sagips::workloads::proxy1d

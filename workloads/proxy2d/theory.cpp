#include "workloads/proxy2d/theory.hpp"

namespace sagips::workloads::proxy2d {

namespace {

torch::Tensor logs(const torch::Tensor& x) {
  return torch::stack({torch::log(x), torch::log1p(-x)});
}

}  // namespace

Theory::Theory(const env::Plane& plane)
    : x_(plane.x().positions()),
      y_(plane.y().positions()),
      logs_x_(logs(plane.x().positions())),
      logs_y_(logs(plane.y().positions())) {}

// Two products of a function of x and one of y, so one matrix product a table:
// X(x) Y(y) + e x X(x) y Y(y)
torch::Tensor Theory::table(const torch::Tensor& parameters) const {
  const torch::Tensor& p = parameters;
  const torch::Tensor along_x =
      torch::exp(torch::matmul(p.narrow(1, 0, 2), logs_x_.like(p)));  // [samples, x points]
  const torch::Tensor along_y = torch::exp(torch::matmul(p.narrow(1, 2, 2), logs_y_.like(p)));
  const torch::Tensor left = torch::stack({along_x, along_x * x_.like(p) * p.narrow(1, 4, 1)}, 2);
  const torch::Tensor right = torch::stack({along_y, along_y * y_.like(p)}, 1);
  return torch::bmm(left, right);
}

}  // namespace sagips::workloads::proxy2d

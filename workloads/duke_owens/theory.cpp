#include "workloads/duke_owens/theory.hpp"

#include <cmath>

namespace sagips::workloads::duke_owens {

namespace {

constexpr double lambda2 = 0.04, start_q2 = 4;  // [GeV^2], set 1

torch::Tensor powers_of_s(const torch::Tensor& q2) {
  const torch::Tensor s = torch::log(torch::log(q2 / lambda2) / std::log(start_q2 / lambda2));
  return torch::stack({torch::ones_like(s), s, s.square()});
}

// 1 / x of q(x) = (x q) / x stands here, too.
torch::Tensor flux(const torch::Tensor& x, const torch::Tensor& q2, double energy) {
  const torch::Tensor y = q2 / (x.unsqueeze(1) * energy * energy);
  return ((1 - y).square() + 1) / q2.square() / x.unsqueeze(1);
}

}  // namespace

Theory::Theory(const env::Plane& plane, Target target, double energy)
    : target_(target),
      x_(plane.x().positions()),
      logs_(
          torch::stack({torch::log(plane.x().positions()), torch::log1p(-plane.x().positions())})),
      evolution_(powers_of_s(plane.y().positions())),
      flux_(flux(plane.x().positions(), plane.y().positions(), energy)) {}

// The norm from int x^(a - 1) (1 - x)^b (1 + c x) dx = B(a, b + 1) (1 + c a / (a + b + 1))
torch::Tensor Theory::density(const torch::Tensor& c, double quarks) const {
  const torch::Tensor at_q2 = torch::matmul(c.reshape({-1, 3, 3}), evolution_.like(c));
  const torch::Tensor a = at_q2.select(1, 0), b = at_q2.select(1, 1), g = at_q2.select(1, 2);
  const torch::Tensor log_beta = torch::lgamma(a) + torch::lgamma(b + 1) - torch::lgamma(a + b + 1);
  const torch::Tensor norm = torch::exp(-log_beta) * quarks / (g * a / (a + b + 1) + 1);
  const torch::Tensor powers = torch::matmul(at_q2.narrow(1, 0, 2).transpose(1, 2), logs_.like(c));
  const torch::Tensor shape = torch::exp(powers) * (g.unsqueeze(2) * x_.like(c) + 1);
  return (shape * norm.unsqueeze(2)).transpose(1, 2);
}

torch::Tensor Theory::valence(const torch::Tensor& parameters) const {
  const torch::Tensor both = density(parameters.narrow(1, 0, 9), 3).select(2, 0);
  const torch::Tensor d = density(parameters.narrow(1, 9, 9), 1).select(2, 0);
  return torch::stack({both - d, d}, 1);
}

// Charges squared times nine: 4 for u, 1 for d in a proton; the other way round in a neutron.
torch::Tensor Theory::table(const torch::Tensor& parameters) const {
  const torch::Tensor both = density(parameters.narrow(1, 0, 9), 3);
  const torch::Tensor d = density(parameters.narrow(1, 9, 9), 1);
  const torch::Tensor quarks = target_ == Target::proton ? both * 4 - d * 3 : both + d * 3;
  return quarks * flux_.like(parameters);
}

}  // namespace sagips::workloads::duke_owens

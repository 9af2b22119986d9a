#pragma once
#include <string>

#include "sagips/data/torch.hpp"
#include "sagips/env/constant.hpp"
#include "sagips/env/noise/noise.hpp"
#include "sagips/env/samplers/plane.hpp"

namespace sagips::workloads::proxy2d {

/// The density x^a (1 - x)^b y^c (1 - y)^d (1 + e x y) of two observables in (0, 1).
///
/// shape:  parameters [samples, 5] in the order a, b, c, d, e -> [samples, x points, y points]
/// units:  none
/// source: the authors' later tool kit; see docs/physics/proxy2d.md
class Theory {
 public:
  explicit Theory(const env::Plane& plane);

  torch::Tensor table(const torch::Tensor& parameters) const;
  torch::Tensor operator()(torch::Tensor parameters, env::Noise&) const {
    return table(parameters);
  }
  std::string name() const { return "proxy2d_theory"; }

 private:
  env::Constant x_, y_;            ///< of the points
  env::Constant logs_x_, logs_y_;  ///< ln and ln(1 - ...) of them. shape: [2, points]
};

}  // namespace sagips::workloads::proxy2d

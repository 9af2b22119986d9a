#pragma once
#include <string>

#include "sagips/data/torch.hpp"
#include "sagips/env/constant.hpp"
#include "sagips/env/noise/noise.hpp"
#include "sagips/env/samplers/grid.hpp"

namespace sagips::workloads::proxy1d {

/// Two quark-like densities q(x) = N_q x^a_q (1 - x)^b_q, q = u, d, seen through two cross sections
/// sigma_1 = 4 u + d ("proton-like") and sigma_2 = 4 d + u ("neutron-like").
///
/// shape:  parameters [samples, 6] in the order N_u, a_u, b_u, N_d, a_d, b_d -> [samples, 2,
///         points]
/// units:  none
/// source: SAGIPS paper, Sec. V-A; see docs/physics/proxy1d.md
class Theory {
 public:
  explicit Theory(const env::Grid& grid);

  torch::Tensor table(const torch::Tensor& parameters) const;
  torch::Tensor operator()(torch::Tensor parameters, env::Noise&) const {
    return table(parameters);
  }
  std::string name() const { return "proxy1d_theory"; }

 private:
  env::Constant logs_;     ///< ln x and ln(1 - x) of the grid's points. shape: [2, points]
  env::Constant charges_;  ///< of u and d in both cross sections. shape: [2, 2]
};

}  // namespace sagips::workloads::proxy1d

#pragma once
#include <string>

#include "sagips/data/torch.hpp"
#include "sagips/env/constant.hpp"
#include "sagips/env/noise/noise.hpp"
#include "sagips/env/samplers/plane.hpp"

namespace sagips::workloads::duke_owens {

/// Which nucleon the electron meets.
enum class Target { proton, neutron };

/// Events (x, Q2) of deep inelastic scattering on valence quarks, whose densities are those of Duke
/// and Owens: with s = ln(ln(Q2 / Lambda2) / ln(Q02 / Lambda2))
///
///   x (u + d) = N x^eta1 (1 - x)^eta2 (1 + gamma_ud x),   N: three quarks
///   x d       = N x^eta3 (1 - x)^eta4 (1 + gamma_d x),    N: one quark
///   eta and gamma = c_0 + c_1 s + c_2 s^2
///   d2 sigma / dx dQ2 ~ (1 + (1 - y)^2) / Q2^2 * sum e_q^2 q(x, Q2),   y = Q2 / (x energy^2)
///
/// shape:  parameters [samples, 18] in the order eta1_0, eta1_1, eta1_2, eta2_0, ..., gamma_ud_2,
///         eta3_0, ..., gamma_d_2 -> [samples, x points, Q2 points]
/// units:  GeV^2, GeV; the density in arbitrary ones
/// source: Duke and Owens, Phys. Rev. D 30 (1984) 49, eqs. (3) to (5), set 1 (Lambda 0.2 GeV)
class Theory {
 public:
  /// energy: of the collision in its centre of mass [GeV]
  Theory(const env::Plane& plane, Target target, double energy);

  torch::Tensor table(const torch::Tensor& parameters) const;
  torch::Tensor operator()(torch::Tensor parameters, env::Noise&) const {
    return table(parameters);
  }
  std::string name() const { return "duke_owens_theory"; }
  /// x u and x d at the table's lowest Q2. shape: [samples, 18] -> [samples, 2, x points]
  torch::Tensor valence(const torch::Tensor& parameters) const;

 private:
  /// x times a density with so many quarks. shape: c [samples, 9] -> [samples, x points, Q2 points]
  torch::Tensor density(const torch::Tensor& c, double quarks) const;

  Target target_;
  env::Constant x_,
      logs_;  ///< of the points: x; ln x and ln(1 - x). shape: [x points], [2, x points]
  env::Constant evolution_;  ///< 1, s, s^2. shape: [3, Q2 points]
  env::Constant flux_;       ///< what the densities are multiplied by. shape: [x points, Q2 points]
};

}  // namespace sagips::workloads::duke_owens

#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sagips/data/torch.hpp"
#include "sagips/env/environment.hpp"

namespace sagips::optim {

/// Whether a fit takes the data set's reference numbers (the proxy's norms) as exactly known.
enum class ReferenceUse { exact, ignore };

/// -ln L of an environment's data as a function of the free parameters on the unit scale, with the
/// constraints that exactly known reference numbers impose: c_k = n_k(theta) / n_k,reference - 1 =
/// 0.
///
/// shapes: unit [free] float64; gradient [free]; hessian [free, free]; constraints [k]; jacobian
///         [k, free]
/// throws: ConfigError when a channel's pipeline offers no density
class Likelihood {
 public:
  struct Point {
    double value = 0;
    torch::Tensor gradient, constraints, jacobian;
  };

  /// Makes the likelihood of the training events.
  Likelihood(const env::Environment& environment, ReferenceUse reference);
  /// The mean likelihood over all data sets of `events` events at `truth` (the "Asimov" data set):
  /// its Hessian at the truth is the Fisher matrix. The reference numbers are the truth's own. The
  /// events are shared out among the channels as the data are.
  static Likelihood expected(const env::Environment& environment, ReferenceUse reference,
                             const torch::Tensor& truth, double events);

  Point at(const torch::Tensor& unit) const;
  /// The Hessian of the Lagrangian -ln L + multipliers . constraints. An undefined `multipliers`
  /// counts as zero.
  torch::Tensor hessian(const torch::Tensor& unit, const torch::Tensor& multipliers) const;

  /// Whether some events count more than others; where all count alike, a common factor changes nothing.
  bool is_weighted() const;
  /// How much the slope of -ln L fluctuates from data to data: the sum of w^2 s s' over events, s what one
  /// event's -ln L rises by. Errors of weighted events are H^-1 of it H^-1, whatever the weights' signs.
  /// source: Langenbruch, Eur. Phys. J. C 82 (2022) 393
  /// throws: ConfigError where a density does not take weights from its sample. shape: [free, free]
  torch::Tensor score_covariance(const torch::Tensor& unit) const;

  double events() const { return events_; }  ///< effective
  std::int64_t constraints() const { return constraints_; }
  const env::ParameterSet& parameters() const { return *parameters_; }

 private:
  Likelihood() = default;
  torch::Tensor value(const torch::Tensor& unit) const;
  torch::Tensor constraint(const torch::Tensor& unit) const;

  struct WeighedSample {
    const env::Density* density;
    std::shared_ptr<const env::DensitySample> sample;
    std::string channel;  ///< empty: its events count alike
  };

  const env::ParameterSet* parameters_ = nullptr;
  std::vector<WeighedSample> samples_;
  std::vector<std::function<torch::Tensor(const torch::Tensor&physical)>> terms_, constraint_terms_;
  double events_ = 0;
  std::int64_t constraints_ = 0;
};

}  // namespace sagips::optim

#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sagips/data/torch.hpp"
#include "sagips/env/environment.hpp"

namespace sagips::optim {

/// Whether a fit takes the data set's reference numbers (the proxy's norms) as exactly known.
enum class ReferenceUse { exact, ignore };

/// -ln L of an environment's data as a function of the free parameters in logit space, with the
/// constraints that exactly known reference numbers impose: c_k = n_k(theta) / n_k,reference - 1 =
/// 0.
///
/// shapes: theta [free] float64; gradient [free]; hessian [free, free]; constraints [k]; jacobian
///         [k, free]
/// throws: ConfigError when a channel's pipeline offers no density
class Likelihood {
 public:
  /// Where the logit space is left.
  struct Point {
    double value = 0;
    torch::Tensor gradient, constraints, jacobian;
  };

  /// Of the training events.
  Likelihood(const env::Environment& environment, ReferenceUse reference);
  /// Of the mean over all data sets of `events` events at `truth` (the "Asimov" data set): its
  /// Hessian at the truth is the Fisher matrix. The reference numbers are the truth's own. The
  /// events are shared out among the channels as the data are.
  static Likelihood expected(const env::Environment& environment, ReferenceUse reference,
                             const torch::Tensor& truth, double events);

  Point at(const torch::Tensor& theta) const;
  /// Of the Lagrangian -ln L + multipliers . constraints. An undefined `multipliers` counts as
  /// zero.
  torch::Tensor hessian(const torch::Tensor& theta, const torch::Tensor& multipliers) const;

  double events() const { return events_; }
  std::int64_t constraints() const { return constraints_; }
  const env::ParameterSet& parameters() const { return *parameters_; }

 private:
  Likelihood() = default;
  torch::Tensor value(const torch::Tensor& theta) const;
  torch::Tensor constraint(const torch::Tensor& theta) const;

  const env::ParameterSet* parameters_ = nullptr;
  std::vector<std::function<torch::Tensor(const torch::Tensor&physical)>> terms_, constraint_terms_;
  double events_ = 0;
  std::int64_t constraints_ = 0;
};

/// Covariance of a constrained minimum from the Hessian of its Lagrangian: Z (Z' H Z)^-1 Z' with Z
/// spanning the directions the constraints leave free.
/// throws: StateError when Z' H Z is not positive definite (a direction is not identifiable, or no
///         minimum)
torch::Tensor constrained_covariance(const torch::Tensor& hessian, const torch::Tensor& jacobian);

/// Directions along which -ln L does not change to second order, such as combinations of parameters
/// that no data set sees.
/// shape: [directions, free], unit vectors in the space of the Hessian
torch::Tensor flat_directions(const torch::Tensor& hessian, const torch::Tensor& jacobian);

}  // namespace sagips::optim

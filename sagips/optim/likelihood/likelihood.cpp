#include "sagips/optim/likelihood/likelihood.hpp"

#include <memory>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/optim/estimate.hpp"

namespace sagips::optim {

namespace {

using Term = std::function<torch::Tensor(const torch::Tensor&)>;

const env::Density& density_of(const env::Channel& channel) {
  if (!channel.density)
    throw core::ConfigError(
        "pipeline", core::text("channel '", channel.name,
                               "' offers no density, so its likelihood is unknown (a detector or a "
                               "filter is on, or the pipeline has none). Switch them off or use "
                               "`sagips train`."));
  return *channel.density;
}

double events_of(const env::Channel& channel) {
  return static_cast<double>(channel.training.size() +
                             (channel.held_out.values.defined() ? channel.held_out.size() : 0));
}

Term constraint_term(const env::Density& density, const torch::Tensor& reference) {
  return [&density, reference](const torch::Tensor& physical) {
    return density.norms(physical) / reference - 1;
  };
}

}  // namespace

Likelihood::Likelihood(const env::Environment& environment, ReferenceUse reference)
    : parameters_(&environment.parameters) {
  for (const env::Channel& channel : environment.channels) {
    const env::Density& density = density_of(channel);
    const data::Dataset& data = channel.training;
    const auto sample = std::make_shared<env::Density::Sample>(
        density.sample(data.values, data.weights.value_or(torch::Tensor()), data.origin));
    events_ += sample->events();
    terms_.push_back([&density, sample](const torch::Tensor& physical) {
      return density.negative_log_likelihood(physical, *sample);
    });
    if (reference == ReferenceUse::ignore) continue;
    std::vector<double> known;
    for (const std::string& name : density.norm_names()) {
      const auto found = data.reference.find(name);
      if (found != data.reference.end()) known.push_back(found->second);
    }
    if (known.empty()) continue;
    if (known.size() != density.norm_names().size())
      throw core::ConfigError(
          "data.reference",
          core::text("only ", known.size(), " of the numbers ",
                     core::join(density.norm_names(), ", "), " are given. Give all or none."));
    constraint_terms_.push_back(constraint_term(density, torch::tensor(known, torch::kFloat64)));
    constraints_ += static_cast<std::int64_t>(known.size());
  }
}

Likelihood Likelihood::expected(const env::Environment& environment, ReferenceUse reference,
                                const torch::Tensor& truth, double events) {
  Likelihood likelihood;
  likelihood.parameters_ = &environment.parameters;
  likelihood.events_ = events;
  double measured = 0;
  for (const env::Channel& channel : environment.channels) measured += events_of(channel);
  for (const env::Channel& channel : environment.channels) {
    const env::Density& density = density_of(channel);
    const torch::Tensor counts =
        (density.probabilities(truth) * (events * events_of(channel) / measured)).detach();
    likelihood.terms_.push_back([&density, counts](const torch::Tensor& physical) {
      const torch::Tensor probabilities = density.probabilities(physical);
      // as in env::TabulatedDensity: an empty cell has no slope of 0 / 0
      const torch::Tensor occupied =
          torch::where(counts != 0, probabilities, torch::ones_like(probabilities));
      return -(counts * torch::log(occupied)).sum();
    });
    if (reference == ReferenceUse::ignore || density.norm_names().empty()) continue;
    const torch::Tensor norms = density.norms(truth).detach();
    likelihood.constraint_terms_.push_back(constraint_term(density, norms));
    likelihood.constraints_ += norms.size(0);
  }
  return likelihood;
}

torch::Tensor Likelihood::value(const torch::Tensor& theta) const {
  const torch::Tensor physical = parameters_->physical_from_logit(theta);
  torch::Tensor sum = torch::zeros({}, torch::kFloat64);
  for (const auto& term : terms_) sum = sum + term(physical);
  return sum;
}

torch::Tensor Likelihood::constraint(const torch::Tensor& theta) const {
  const torch::Tensor physical = parameters_->physical_from_logit(theta);
  std::vector<torch::Tensor> parts;
  for (const auto& term : constraint_terms_) parts.push_back(term(physical));
  return parts.empty() ? torch::zeros({0}, torch::kFloat64) : torch::cat(parts);
}

Likelihood::Point Likelihood::at(const torch::Tensor& theta) const {
  const torch::Tensor variable = differentiable(theta);
  const torch::Tensor minimised = value(variable);
  const torch::Tensor constraints = constraint(variable);
  return {minimised.item<double>(), torch::autograd::grad({minimised}, {variable})[0],
          constraints.detach(), jacobian_of(constraints, variable)};
}

torch::Tensor Likelihood::hessian(const torch::Tensor& theta,
                                  const torch::Tensor& multipliers) const {
  const torch::Tensor variable = differentiable(theta);
  torch::Tensor lagrangian = value(variable);
  if (multipliers.defined() && constraints_ > 0)
    lagrangian = lagrangian + (multipliers * constraint(variable)).sum();
  const auto gradient = torch::autograd::grad({lagrangian}, {variable}, {}, true, true)[0];
  const torch::Tensor hessian = jacobian_of(gradient, variable);
  return (hessian + hessian.t()) * 0.5;
}

namespace {

// A basis of what the constraints leave free. shape: [free, free - constraints]
torch::Tensor unconstrained(const torch::Tensor& jacobian) {
  if (jacobian.size(0) == 0) return torch::eye(jacobian.size(1), torch::kFloat64);
  const auto [u, s, vh] = torch::linalg_svd(jacobian, /*full_matrices=*/true);
  return vh.slice(0, jacobian.size(0)).t();
}

}  // namespace

torch::Tensor constrained_covariance(const torch::Tensor& hessian, const torch::Tensor& jacobian) {
  const torch::Tensor free_directions = unconstrained(jacobian);
  // as many constraints as parameters leave nothing uncertain
  if (free_directions.size(1) == 0) return torch::zeros_like(hessian);
  const torch::Tensor projected = free_directions.t().matmul(hessian).matmul(free_directions);
  const auto [values, vectors] = torch::linalg_eigh(projected);
  const double largest = values.abs().max().item<double>();
  // directions softer than this are rounding noise of the Hessian's sums
  if (!(values.min().item<double>() > 1e-12 * largest))
    throw core::StateError(
        "the curvature of -ln L is not positive in every direction (a parameter "
        "is not identifiable from these data, or this is no minimum). Fix a "
        "parameter or give reference numbers: data.reference.NAME=VALUE");
  const torch::Tensor inverse = vectors.matmul(torch::diag(1 / values)).matmul(vectors.t());
  return free_directions.matmul(inverse).matmul(free_directions.t());
}

torch::Tensor flat_directions(const torch::Tensor& hessian, const torch::Tensor& jacobian) {
  constexpr double flat = 1e-9;  // of the largest curvature; sums of float64 round at 1e-12
  const torch::Tensor free_directions = unconstrained(jacobian);
  if (free_directions.size(1) == 0) return torch::zeros({0, hessian.size(0)}, torch::kFloat64);
  const torch::Tensor projected = free_directions.t().matmul(hessian).matmul(free_directions);
  const auto [values, vectors] = torch::linalg_eigh(projected);
  const torch::Tensor is_flat = values.abs() <= values.abs().max() * flat;
  return free_directions.matmul(vectors).t().index({is_flat});
}

}  // namespace sagips::optim

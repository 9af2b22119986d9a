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

torch::Tensor Likelihood::value(const torch::Tensor& unit) const {
  const torch::Tensor physical = parameters_->physical_from_unit(unit);
  torch::Tensor sum = torch::zeros({}, torch::kFloat64);
  for (const auto& term : terms_) sum = sum + term(physical);
  return sum;
}

torch::Tensor Likelihood::constraint(const torch::Tensor& unit) const {
  const torch::Tensor physical = parameters_->physical_from_unit(unit);
  std::vector<torch::Tensor> parts;
  for (const auto& term : constraint_terms_) parts.push_back(term(physical));
  return parts.empty() ? torch::zeros({0}, torch::kFloat64) : torch::cat(parts);
}

Likelihood::Point Likelihood::at(const torch::Tensor& unit) const {
  const torch::Tensor variable = differentiable(unit);
  const torch::Tensor minimised = value(variable);
  const torch::Tensor constraints = constraint(variable);
  return {minimised.item<double>(), torch::autograd::grad({minimised}, {variable})[0],
          constraints.detach(), jacobian_of(constraints, variable)};
}

torch::Tensor Likelihood::hessian(const torch::Tensor& unit,
                                  const torch::Tensor& multipliers) const {
  const torch::Tensor variable = differentiable(unit);
  torch::Tensor lagrangian = value(variable);
  if (multipliers.defined() && constraints_ > 0)
    lagrangian = lagrangian + (multipliers * constraint(variable)).sum();
  const auto gradient = torch::autograd::grad({lagrangian}, {variable}, {}, true, true)[0];
  const torch::Tensor hessian = jacobian_of(gradient, variable);
  return (hessian + hessian.t()) * 0.5;
}

}  // namespace sagips::optim

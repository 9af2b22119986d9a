#include "sagips/optim/likelihood/likelihood.hpp"

#include <algorithm>
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

/// The events that count, with weights that sum to their effective number, and as squares too: as many
/// events without weights would fluctuate as much, and a common factor changes nothing. Undefined where all
/// count alike.
/// source: Kish, Survey Sampling (1965), (sum w)^2 / sum w^2
std::pair<torch::Tensor, torch::Tensor> effective(const data::Dataset& data) {
  if (!data.weights) return {data.values, {}};
  const torch::Tensor counting = data.weights->nonzero().flatten();
  const torch::Tensor weights = data.weights->index_select(0, counting).to(torch::kFloat64);
  if ((weights == weights[0]).all().item<bool>())
    return {data.values.index_select(0, counting), {}};
  return {data.values.index_select(0, counting),
          weights * (weights.sum() / weights.square().sum())};
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
    const auto [values, weights] = effective(data);
    const auto sample =
        std::make_shared<env::Density::Sample>(density.sample(values, weights, data.origin));
    events_ += sample->events();
    samples_.push_back({&density, sample, weights.defined() ? channel.name : ""});
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

bool Likelihood::is_weighted() const {
  return std::any_of(samples_.begin(), samples_.end(),
                     [](const WeighedSample& sample) { return !sample.channel.empty(); });
}

torch::Tensor Likelihood::score_covariance(const torch::Tensor& unit) const {
  const torch::Tensor variable = differentiable(unit);
  const torch::Tensor physical = parameters_->physical_from_unit(variable);
  torch::Tensor sum = torch::zeros({unit.size(0), unit.size(0)}, torch::kFloat64);
  for (const auto& [density, sample, channel] : samples_) {
    env::Density::Sample own = *sample;
    if (!channel.empty()) own.weights = differentiable(own.weights);
    const torch::Tensor slope = torch::autograd::grad(
        {density->negative_log_likelihood(physical, own)}, {variable}, {}, true, true)[0];
    if (channel.empty()) {
      sum += jacobian_of(slope, variable);
      continue;
    }
    const torch::Tensor scores = jacobian_of(slope, own.weights) * own.weights.detach();
    if (!(scores.abs().sum().item<double>() > 0))
      throw core::ConfigError(
          "data.weight_column",
          core::text("the density of '", channel,
                     "' does not say what single events weigh (errors need it). Let its -ln L take "
                     "the sample's weights, or use solve.method=moments."));
    sum += scores.matmul(scores.t());
  }
  return sum;
}

}  // namespace sagips::optim

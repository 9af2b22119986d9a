#pragma once
#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sagips/data/torch.hpp"

namespace sagips::env {

/// Events as a likelihood needs them: found once, used at every evaluation. Only the density that
/// made one reads it, and uses the parts that it needs.
struct DensitySample {
  double total = 0;       ///< events, by weight
  torch::Tensor counts;   ///< events in each cell
  torch::Tensor cell;     ///< where each event lies
  torch::Tensor share;    ///< how far from the cell's lower end, 0 to 1
  torch::Tensor values;   ///< the events themselves
  torch::Tensor weights;  ///< [events]; undefined: all 1

  double events() const { return total; }
};

/// What tells the probability of events given parameters.
template <class T>
concept EventDensity = std::copy_constructible<T> &&
    requires(const T density, const torch::Tensor& tensor, const std::string& origin,
             const DensitySample& sample) {
  { density.sample(tensor, tensor, origin) } -> std::same_as<DensitySample>;
  { density.negative_log_likelihood(tensor, sample) } -> std::same_as<torch::Tensor>;
  { density.probabilities(tensor) } -> std::same_as<torch::Tensor>;
};

/// The likelihood of a pipeline: holds any EventDensity. It must be the density that the pipeline's
/// sampler draws from, cell rule included, so that fit and toy data mean the same thing. Everything
/// is float64 and may be called from several threads.
class Density {
 public:
  using Sample = DensitySample;

  // Implicit: a plan is given `density = TabulatedDensity(...)`.
  template <class T>
  requires(!std::same_as<T, Density> && EventDensity<T>)
      Density(T density) {  // NOLINT(google-explicit-constructor)
    const auto held = std::make_shared<const T>(std::move(density));
    sample = [held](const auto&... given) { return held->sample(given...); };
    negative_log_likelihood = [held](const auto&... given) {
      return held->negative_log_likelihood(given...);
    };
    probabilities = [held](const auto& parameters) { return held->probabilities(parameters); };
    if constexpr (requires(const torch::Tensor& parameters) { held->norms(parameters); })
      norms = [held](const auto& parameters) { return held->norms(parameters); };
    if constexpr (requires { held->norm_names(); }) norm_names_ = held->norm_names();
  }

  /// shape: values [events, observables]; weights [events] or undefined.
  /// throws: DataError naming the first event where the density is zero for every parameter
  std::function<Sample(const torch::Tensor& values, const torch::Tensor& weights,
                       const std::string& origin)>
      sample;
  /// -ln L of a sample's events, twice differentiable: the sum of what each says, by its weight.
  /// shape: parameters [parameters] -> []
  std::function<torch::Tensor(const torch::Tensor& parameters, const Sample& sample)>
      negative_log_likelihood;
  /// Probabilities of cells that are fine enough to keep an event's information.
  /// shape: parameters [parameters] -> [independent parts of an event, cells]; each part sums to 1
  std::function<torch::Tensor(const torch::Tensor& parameters)> probabilities;
  /// The named integrals, which data may know exactly.
  /// shape: parameters [parameters] -> [norm_names]
  std::function<torch::Tensor(const torch::Tensor& parameters)> norms = [](const torch::Tensor&) {
    return torch::zeros({0}, torch::kFloat64);
  };
  const std::vector<std::string>& norm_names() const { return norm_names_; }

 private:
  std::vector<std::string> norm_names_;
};

}  // namespace sagips::env

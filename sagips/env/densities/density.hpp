#pragma once
#include <concepts>
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
      Density(T density)  // NOLINT(google-explicit-constructor)
      : held_(std::make_shared<const Held<T>>(std::move(density))) {}

  /// shape: values [events, observables]; weights [events] or undefined.
  /// throws: DataError naming the first event where the density is zero for every parameter
  Sample sample(const torch::Tensor& values, const torch::Tensor& weights,
                const std::string& origin) const {
    return held_->sample(values, weights, origin);
  }
  /// -ln L for the events of a sample, twice differentiable.
  /// shape: parameters [parameters] -> []
  torch::Tensor negative_log_likelihood(const torch::Tensor& parameters,
                                        const Sample& sample) const {
    return held_->negative_log_likelihood(parameters, sample);
  }
  /// Probabilities of cells that are fine enough to keep an event's information.
  /// shape: parameters [parameters] -> [independent parts of an event, cells]; each part sums to 1
  torch::Tensor probabilities(const torch::Tensor& parameters) const {
    return held_->probabilities(parameters);
  }
  /// The named integrals, which data may know exactly.
  /// shape: parameters [parameters] -> [norm_names]
  torch::Tensor norms(const torch::Tensor& parameters) const { return held_->norms(parameters); }
  std::vector<std::string> norm_names() const { return held_->norm_names(); }

 private:
  struct Interface {
    virtual ~Interface() = default;
    virtual Sample sample(const torch::Tensor& values, const torch::Tensor& weights,
                          const std::string& origin) const = 0;
    virtual torch::Tensor negative_log_likelihood(const torch::Tensor& parameters,
                                                  const Sample& sample) const = 0;
    virtual torch::Tensor probabilities(const torch::Tensor& parameters) const = 0;
    virtual torch::Tensor norms(const torch::Tensor& parameters) const = 0;
    virtual std::vector<std::string> norm_names() const = 0;
  };

  template <class T>
  struct Held final : Interface {
    explicit Held(T value) : density(std::move(value)) {}

    Sample sample(const torch::Tensor& values, const torch::Tensor& weights,
                  const std::string& origin) const override {
      return density.sample(values, weights, origin);
    }
    torch::Tensor negative_log_likelihood(const torch::Tensor& parameters,
                                          const Sample& sample) const override {
      return density.negative_log_likelihood(parameters, sample);
    }
    torch::Tensor probabilities(const torch::Tensor& parameters) const override {
      return density.probabilities(parameters);
    }
    torch::Tensor norms(const torch::Tensor& parameters) const override {
      if constexpr (requires { density.norms(parameters); })
        return density.norms(parameters);
      else
        return torch::zeros({0}, torch::kFloat64);
    }
    std::vector<std::string> norm_names() const override {
      if constexpr (requires { density.norm_names(); })
        return density.norm_names();
      else
        return {};
    }

    T density;
  };

  std::shared_ptr<const Interface> held_;  // immutable, so sharing it is copying it
};

}  // namespace sagips::env

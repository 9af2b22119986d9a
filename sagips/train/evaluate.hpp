#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sagips/env/environment.hpp"
#include "sagips/record/event.hpp"

namespace sagips::train {

struct EvaluationConfig {
  std::int64_t samples = 1000;  ///< noise vectors
  std::int64_t events = 20;     ///< synthetic events of each
  std::int64_t energy_events = 1000;
  void fields(core::FieldList& list);
};

/// The metrics that evaluations of an environment may have, see `Evaluator`.
std::vector<std::string> metric_names(const env::Environment& environment);

/// Looks at an optimizer from outside: its predictions, and how far its events are from held-out
/// measured ones.
///
/// Always the same noise, so that two evaluations differ by what was learned. Distances:
/// `ks_<observable>` and their mean `ks_mean`, `energy` (standardised observables), and
/// `<number>_residual` for each reference number, (reference - mean) / reference.
class Evaluator {
 public:
  Evaluator(EvaluationConfig config, const env::Environment& environment, std::uint64_t seed)
      : config_(config), environment_(environment), seed_(seed) {}

  /// Evaluates proposals [rows, parameters], e.g. their mean over ranks.
  record::Evaluated evaluate(const torch::Tensor& proposals) const;
  /// Evaluates the parameters alone: no events are made.
  record::Evaluated parameters(const torch::Tensor& proposals) const;
  std::int64_t samples() const { return config_.samples; }
  /// Synthetic events of a channel for given proposals [rows, parameters]. shape: ([n,
  /// observables], weights [n] or undefined)
  std::pair<torch::Tensor, torch::Tensor> events(std::size_t channel,
                                                 const torch::Tensor& proposals) const;

 private:
  void compare(std::size_t channel, const torch::Tensor& proposals,
               record::Evaluated& evaluated) const;
  env::Events synthesise(std::size_t channel, const torch::Tensor& proposals) const;

  EvaluationConfig config_;
  const env::Environment& environment_;
  std::uint64_t seed_;
};

}  // namespace sagips::train

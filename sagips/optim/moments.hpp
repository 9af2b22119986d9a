#pragma once
#include <cstdint>

#include "sagips/core/config.hpp"
#include "sagips/optim/event_features.hpp"
#include "sagips/optim/solver.hpp"

namespace sagips::optim {

struct MomentsConfig {
  enum class Jacobian { differences, automatic };
  enum class NoiseKind { sobol, pseudo_random };
  enum class Start { middle, random };
  enum class Weighting { model, data };

  EventFeaturesConfig features;
  Jacobian jacobian = Jacobian::differences;
  double difference = 1e-3;  ///< step of central differences, of a parameter's range
  NoiseKind noise = NoiseKind::sobol;
  std::int64_t least_events = 2048;  ///< simulated at a parameter vector while few data count
  std::int64_t most_events = 16384;  ///< and when all do
  std::int64_t repetitions = 8;      ///< simulations with other noise that the last step averages
  Weighting weighting = Weighting::model;  ///< whose covariance the features are weighted with
  double reference_error = 1e-3;           ///< relative, to which reference numbers are met
  double prior_width = 1.5;                ///< of the logits, while not all data count
  std::int64_t first_level = 100;          ///< events that the data count as first
  Start start = Start::middle;             ///< of the first try; later ones are random
  std::int64_t starts = 6;                 ///< starting points at most
  /// Simulated while so many data count: a power of two, where Sobol points are most even.
  std::int64_t events_for(double data_events) const;
  void fields(core::FieldList& list);
};

/// Weighted moment matching: finds the parameters at which a pipeline's mean features are those of
/// the data, Q = N/2 (m - d)' W (m - d) with W the inverse covariance of the features in the data.
/// Needs no density, no network and no gradient.
///
/// The data count as 100 events first, then 4 times as many at each level, with a prior around the
/// middle of the ranges until all of them count; Levenberg-Marquardt steps on logits at each level.
/// Every simulation of a level takes the same quasi-random numbers, so Q is a smooth function. A
/// last step averages simulations with other numbers, whose scatter enters the errors. A start that
/// ends far from the data is followed by another.
///
/// Several ranks add up their events and simulations.
///
/// source: generalised method of moments, Hansen, Econometrica 50 (1982) 1029; simulated: McFadden,
///         Econometrica 57 (1989) 995; the recipe and what it reaches: docs/physics/moments.md
/// cost:   13 pipeline calls of 2,048 to 16,384 events a step with 6 parameters, some 25 steps
class MomentSolver final : public Solver {
 public:
  explicit MomentSolver(MomentsConfig config) : config_(config) {}

  Solution solve(const env::Environment& environment, const SolveContext& context) const override;
  /// Errors and chi2 of given parameters (all, physical), found in whatever way: those an estimate
  /// by these moments would have there.
  Solution judge(const env::Environment& environment, const SolveContext& context,
                 const torch::Tensor& physical) const;

 private:
  MomentsConfig config_;
};

}  // namespace sagips::optim

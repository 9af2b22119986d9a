#pragma once
#include <cstdint>

#include "sagips/core/config/config.hpp"
#include "sagips/optim/moments/event_features.hpp"

namespace sagips::optim {

/// How parameters are found by their moments, see MomentSolver.
struct MomentsConfig {
  enum class Jacobian { differences, automatic };
  enum class NoiseKind { sobol, pseudo_random };
  enum class Start { middle, random };
  enum class Weighting { model, data };

  EventFeaturesConfig features;
  Jacobian jacobian = Jacobian::differences;
  double difference = 1e-3;  ///< step of central differences, of a parameter's range
  NoiseKind noise = NoiseKind::sobol;
  std::int64_t least_events = 2048;    ///< simulated at a parameter vector while few data count
  std::int64_t most_events = 16384;    ///< and when all do
  std::int64_t repetitions = 8;        ///< simulations with other noise that the last step averages
  std::int64_t most_repetitions = 64;  ///< where their scatter is more than a quarter of the errors
  Weighting weighting = Weighting::model;  ///< whose covariance the features are weighted with
  double reference_error = 1e-3;           ///< relative, to which reference numbers are met
  double prior_width = 1.5;                ///< of the logits, while not all data count
  std::int64_t first_level = 100;          ///< events that the data count as first
  Start start = Start::middle;             ///< of the first try; later ones are random
  std::int64_t starts = 6;                 ///< starting points at most
  bool minima = true;                      ///< whether other minima are looked for
  /// Simulated while so many data count: a power of two, where Sobol points are most even.
  std::int64_t events_for(double data_events) const;
  void fields(core::FieldList& list);

 private:
  void simulation_fields(core::FieldList& list);
};

}  // namespace sagips::optim

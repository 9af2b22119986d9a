#pragma once
#include <optional>
#include <string>

#include "sagips/cli/settings.hpp"
#include "sagips/core/log.hpp"
#include "sagips/env/environment.hpp"
#include "sagips/optim/maximum_likelihood.hpp"
#include "sagips/record/event.hpp"
#include "sagips/record/results.hpp"

namespace sagips::cli {

/// What a run leaves behind besides its networks.
struct TrainingRecord {
  record::Evaluated first, last;
  record::RunFinished finished;
};

/// Where the events of all channels come from.
std::string data_origin(const env::Environment& environment);

/// What the likelihood of all events says, where every channel has a density.
struct Oracle {
  std::optional<optim::FitResult> fit;
  std::vector<double> floors;  ///< Cramer-Rao errors in physical units; empty where not known
};

/// What cannot be had is left out with a warning in the log, since the training stands.
Oracle oracle_fit(const Job& job, core::Log& log);

record::Results training_results(const Job& job, const env::Environment& environment,
                                 const TrainingRecord& training, const Oracle& oracle);

/// Floors that cannot be had are left out with a warning in the log, since the fit stands.
record::Results fit_results(const Job& job, const env::Environment& environment,
                            const optim::FitResult& fit, core::Log& log);

}  // namespace sagips::cli

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

/// The fit of all events, where every channel has a density; a fit that fails is a warning, since
/// the training stands.
std::optional<optim::FitResult> oracle_fit(const Job& job, core::Log& log);

/// Cramer-Rao errors in physical units, where densities and truth are known; empty otherwise.
std::vector<double> floors(const Job& job, const env::Environment& environment);

record::Results training_results(const Job& job, const env::Environment& environment,
                                 const TrainingRecord& training,
                                 const std::optional<optim::FitResult>& fit);

record::Results fit_results(const Job& job, const env::Environment& environment,
                            const optim::FitResult& fit);

}  // namespace sagips::cli

#pragma once
#include <cstdint>
#include <optional>

#include "sagips/record/experiments.hpp"
#include "sagips/run/requests.hpp"
#include "sagips/run/settings.hpp"

namespace sagips::study {

/// One closure experiment: toy data at the parameters' toy values, made with data.seed + number, and
/// an estimate by `closure.method` with every kind of error that it states:
///
/// - a solver: its own errors; with solve.bootstraps and solve.seeds their spreads as well;
/// - gan: the mean over `closure.members` networks, with eq. (8) and the standard deviation of their
///   means; that of `closure.bootstraps` networks on data drawn again; both together; the covariance
///   of the moments at the mean.
///
/// What goes wrong is told in `failure`. Empty when it was interrupted.
std::optional<record::Experiment> run_experiment(const run::Job& job, std::int64_t number,
                                                 const run::Requests& requests);

/// throws: ConfigError where the method is unknown, data are measured ones or have no toy values
void check_closure(const run::Job& job);

}  // namespace sagips::study

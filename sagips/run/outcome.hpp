#pragma once
#include <optional>
#include <string>

#include "sagips/core/log.hpp"
#include "sagips/env/environment.hpp"
#include "sagips/optim/solver.hpp"
#include "sagips/record/event.hpp"
#include "sagips/record/results.hpp"
#include "sagips/run/settings.hpp"

namespace sagips::run {

/// What a run leaves behind besides its networks.
struct TrainingRecord {
  record::Evaluated first, last;
  record::RunFinished finished;
};

/// Where the events of all channels come from.
std::string data_origin(const env::Environment& environment);

/// The reference that the likelihood of all events gives, where every channel has a density.
struct Oracle {
  std::optional<optim::FitResult> fit;
  std::vector<double> floors;  ///< Cramer-Rao errors in physical units; empty where not known
};

/// What cannot be had is left out with a warning in the log, since the training stands.
/// events: how many the floors are for
Oracle oracle_fit(const Job& job, const env::Environment& all, double events, core::Log& log);

record::Results training_results(const Job& job, const env::Environment& environment,
                                 const TrainingRecord& training, const Oracle& oracle);

/// Floors that cannot be had are left out with a warning in the log, since the fit stands.
record::Results fit_results(const Job& job, const env::Environment& environment,
                            const optim::FitResult& fit, core::Log& log);

/// What is known of a job before anything is solved: parameters, truth, floors.
record::Results known_results(const Job& job, const env::Environment& environment, core::Log& log);

/// Measured events, held-out ones with them.
double event_count(const env::Environment& environment);

/// The results of a solver. events: of all ranks
record::Results solve_results(const Job& job, const env::Environment& environment,
                              const optim::Solution& solution, double events, core::Log& log);

/// Compares what networks found with the minimum of the moments next to it. That minimum is the answer
/// where the config says so (generator.finish); else its errors are stated when the networks are within
/// one of them, with their distance added in squares. A network has none of its own.
/// returns: false where the networks are so far away that no error of theirs may be stated
bool judge_training(const Job& job, const env::Environment& environment, record::Results& results,
                    core::Log& log);

/// Tells what the pipelines' stages remark about their calls.
void warn_of_remarks(const env::Environment& environment, core::Log& log);

/// Tells where measured events repeat others, which continuous observables do not by chance.
void warn_of_equal_events(const env::Environment& environment, core::Log& log);

/// Writes results with all warnings that were said so far.
void write_results(const std::string& path, record::Results results, const core::Log& log);

/// The goodness of fit as results hold it.
std::vector<record::GoodnessResult> goodness_results(const std::vector<optim::GoodnessOfFit>& all);

/// The lines under a table that say whether the pipeline describes the data.
std::string goodness_lines(const std::vector<record::GoodnessResult>& goodness);

/// A warning in the log for each number that says that the pipeline does not describe the data.
void warn_of_misfit(const std::vector<record::GoodnessResult>& goodness, core::Log& log);

/// A warning in the log for each reason to doubt an estimate, and one for what the data leave open.
void warn_of_doubts(const optim::Estimate& estimate, core::Log& log);

}  // namespace sagips::run

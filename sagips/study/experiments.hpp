#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sagips/analysis/closure.hpp"
#include "sagips/core/config/config.hpp"
#include "sagips/core/log.hpp"
#include "sagips/record/experiments.hpp"
#include "sagips/run/requests.hpp"
#include "sagips/run/settings.hpp"
#include "sagips/study/study_run.hpp"

namespace sagips::study {

/// What `sagips closure` repeats.
struct ClosureConfig {
  std::int64_t experiments = 100;
  std::string method = "moments";  ///< a solver, or "gan"
  std::int64_t members = 4;        ///< networks of an experiment that differ by their seeds
  std::int64_t bootstraps = 4;     ///< networks of an experiment on data drawn again; 0: none
  void fields(core::FieldList& list);
};

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

/// Returns what tells the events of files from others; empty for toy data.
/// throws: ConfigError where the method is unknown, or toy data have no values; DataError for a file
std::string check_closure(const run::Job& job);

/// Closure experiments of measured events are made with toy data of the values that solve them, and of
/// as many (effective) events, of each channel. Solves them, with `solve.method` where networks are
/// tried, and keeps that in the study's folder; does nothing where it is kept already. Returns false
/// when it was interrupted.
bool solve_file(const run::Job& job, const std::string& folder, const run::Requests& requests,
                core::Log& log);

/// Makes of a job whose measured events `solve_file` has solved one of those toy data.
void take_truth(run::Job& job, const std::string& folder);

/// Gets a study's folder ready for workers, which no earlier start may still have there: waits for those that
/// were told to stop when it was killed. For the one process that holds the folder. Returns false when it
/// was interrupted.
bool await_earlier_workers(const std::string& folder, const run::Requests& requests,
                           core::Log& log);

/// Makes experiments that the study's folder does not hold yet, or holds as failed, one after the other, and
/// adds each to a file of its own in `experiments/` there. Each is given to one of the workers that are in
/// the folder at the same time. Returns false when it was interrupted.
bool make_experiments(const run::Job& job, const std::string& folder,
                      const run::Requests& requests);

/// Forgets which worker had which experiment.
void forget_claims(const std::string& folder);

/// How often each experiment was tried, by its number.
std::map<std::int64_t, int> attempts_of(const std::string& folder);

/// Forgets which worker had which experiment, but of those that were tried since there were as many attempts as
/// `before`: nobody in the folder tries them again.
void forget_unfinished(const std::string& folder, const std::map<std::int64_t, int>& before);

/// How many experiments a folder holds, and how many of them failed.
struct ExperimentCount {
  std::size_t made = 0, failed = 0;
};
ExperimentCount count_experiments(const std::string& folder);

/// What closure experiments say of stated errors, on the first rank.
struct ClosureEnd : StudyEnd {
  std::vector<analysis::ClosureSummary> summaries;  ///< by parameter and kind of error
  ExperimentCount made;
  std::vector<core::Warning> warnings;
};

/// closure.csv, figures and tables of the experiments in a folder; failed ones are counted.
ClosureEnd write_experiments(const run::Job& job, const std::string& folder, core::Log& log);

}  // namespace sagips::study

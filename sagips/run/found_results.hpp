#pragma once
#include <optional>
#include <string>

#include "sagips/comm/ranks.hpp"
#include "sagips/core/log.hpp"
#include "sagips/env/environment.hpp"
#include "sagips/record/results.hpp"
#include "sagips/record/run_directory.hpp"
#include "sagips/run/figure_writer.hpp"
#include "sagips/run/settings.hpp"

namespace sagips::run {

/// Refuses a name that is taken before anything is computed; what an interrupted command of the same config has
/// left goes, since it is begun anew. throws: core::StorageError
void require_free_name(const Job& job);
/// A folder for what a job is about to do, with its config and log. throws: StorageError
record::RunDirectory new_run(const Job& job, core::Log& log);

/// What a solver or a fit leaves in a run folder: results, a summary, the covariance and pictures. All
/// outlive it.
class FoundResults {
 public:
  FoundResults(const Job& job, const record::RunDirectory& folder, core::Log& log)
      : job_(job), folder_(folder), log_(log) {}

  /// Writes the numbers and begins the pictures, where the config wants them.
  /// covariance: [free, free], physical; undefined: not known
  void begin(const env::Environment& environment, const record::Results& results,
             const torch::Tensor& covariance);
  /// Waits for the pictures, and writes the numbers once more with all that was warned of.
  void finish(const env::Environment& environment, const record::Results& results);
  /// The folder of the pictures; empty where none were wanted.
  std::string figures() const;
  /// Writes the report and returns its path; empty where none is wanted.
  std::string page() const;

 private:
  void write(const record::Results& results) const;

  const Job& job_;
  const record::RunDirectory& folder_;
  core::Log& log_;
  std::optional<FigureWriter> draw_;
};

}  // namespace sagips::run

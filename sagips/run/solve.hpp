#pragma once
#include <functional>
#include <memory>
#include <string>

#include "sagips/comm/ranks.hpp"
#include "sagips/core/log.hpp"
#include "sagips/optim/solve_progress.hpp"
#include "sagips/optim/solver.hpp"
#include "sagips/record/open_run.hpp"
#include "sagips/record/results.hpp"
#include "sagips/run/requests.hpp"
#include "sagips/run/settings.hpp"

namespace sagips::run {

struct SolveOptions {
  record::Start start = record::Start::resume;  ///< of what slow simulators have answered
  Requests requests{};
  /// Called before each part of the work with what that part writes of its progress, on the first rank;
  /// what it returns goes with the part. limit_s: that the part is given, infinite without one
  std::function<std::shared_ptr<void>(const optim::SolveProgress& progress, double limit_s)> show{};
};

/// What was found without a network, on the first rank.
struct Solved {
  std::string folder;
  record::Results results{};
  std::int64_t evaluations = 0;   ///< of the pipeline at one parameter vector
  bool complete = false;          ///< false: stopped by its limit or a request
  std::string figures{}, page{};  ///< folder of the pictures, the report; empty: none
};

/// Finds the parameters of a job by `solve.method` and fills a run folder. Prints nothing but to the log.
/// collective. throws: ConfigError before anything is made; DataError, StorageError, CommError, and what
/// the pipeline throws
Solved solve(const Job& job, comm::Ranks& ranks, const SolveOptions& options, core::Log& log);

/// What a solver looked at, as CSV: time_s, evaluations, score and the physical parameters.
std::string visits_header(const env::ParameterSet& parameters);
std::string visit_row(const optim::Visit& visit);

}  // namespace sagips::run

#pragma once
#include <string>

#include "sagips/comm/ranks.hpp"
#include "sagips/core/log.hpp"
#include "sagips/record/results.hpp"
#include "sagips/run/settings.hpp"

namespace sagips::run {

/// What the maximum of the likelihood is.
struct Fitted {
  std::string folder;
  record::Results results{};
  double negative_log_likelihood = 0;  ///< at its minimum
  std::string figures{}, page{};       ///< folder of the pictures, the report; empty: none
};

/// Fits the parameters of a job whose pipelines have a density, and fills a run folder. Prints nothing but
/// to the log. throws: ConfigError where a density is missing; DataError, StorageError
Fitted fit(const Job& job, comm::Ranks& ranks, core::Log& log);

}  // namespace sagips::run

#pragma once
#include <string>

#include "sagips/comm/ranks.hpp"
#include "sagips/core/log.hpp"
#include "sagips/record/trials.hpp"
#include "sagips/run/requests.hpp"
#include "sagips/run/settings.hpp"
#include "sagips/study/tune/tune_config.hpp"

namespace sagips::study {

/// A search over settings that has a folder.
struct TuneStudy {
  const run::Workloads& workloads;
  std::string folder;
  std::string workload;
  const TuneConfig& config;
  int sharing = 0;            ///< ranks on this one's processors
  bool is_objective = false;  ///< its trials are no trainings
};

/// Where a study in this folder has its records, its trials' run folders, what all trainings start from, what a trial prints.
std::string records_of(const std::string& study_folder);
std::string runs_of(const TuneStudy& study);
std::string training_config_of(const std::string& study_folder);
std::string log_of(const std::string& study_folder, std::int64_t trial);
/// Its trainings side by side print to logs of their own.
std::string log_of(const std::string& study_folder, const std::string& run_name);
/// "00012"; with several trainings of a trial "00012_fold_3" or "00012_seed_3".
std::string run_name_of(std::int64_t trial, std::int64_t training, const TuneConfig& config);

/// Trains what a trial is made of, or goes on with it, reports its metric at each evaluation and writes
/// how it has ended, a failure included. Returns false when it was interrupted, or is another worker's by
/// now: it goes on later or elsewhere.
/// attempt: of the claim that it runs for. collective; the store is read on rank 0 alone
/// throws: CommError
bool run_trial(const TuneStudy& study, record::TrialStore& store, std::int64_t trial,
               std::int64_t attempt, comm::Ranks& ranks, const run::Requests& requests,
               core::Log& log);

}  // namespace sagips::study

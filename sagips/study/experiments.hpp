#pragma once
#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "sagips/core/log.hpp"
#include "sagips/run/requests.hpp"
#include "sagips/run/settings.hpp"

namespace sagips::study {

/// Which of all experiments one worker makes: number mod count = index.
struct WorkShare {
  std::int64_t index = 0, count = 1;
};
/// "2/8". throws: ConfigError
WorkShare parse_share(const std::string& words);

/// Makes the experiments of a share that the study's folder does not hold yet, or holds as failed, one
/// after the other, and adds each to `experiments/` there. Returns false when it was interrupted.
/// after_each: between experiments
bool make_experiments(const run::Job& job, const std::string& folder, const WorkShare& share,
                      const run::Requests& requests, const std::function<void()>& after_each);

/// How many experiments a folder holds, and how many of them failed.
struct ExperimentCount {
  std::size_t made = 0, failed = 0;
};
ExperimentCount count_experiments(const std::string& folder);

/// closure.csv and figures of the experiments in a folder, and for `out` the tables; failed ones are
/// counted. Returns whether any gave an estimate.
bool write_closure(const run::Job& job, const std::string& folder, std::ostream& out,
                   core::Log& log);

}  // namespace sagips::study

#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "sagips/core/log.hpp"
#include "sagips/record/trials.hpp"
#include "sagips/study/tune/tune_config.hpp"

namespace sagips::study {

/// One row a trial with its settings, state and metric, the best first where they have ended.
/// most: rows
std::string trial_table(const std::map<std::int64_t, record::TrialRecord>& trials,
                        const TuneConfig& config, std::size_t most);

/// A line of the log for each trial that ends while a search is looked at.
class TrialLog {
 public:
  TrialLog(const TuneConfig& config, core::Log& log) : config_(config), log_(log) {}
  /// The first look tells of nothing.
  void look(const std::map<std::int64_t, record::TrialRecord>& trials);

 private:
  const TuneConfig& config_;
  core::Log& log_;
  bool begun_ = false;
  std::set<std::int64_t> told_;
};

}  // namespace sagips::study

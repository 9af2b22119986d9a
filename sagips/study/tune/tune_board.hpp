#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "sagips/core/log.hpp"
#include "sagips/record/trials.hpp"
#include "sagips/study/tune/tune_config.hpp"

namespace sagips::study {

/// Shows a search while it runs: a line of the log for each trial that ends, and on a terminal a table
/// of the best trials and of those at work below, redrawn in place.
class TuneBoard {
 public:
  TuneBoard(const TuneConfig& config, core::Log& log);
  ~TuneBoard();
  TuneBoard(const TuneBoard&) = delete;
  TuneBoard& operator=(const TuneBoard&) = delete;

  void show(const std::map<std::int64_t, record::TrialRecord>& trials);

 private:
  std::string table(const std::map<std::int64_t, record::TrialRecord>& trials) const;
  void clear();

  const TuneConfig& config_;
  core::Log& log_;
  bool terminal_;
  bool begun_ = false;
  std::set<std::int64_t> told_;
  std::size_t ended_before_ = 0;
  std::int64_t began_ns_, drawn_ns_ = 0;
  std::size_t lines_ = 0;  ///< that stand on the terminal
};

/// One row a trial with its settings, state and metric, the best first where they have ended.
/// most: rows
std::string trial_table(const std::map<std::int64_t, record::TrialRecord>& trials,
                        const TuneConfig& config, std::size_t most);

}  // namespace sagips::study

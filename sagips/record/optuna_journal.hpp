#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sagips/record/trials.hpp"

namespace sagips::record {

/// A setting as Optuna knows it: a range, or one of several words.
struct OptunaParameter {
  std::string name;
  double low = 0, high = 1;
  bool log = false, integer = false;
  std::vector<std::string> values{};  ///< in place of a range
};

/// The trials of a study as a journal file of Optuna, which its JournalStorage reads and its dashboard
/// shows: settings, reports, state and metric of each trial. Settings outside of their range, which
/// Optuna would refuse, are moved to its end.
/// source: the format as Optuna 5.0.0 writes and replays it (storages/journal)
/// throws: StorageError
void write_optuna_journal(const std::string& path, const std::string& study, bool maximise,
                          const std::vector<OptunaParameter>& parameters,
                          const std::map<std::int64_t, TrialRecord>& trials);

}  // namespace sagips::record

#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "sagips/core/error.hpp"
#include "sagips/record/trials.hpp"
#include "sagips/study/tune/next_trial.hpp"

namespace sagips::study {

/// A search whose first trials have all failed.
struct AllFailed : core::Error {
  using core::Error::Error;
};

/// Gives a worker its next trial: one that another worker has given back, or a new one.
class TrialQueue {
 public:
  /// runs_folder: of the trials' run folders. minutes count from here. throws: as NextTrial, TrialStore
  TrialQueue(const TuneConfig& config, const std::string& study_folder, std::string runs_folder,
             std::uint64_t seed, std::int64_t epochs);

  /// Reads the records. A trial that is this worker's now; nothing when there is none at this time.
  /// throws: core::Error when all trials so far have failed
  std::optional<record::TrialClaim> take();
  /// Stops counting a trial as this worker's own.
  void leave(std::int64_t trial) { own_.erase(trial); }
  /// Signs of life for what is this worker's; to be called often.
  void beat();
  /// By the records as they were read last: why no further trial begins: "50 trials", "time limit", "target reached ..."; empty: more may.
  std::string over() const;
  /// Whether all that began has ended, here and elsewhere.
  bool all_ended() const;
  /// The target is reached: trials that run need not go on.
  bool has_enough() const;

  record::TrialStore& store() { return store_; }

 private:
  std::optional<record::TrialClaim> take_back();
  bool still_runs(std::int64_t trial) const;

  const TuneConfig& config_;
  std::string runs_folder_;
  record::TrialStore store_;
  NextTrial next_;
  std::int64_t began_ns_;
  std::int64_t looked_ns_ = 0, beaten_ns_ = 0;
  bool waits_ = false;  ///< for a trial that was given back, whose process has not ended
  std::map<std::int64_t, std::int64_t> own_;  ///< attempts by trial
};

}  // namespace sagips::study

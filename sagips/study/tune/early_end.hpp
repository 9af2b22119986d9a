#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sagips/record/trials.hpp"
#include "sagips/study/tune/tune_config.hpp"

namespace sagips::study {

/// How far a trial had come, over all its folds, and how good it was then.
struct TrialLearningCurve {
  struct Place {
    double epochs = 0;
    double score = 0;  ///< mean over folds, smaller where better; infinite where it is no number
    std::int64_t fold = 1;
    double epochs_of_fold = 0;
  };
  std::vector<Place> places{};
};

/// Whether a training of a trial is over.
bool is_over(const record::TrialRecord& trial, std::int64_t training);

/// The learning curve of a trial. Reports that come twice, after a restart, count once.
TrialLearningCurve learning_curve_of(const record::TrialRecord& trial, const TuneConfig& config);

/// The metric over the folds of a trial as far as they have come; nothing before the first report.
struct FoldSummary {
  std::int64_t folds = 0;  ///< that are over
  double mean = 0, spread = 0;
  double epochs = 0;  ///< over all folds
  double time_s = 0;  ///< of the folds that are over
};
std::optional<FoldSummary> summary_of(const record::TrialRecord& trial);

/// Whether a trial is so far behind the others that it is to end.
///
/// Halving: after `first` epochs, `factor` times as many, ... a trial goes on if it is among the best
/// 1 / factor of all that have come there. Nobody waits for others, so the first ones always go on.
/// Brackets: trials take turns at looking `factor` times later than the ones before. Median: a trial
/// ends if the best that it has shown is worse than the median of the others at the same epochs.
///
/// source: Li et al., ASHA, arXiv 1810.05934, algorithm 2 (here trials go on and are not paused);
///         Li et al., Hyperband, JMLR 18 (2018) 185; median: Golovin et al., Vizier, KDD 2017, 3.2.2
/// What counts of the trial is its learning curve up to the report that came last: after a restart that is one
/// which has come before.
/// Returns the reason; empty: it goes on.
std::string early_end(std::int64_t trial, const std::map<std::int64_t, record::TrialRecord>& trials,
                      const TuneConfig& config);

}  // namespace sagips::study

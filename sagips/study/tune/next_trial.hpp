#pragma once
#include <map>
#include <memory>
#include <optional>

#include "sagips/core/random.hpp"
#include "sagips/record/trials.hpp"
#include "sagips/study/tune/setting_space.hpp"
#include "sagips/study/tune/tune_config.hpp"

namespace sagips::study {

/// Says which trial comes next, from all that is known of the others. What it says depends on nothing
/// else, so that any worker of a study can ask its own one, at any time.
///
/// Population-based training: a trial is a leg of a member. It goes on with the networks and the
/// settings of the member's leg before, or, where that was among the worst, with those of one of the
/// best, changed. It is compared with those that have come as far by then, so nobody waits for others.
///
/// source: Jaderberg et al., arXiv 1711.09846, Sec. 4.1: truncation selection, perturb and resample
class NextTrial {
 public:
  /// throws: ConfigError for points that are none, and an earlier study that cannot be read
  NextTrial(const TuneConfig& config, std::uint64_t seed, std::int64_t epochs);

  const SettingSpace& space() const { return space_; }
  /// How many there may be in all.
  std::int64_t all_trials() const;
  /// The next one with its number, settings and point; nothing when there is none now.
  std::optional<record::TrialClaim> operator()(
      const std::map<std::int64_t, record::TrialRecord>& trials);

 private:
  using Trials = std::map<std::int64_t, record::TrialRecord>;
  std::optional<optim::Point> searched(const Trials& trials);
  std::optional<record::TrialClaim> leg(const Trials& trials) const;
  optim::Point changed(const optim::Point& point, std::int64_t number) const;

  TuneConfig config_;
  SettingSpace space_;
  core::RandomStream stream_;
  std::vector<optim::Point> named_;    ///< points that are tried first
  std::vector<optim::Trial> earlier_;  ///< of another study
  std::unique_ptr<optim::Searcher> searcher_;
};

/// Epochs after which the leg of a member ends that this trial is; 0: it is none.
/// epochs: of a whole training
std::int64_t end_of_leg(std::int64_t trial,
                        const std::map<std::int64_t, record::TrialRecord>& trials,
                        const TuneConfig& config, std::int64_t epochs);

/// The metric of a trial that has ended, smaller where it is better; infinite for one that has failed
/// or is under way.
double score_of(const record::TrialRecord& trial, const TuneConfig& config);

/// The trial with the best score among those that have come to their end; nullptr: none has.
const record::TrialRecord* best_trial(const std::map<std::int64_t, record::TrialRecord>& trials,
                                      const TuneConfig& config);

/// Whether one of them has reached the target that the search asks for.
bool target_reached(const std::map<std::int64_t, record::TrialRecord>& trials,
                    const TuneConfig& config);

/// Whether fewer trials have begun than there are to be, and none has reached the target.
bool trials_are_left(const std::map<std::int64_t, record::TrialRecord>& trials,
                     const TuneConfig& config);

}  // namespace sagips::study

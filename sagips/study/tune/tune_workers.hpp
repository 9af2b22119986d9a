#pragma once
#include <functional>
#include <string>
#include <vector>

#include "sagips/comm/ranks.hpp"
#include "sagips/run/requests.hpp"
#include "sagips/study/tune/run_trial.hpp"
#include "sagips/study/tune/trial_queue.hpp"

namespace sagips::study {

/// What a worker tells of its study while it runs, often; empty: nothing.
using TuneWatch = std::function<void(const std::map<std::int64_t, record::TrialRecord>& trials)>;

/// Runs trials as children, `at_once` of them side by side, until the study is over. A trial that a
/// signal ends is tried once more; one that fails is a record with its reason.
/// program: words that start the program whose `tune` a child is; threads: of each of its ranks
/// Returns false when it was interrupted: what ran has stopped with a checkpoint and is given back.
bool run_trials_in_children(const TuneStudy& study, TrialQueue& queue,
                            const std::vector<std::string>& program, std::size_t at_once,
                            int threads, const run::Requests& requests, const TuneWatch& watch);

/// Runs trials in blocks of `tune.ranks` ranks of this job, each block one after the other until the
/// study is over. Every rank works, and the blocks share nothing but the study's folder.
/// queue: makes one on the first rank of a block. Returns false when it was interrupted. collective
bool run_trials_in_blocks(const TuneStudy& study, const std::function<TrialQueue()>& queue,
                          comm::Ranks& ranks, const run::Requests& requests,
                          const TuneWatch& watch);

}  // namespace sagips::study

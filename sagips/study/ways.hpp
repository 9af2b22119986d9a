#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sagips/analysis/scaling.hpp"
#include "sagips/optim/learn/optimizer.hpp"
#include "sagips/study/plan.hpp"
#include "sagips/study/study_run.hpp"
#include "sagips/train/rank_exchange.hpp"

namespace sagips::study {

/// One way of training among those that a study compares.
struct TrainingWay {
  std::string label{};  ///< as tables and keys show it
  std::string name{};   ///< its members' folders begin with it
  std::int64_t ranks = 1;
  std::vector<std::string> assignments{};  ///< what it changes of the study's config
  std::string launcher{};                  ///< of several ranks; empty: ensemble.launcher
  train::ExchangeChoice exchange{};        ///< of its config
};

/// What a study compares, each way trained once however often it is looked at.
struct WaysPlan {
  StudyPlan study;                         ///< its variants stand in the same order as the ways
  std::vector<TrainingWay> ways;           ///< by variant
  std::vector<std::size_t> way_of;         ///< by member
  std::vector<analysis::ScalingRow> rows;  ///< by way, without what was measured

  /// Its number; a new one when none trains the same.
  std::size_t add(TrainingWay way, analysis::ScalingRow row);
  /// Trainings of each way, which differ by run.seed alone: all see the same data.
  void add_members(const run::Job& job, std::int64_t count);
  std::int64_t most_ranks() const;
};

/// Reads each way's config once, so that what is wrong with it is said before anything runs, and notes its
/// exchanges. check: what else is to be looked at. throws: ConfigError
void read_ways(const run::Workloads& workloads, const std::string& source,
               const std::vector<std::string>& assignments, WaysPlan& plan,
               const std::function<void(const run::Job&, std::int64_t ranks)>& check = {});

/// What starts the ranks of a way: its own launcher, or that of all.
const std::string& launcher_of(const run::Job& job, const TrainingWay& way);

/// Whether a launcher may spread ranks over nodes, which this process does not see: it does on a cluster.
bool may_have_several_nodes(const std::string& launcher);

/// Refuses exchanges that could not be made between so many ranks, wherever they are, and warns of those that could
/// not on one node or on several.
/// optimizer: of one rank, which has the networks of all
/// elsewhere: ranks start on machines that are not seen here. throws: ConfigError
void check_exchanges(const run::Job& job, const WaysPlan& plan, optim::Optimizer& optimizer,
                     bool elsewhere, core::Log& log);

/// throws: ConfigError for a program that is to start several ranks and is not there
void check_launchers(const run::Job& job, const WaysPlan& plan);

/// Warns of more ranks than cores, which take turns: their times say little.
void warn_of_few_cores(const run::Job& job, const WaysPlan& plan, core::Log& log);

/// What the folder of a study says of its members.
record::Study seen_on_disk(const std::string& folder, const WaysPlan& plan);

/// Trains what is pending, few ranks first, and keeps study.json. at_once: trainings side by side; 0: as the
/// cores allow. Returns false when it was interrupted.
bool train_ways(const run::Job& job, const std::string& folder, const WaysPlan& plan,
                record::Study& study, std::int64_t at_once, const StudyOptions& options,
                core::Log& log);

}  // namespace sagips::study

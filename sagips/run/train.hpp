#pragma once
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "sagips/comm/ranks.hpp"
#include "sagips/core/log.hpp"
#include "sagips/record/event.hpp"
#include "sagips/record/open_run.hpp"
#include "sagips/record/results.hpp"
#include "sagips/run/rank_summary.hpp"
#include "sagips/run/requests.hpp"
#include "sagips/run/settings.hpp"

namespace sagips::run {

struct TrainOptions {
  record::Start start = record::Start::resume;
  std::vector<record::Observer> observers{};  ///< see run_training; on the rank that gives them
  Requests requests{};
  /// Asked after each evaluation on rank 0, beside the job's own early stop: a reason to stop, or
  /// nothing.
  std::function<std::string(const record::Evaluated&)> should_stop{};
  /// Epochs after which the run ends although its schedules go on; 0: all of them.
  std::int64_t until = 0;
  /// Ranks that share this one's processors, where others train beside those of this training; 0: none do.
  int sharing = 0;
  std::string remark{};  ///< on the settings, told once nothing is refused any more; empty: none
};

/// How a training ended on this rank.
struct Results {
  std::string folder;
  bool complete = false;         ///< false: stopped before its end; the same call goes on
  record::StopReason reason{};   ///< why it ended
  record::Results results{};     ///< on rank 0
  std::string exchange{};        ///< of the network that gives the answer
  std::vector<RankRow> rows{};   ///< on rank 0
  std::string figure{}, page{};  ///< of the residuals over time, of the report; empty: none
  /// The training failed, the same on every rank, and what is here is of its last good update.
  std::exception_ptr failure{};
  /// A request to stop ended an epoch in the middle, and the ranks no longer wait for each other: the
  /// checkpoint is written, nothing else is here, and all that is left is Communicator::abort_alone.
  bool left = false;
};

/// Trains the networks of a job, or goes on with the run that the same job left, and fills its run
/// folder. Prints nothing but to the log, takes no signals, ends no process. collective
/// throws: ConfigError before anything is made; StorageError, CommError and what the pipeline throws
Results train(const Job& job, comm::Ranks& ranks, const TrainOptions& options, core::Log& log);

}  // namespace sagips::run

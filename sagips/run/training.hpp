#pragma once
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sagips/comm/ranks.hpp"
#include "sagips/core/log.hpp"
#include "sagips/run/outcome.hpp"
#include "sagips/run/rank_summary.hpp"
#include "sagips/run/settings.hpp"
#include "sagips/train/checkpoint/restore.hpp"
#include "sagips/train/checkpoint/stop_agreement.hpp"
#include "sagips/train/rank_exchange.hpp"

namespace sagips::run {

class Task;
struct TrainOptions;

/// A training that has come to its end on this rank.
struct Training {
  TrainingRecord record;  ///< of the mean over ranks, on rank 0
  RankRow row;
  std::unique_ptr<train::StopAgreement> agreement;  ///< `part` lets the ranks go
  /// What ended it before its time: an error on the only rank, the networks then being those of the last good
  /// update, or, on any number of ranks, that no further step would be of use.
  std::exception_ptr failure;
  /// A request ended it in the middle of an epoch and the ranks no longer wait for each other: the
  /// checkpoint is written, and nothing else can follow.
  bool left = false;
};

/// Where a training begins.
struct Beginning {
  std::string folder;  ///< of the run
  std::string run_id;
  std::optional<train::Restored> restored{};  ///< none: at the start
  bool after_end = false;                     ///< the run had come to its end, and is to go on
};

/// Trains until a limit, an early stop or a request to stop, and writes every rank's metrics. Meanwhile
/// the log keeps off the terminal, which may show what observers see: RunStarted and all that the loop
/// tells, with the events that all ranks together analyse in a second. collective
Training run_training(const Job& job, comm::Ranks& ranks, Task& task, train::RankExchange& exchange,
                      Beginning beginning, const TrainOptions& options, core::Log& log);

}  // namespace sagips::run

#pragma once
#include <exception>
#include <memory>
#include <optional>
#include <string>

#include "sagips/cli/outcome.hpp"
#include "sagips/cli/rank_summary.hpp"
#include "sagips/cli/settings.hpp"
#include "sagips/comm/ranks.hpp"
#include "sagips/core/log.hpp"
#include "sagips/optim/gan/gan.hpp"
#include "sagips/train/checkpoint/accord.hpp"
#include "sagips/train/checkpoint/restore.hpp"
#include "sagips/train/evaluate.hpp"
#include "sagips/train/rank_exchange.hpp"

namespace sagips::cli {

/// A training that has come to its end on this rank.
struct Training {
  TrainingRecord record;  ///< of the mean over ranks, on rank 0
  RankRow row;
  std::unique_ptr<train::Accord> accord;  ///< `part` lets the ranks go
  /// What ended it before its time, on one rank; the networks are those of the last good update.
  std::exception_ptr failure;
  /// A signal ended it in the middle of an epoch and the ranks no longer wait for each other: the
  /// checkpoint is written, and nothing else can follow.
  bool left = false;
};

/// Where a training begins.
struct Beginning {
  std::string folder;  ///< of the run
  std::string run_id;
  std::optional<train::Restored> restored{};  ///< none: at the start
};

/// Trains until a limit, an early stop or a signal; shows it on rank 0 and writes every rank's
/// metrics. collective
Training turn_the_crank(const Job& job, comm::Ranks& ranks, optim::Gan& gan,
                        train::RankExchange& exchange, const train::Evaluator& evaluator,
                        Beginning beginning, core::Log& log);

}  // namespace sagips::cli

#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sagips/record/open_run.hpp"
#include "sagips/run/timing.hpp"
#include "sagips/run/training.hpp"

namespace sagips::run {

/// What a training leaves in its run folder; rank 0 writes, all know the folder.
class RunOutputs {
 public:
  /// Opens the folder: a new one, or that of the run that goes on. collective
  /// throws: ConfigError, StorageError on rank 0
  /// data: what tells the data that are read from others; kinds: of networks that ranks train
  RunOutputs(const Job& job, comm::Ranks& ranks, record::Start start, const std::string& data,
             int kinds, int threads, core::Log& log, Timing& timing);

  const std::string& path() const { return path_; }
  /// Where the run goes on. collective
  Beginning beginning() const;
  /// As if this start had not been: removes a folder that was made for it; one that was there gets its
  /// config and status back.
  void undo() const;
  bool resumed() const { return resumed_; }  ///< the run was there
  void finish(record::RunStatus status, bool epochs_left = false) const;

  /// On rank 0, where the task writes what is its own.
  const record::RunDirectory& folder() const { return *folder_; }
  Timing& timing() { return timing_; }
  /// Writes what all tasks leave, the report last; adds what the ranks tell of themselves. On rank 0.
  /// draw: the task's figures; returns the one to name, or nothing
  void write(record::Results& results, const std::vector<RankRow>& rows,
             const std::function<std::string()>& draw);
  /// What `write` has drawn and where; empty where it has not.
  const std::string& figure() const { return figure_; }
  const std::string& page() const { return page_; }

 private:
  void write_what_was_seen(const std::vector<RankRow>& rows) const;
  void say_resumed(const std::optional<train::Restored>& restored) const;

  const Job& job_;
  comm::Ranks& ranks_;
  core::Log& log_;
  Timing& timing_;
  int kinds_;
  std::optional<record::RunDirectory> folder_;
  bool resumed_ = false;
  record::RunRecord before_;   ///< how the run was found
  std::string config_before_;  ///< in its folder
  std::string path_, run_id_, figure_, page_;
};

}  // namespace sagips::run

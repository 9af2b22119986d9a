#pragma once
#include <optional>
#include <string>

namespace sagips::record {

/// How far a run has come, as its folder says.
enum class RunStatus {
  unfinished,  ///< it runs, or it was killed
  stopped,     ///< ended before its time with a usable state: the same command goes on
  finished,
  failed,  ///< ended by an error: goes on only when it is addressed by name
};

/// What stands in `status.json`: enough to know whether a command may go on with a run.
struct RunRecord {
  std::string command;  ///< "train"
  RunStatus status = RunStatus::unfinished;
  double started_s = 0;  ///< since 1970; orders runs
  std::string id{};      ///< drawn for each run: its checkpoints carry it
  std::string data{};    ///< `RunIdentity::data`; empty: not known
  /// Finished by a time limit with epochs to go: the same command goes on.
  bool epochs_left = false;
};

/// A new `RunRecord::id`.
std::string draw_run_id();

/// throws: StorageError
void write_run_record(const std::string& folder, const RunRecord& record);
/// The same record with another status. throws: StorageError
void write_run_status(const std::string& folder, RunStatus status, bool epochs_left = false);
/// Nothing when there is none (a run that cannot be resumed) or when it cannot be read.
std::optional<RunRecord> read_run_record(const std::string& folder);

}  // namespace sagips::record

#pragma once
#include <string>
#include <vector>

#include "sagips/record/run_directory.hpp"
#include "sagips/record/run_status.hpp"

namespace sagips::record {

/// What must agree for one command to go on with the run of another.
struct RunIdentity {
  std::string workload;
  std::string command;           ///< "train"
  std::string effective_config;  ///< YAML; `keys_beside_identity` aside
  std::string data{};  ///< what tells the events that it reads from others; empty: not known
  bool goes_on_after_end = false;  ///< its checkpoints of a finished run can be gone on with
};

/// Keys that may differ between a run and the command that goes on with it: where it lies, what is
/// drawn and traced. Not `threads`, which changes the last bits and the times that studies compare.
const std::vector<std::string>& keys_beside_identity();

/// Whether the data of a run are known not to be those; the two, as a change is shown.
bool has_other_data(const RunRecord& record, const RunIdentity& identity);
std::string data_change(const RunRecord& record, const RunIdentity& identity);

/// How a command wants to begin.
enum class Start {
  resume,        ///< go on where the same command stopped, if it did
  with_changes,  ///< --override: go on with the run of that name although the config has changed
  fresh,         ///< --fresh: a folder of its own
};

/// The words of --fresh and --override as one choice. throws: ConfigError for both
Start start_of(bool fresh, bool with_changes);

/// A run folder that is locked for this process.
struct OpenedRun {
  RunDirectory directory;
  bool resumed = false;  ///< it was there; its checkpoints say where to go on
  RunRecord before{};    ///< how it was found then
  std::string config_before{};
  /// "train.epochs: 5 -> 10" with `Start::with_changes`; keys beside the identity always
  std::vector<std::string> changes;
  bool has_other_data = false;  ///< than before, or a larger part of them kept aside
};

/// Opens the folder of a run: the newest unfinished or stopped one of the same identity that nobody
/// has locked, or a new one. Config and status are written then; the end is `RunDirectory::finish`.
///
/// Without `run.name` only runs that got their name from the time are gone on with; failed ones are
/// not. With it that run is meant: gone on with when it is unfinished, stopped or failed, refused
/// when it is running (still after 3 s) or of another identity. A finished one is refused, too, but for
/// identities that go on after the end: with epochs left by a time limit, or with changes. Two processes that start
/// at once never get the same folder: flock decides, and the second one of an unnamed run makes one
/// of its own.
///
/// throws: ConfigError, StorageError (exit code 2)
OpenedRun open_run(const RunConfig& config, const RunIdentity& identity, Start start);

}  // namespace sagips::record

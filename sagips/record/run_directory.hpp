#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sagips/core/config/config.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"
#include "sagips/record/run_status.hpp"

namespace sagips::record {

struct RunConfig {
  std::string folder = "runs";
  std::string name;  ///< empty: the time, as 2026-01-31_17-05-09
  std::int64_t seed = 1;
  bool figures = true;
  bool fit = true;
  bool tensorboard = true;

  void fields(core::FieldList& list);
};

/// The folder of one run, `<folder>/<workload>/<name>`, made new and held by a lock (flock on
/// `.lock`) as long as the object lives. A README.txt in it says which file is what.
///
/// A default name that is taken gets "-2", "-3", ...; a name from the config that is taken is
/// refused. Two runs that start at once never share a folder, since mkdir is atomic.
/// Move-only.
///
/// throws: ConfigError when a name cannot be one folder's name; StorageError when the folder cannot
///         be made (no right, no space, already there, no locks). Nothing is left behind then,
///         parent folders included
class RunDirectory {
 public:
  RunDirectory(const RunConfig& config, const std::string& workload);

  /// A folder that is there, locked; nothing when another process holds its lock.
  /// throws: StorageError when it cannot be locked for another reason
  static std::optional<RunDirectory> lock(const std::string& path);
  /// What is thrown where a name is taken.
  static core::StorageError taken(const std::string& path);
  /// Whether that can be the name of one folder.
  static bool is_name(const std::string& name);

  /// Writes how the run has ended. Only for runs that `open_run` has opened. epochs_left: see RunRecord
  /// throws: StorageError
  void finish(RunStatus status, bool epochs_left = false) const;

  /// Removes a folder that this process has made, and its parents where they are as new and empty.
  void discard() const;

  const std::string& path() const { return path_; }
  /// The path of a file in the folder; `run_files.hpp` has the usual names.
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  /// Makes a sub-folder if it is missing and returns its path.
  /// throws: StorageError
  std::string folder(const std::string& name) const;

 private:
  RunDirectory(std::string path, core::Descriptor lock)
      : path_(std::move(path)), lock_(std::move(lock)) {}

  std::string path_;
  std::vector<std::string> made_parents_;
  core::Descriptor lock_;
};

/// The lock on a file, which is made if it is missing; nothing is open when another process holds it.
/// throws: StorageError when it cannot be locked for another reason
core::Descriptor take_lock(const std::string& path);

}  // namespace sagips::record

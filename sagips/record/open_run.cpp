#include "sagips/record/open_run.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <thread>

#include "sagips/core/config/config_difference.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"
#include "sagips/record/checkpoint_store.hpp"
#include "sagips/record/run_files.hpp"
#include "sagips/record/run_status.hpp"

namespace sagips::record {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> places{"run.folder", "run.name"};
constexpr auto lock_timeout = std::chrono::seconds(3);

double now_s() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string config_path(const std::string& folder) {
  return core::text(folder, "/", run_files::config.name);
}

OpenedRun begin(RunDirectory directory, const RunIdentity& identity) {
  core::write_file(config_path(directory.path()), identity.effective_config);
  write_run_record(directory.path(), {identity.command, RunStatus::unfinished, now_s(),
                                      draw_run_id(), identity.data});
  return {std::move(directory), false, {}, {}, {}};
}

bool goes_on(const RunRecord& record, const RunIdentity& identity) {
  return record.command == identity.command && !has_other_data(record, identity) &&
         (record.status == RunStatus::unfinished || record.status == RunStatus::stopped ||
          (identity.goes_on_after_end && record.epochs_left));
}

// Runs that the same command has left, the newest first. What cannot be read is no such run.
std::vector<std::string> candidates(const std::string& parent, const RunIdentity& identity) {
  std::vector<std::pair<double, std::string>> found;
  std::error_code problem;
  for (const auto& entry : fs::directory_iterator(parent, problem)) {
    const std::string folder = entry.path().string();
    const auto record = read_run_record(folder);
    if (!record || !goes_on(*record, identity)) continue;
    try {
      const std::string config = core::read_file(config_path(folder));
      if (core::config_scalar(config, folder, "run.name").empty() &&
          core::config_differences(config, identity.effective_config, folder,
                                   keys_beside_identity())
              .empty())
        found.emplace_back(record->started_s, folder);
    } catch (const core::Error&) {
    }
  }
  std::sort(found.rbegin(), found.rend());
  std::vector<std::string> folders;
  for (auto& [started, folder] : found) folders.push_back(std::move(folder));
  return folders;
}

// From now on the folder says what this command says.
OpenedRun go_on(RunDirectory directory, const RunRecord& record, const RunIdentity& identity) {
  const std::string config = config_path(directory.path());
  std::string before = core::read_file(config);
  std::vector<std::string> changes =
      core::config_differences(before, identity.effective_config, config, places);
  if (!changes.empty()) core::write_file(config, identity.effective_config);
  const bool other_data = has_other_data(record, identity);
  if (other_data) changes.push_back(data_change(record, identity));
  RunRecord now = record;
  now.status = RunStatus::unfinished;
  now.epochs_left = false;
  if (!identity.data.empty()) now.data = identity.data;
  write_run_record(directory.path(), now);
  return {std::move(directory), true, record, std::move(before), std::move(changes), other_data};
}

std::optional<OpenedRun> newest(const std::string& parent, const RunIdentity& identity) {
  for (const std::string& folder : candidates(parent, identity)) {
    auto directory = RunDirectory::lock(folder);
    if (!directory) continue;
    const auto record = read_run_record(folder);  // it may have come to its end meanwhile
    if (!record || !goes_on(*record, identity)) continue;
    return go_on(std::move(*directory), *record, identity);
  }
  return {};
}

[[noreturn]] void refuse(const std::string& folder, const std::string& problem) {
  throw core::StorageError(folder, problem);
}

bool is_member_of_study(const std::string& folder) {
  return fs::path(folder).parent_path().parent_path().filename() == run_files::members.name;
}

void check_changes(const std::string& folder, const std::vector<std::string>& changes,
                   Start start) {
  if (changes.empty() || start == Start::with_changes) return;
  refuse(
      folder,
      core::text(
          "this run was begun with another config (it would no longer be what its config says): ",
          core::join(changes, "; "),
          is_member_of_study(folder)
              ? ". It is a member of a study, begun by another build or changed since: remove its "
                "folder to have it trained anew, or begin a study of another name."
              : ". Go on with the new values with --override, or choose another run.name."));
}

// A launcher that is told to stop may be gone before its ranks: who starts again at once meets them.
std::optional<RunDirectory> lock_soon(const std::string& folder) {
  const auto end = std::chrono::steady_clock::now() + lock_timeout;
  for (;;) {
    auto directory = RunDirectory::lock(folder);
    if (directory || std::chrono::steady_clock::now() > end) return directory;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

// Whether the process that made this folder was killed before it came to anything.
bool is_empty_run(const std::string& folder) {
  const std::vector<std::string> early{"README.txt", run_files::config.name, run_files::lock.name};
  std::error_code problem;
  for (const auto& entry : fs::directory_iterator(folder, problem)) {
    const std::string name = entry.path().filename().string();
    const bool aside = name.rfind(".sagips-", 0) == 0;
    if (!aside && std::find(early.begin(), early.end(), name) == early.end()) return false;
  }
  return !problem;
}

// Whether what a finished run has left can be gone on with, by this command.
bool goes_on_after_end(const std::string& folder, const RunIdentity& identity) {
  const CheckpointStore store(core::text(folder, "/", run_files::checkpoints.name), {}, 1);
  return identity.goes_on_after_end && !store.names().empty();
}

OpenedRun named(const std::string& folder, const RunIdentity& identity, Start start) {
  const auto first_look = read_run_record(folder);
  if (!first_look && is_empty_run(folder))
    if (auto directory = RunDirectory::lock(folder);
        directory && !read_run_record(folder) && is_empty_run(folder))  // still so
      return begin(std::move(*directory), identity);
  if (start == Start::fresh || !first_look ||
      (first_look->status == RunStatus::finished && !goes_on_after_end(folder, identity)))
    refuse(folder, core::text("a run of this name is already there (it would be overwritten). "
                              "Choose another name, or none to get the time",
                              start == Start::fresh && first_look
                                  ? "; without --fresh it is resumed unless it has finished."
                                  : "."));
  if (first_look->command != identity.command)
    refuse(folder, core::text("this run was made by `sagips ", core::excerpt(first_look->command),
                              "` (`sagips ", identity.command,
                              "` cannot go on with it). Choose another name."));
  auto directory = lock_soon(folder);
  if (!directory)
    refuse(folder,
           "this run is going on just now (two processes would write the same files). Wait for its "
           "end, or choose another run.name.");
  const RunRecord record = read_run_record(folder).value_or(*first_look);
  auto changes =
      core::config_differences(core::read_file(config_path(folder)), identity.effective_config,
                               config_path(folder), keys_beside_identity());
  if (has_other_data(record, identity)) changes.push_back(data_change(record, identity));
  const bool is_over = record.status == RunStatus::finished && !record.epochs_left;
  if (is_over && (changes.empty() || !goes_on_after_end(folder, identity)))
    refuse(folder, core::text("this run has finished (nothing is left to be done). ",
                              identity.goes_on_after_end
                                  ? "Raise a limit to go on (train.epochs=N --override), or choose "
                                    "another run.name."
                                  : "Choose another run.name."));
  check_changes(folder, changes, start);
  return go_on(std::move(*directory), record, identity);
}

}  // namespace

bool has_other_data(const RunRecord& record, const RunIdentity& identity) {
  return !record.data.empty() && !identity.data.empty() && record.data != identity.data;
}

std::string data_change(const RunRecord& record, const RunIdentity& identity) {
  return core::text("content of the data file: ", record.data, " -> ", identity.data);
}

const std::vector<std::string>& keys_beside_identity() {
  static const std::vector<std::string> keys{
      "run.folder",      "run.name",       "run.figures",   "figures.width", "figures.font_size",
      "run.tensorboard", "train.timeline", "train.monitor", "device"};
  return keys;
}

Start start_of(bool fresh, bool with_changes) {
  if (fresh && with_changes)
    throw core::ConfigError(
        "command line",
        "--fresh begins anew and --override goes on (they exclude each other). Leave one out.");
  return fresh ? Start::fresh : with_changes ? Start::with_changes : Start::resume;
}

OpenedRun open_run(const RunConfig& config, const RunIdentity& identity, Start start) {
  const fs::path parent = fs::path(config.folder) / identity.workload;
  if (config.name.empty()) {
    if (start == Start::with_changes)
      throw core::ConfigError("command line",
                              "--override needs to know which run is meant (its config differs "
                              "from this one). Name it with run.name=NAME.");
    if (start == Start::resume)
      if (auto run = newest(parent.string(), identity)) return std::move(*run);
  } else if (RunDirectory::is_name(config.name) && fs::is_directory(parent / config.name)) {
    return named((parent / config.name).string(), identity, start);
  } else if (start == Start::with_changes) {
    throw core::ConfigError("run.name",
                            core::text("there is no run '", core::excerpt(config.name),
                                       "' that --override could go on with. Correct the name, or "
                                       "leave --override out to begin one."));
  }
  return begin(RunDirectory(config, identity.workload), identity);
}

}  // namespace sagips::record

#include "sagips/record/run_directory.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"
#include "sagips/record/run_files.hpp"

namespace sagips::record {
namespace {

constexpr int most_names_tried = 1000;

std::string reason(int code) { return std::system_category().message(code); }

void remove_folders(const std::string& run_folder, const std::vector<std::string>& parents) {
  std::error_code ignored;
  if (!run_folder.empty()) std::filesystem::remove_all(run_folder, ignored);
  // Another run may have settled in a parent meanwhile: rmdir leaves a folder that is not empty.
  for (auto parent = parents.rbegin(); parent != parents.rend(); ++parent) ::rmdir(parent->c_str());
}

/// Removes what a failed construction has made; the destructor acts unless `keep` was called.
class Undo {
 public:
  Undo() = default;
  Undo(const Undo&) = delete;
  Undo& operator=(const Undo&) = delete;
  ~Undo() { remove_folders(run_folder_, parents_); }
  void made_parent(std::string path) { parents_.push_back(std::move(path)); }
  void made_run_folder(std::string path) { run_folder_ = std::move(path); }
  /// returns: the parents that were made, the outermost first
  std::vector<std::string> keep() {
    run_folder_.clear();
    return std::exchange(parents_, {});
  }

 private:
  std::vector<std::string> parents_;
  std::string run_folder_;
};

void check_name(const std::string& what, const std::string& name) {
  if (!RunDirectory::is_name(name))
    throw core::ConfigError(what,
                            core::text("'", name,
                                       "' cannot be the name of one folder (empty, '.', '..', "
                                       "with '/' or a control character). Use a plain name."));
}

bool is_folder(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored);
}

void make_parents(const std::filesystem::path& whole, Undo& undo) {
  std::filesystem::path path;
  for (const auto& part : whole) {
    path /= part;
    if (is_folder(path)) continue;
    if (::mkdir(path.c_str(), 0777) == 0) {
      undo.made_parent(path.string());
      continue;
    }
    const int code = errno;
    if (code == EEXIST && is_folder(path)) continue;  // another run was faster
    throw core::StorageError(path.string(),
                             core::text("cannot make this folder for runs (", reason(code),
                                        "). Choose another place for runs."));
  }
}

/// Whether the folder is new; false when the name is taken.
bool make_run_folder(const std::string& path, Undo& undo) {
  if (::mkdir(path.c_str(), 0777) == 0) {
    undo.made_run_folder(path);
    return true;
  }
  if (errno == EEXIST) return false;
  if (errno == ENAMETOOLONG)
    throw core::ConfigError("run.name", core::text("'", core::excerpt(path),
                                                   "' is too long for a "
                                                   "folder of this file system. Shorten it."));
  throw core::StorageError(path, core::text("cannot make the run folder (", reason(errno),
                                            "). Choose another place for runs."));
}

std::string local_time(const char* format) {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  localtime_r(&now, &parts);
  char buffer[64];
  return {buffer, std::strftime(buffer, sizeof buffer, format, &parts)};
}

std::string make_named_folder(const std::filesystem::path& parent, const std::string& name,
                              Undo& undo) {
  std::string path = (parent / name).string();
  if (!make_run_folder(path, undo)) throw RunDirectory::taken(path);
  return path;
}

std::string make_timed_folder(const std::filesystem::path& parent, Undo& undo) {
  const std::string time = local_time("%Y-%m-%d_%H-%M-%S");
  for (int count = 1; count <= most_names_tried; ++count) {
    const std::string name = count == 1 ? time : core::text(time, "-", count);
    std::string path = (parent / name).string();
    if (make_run_folder(path, undo)) return path;
  }
  throw core::StorageError((parent / time).string(),
                           core::text("this name and ", most_names_tried,
                                      " numbered ones are taken. Give the run a name."));
}

void write_readme(const std::string& path, const std::string& workload) {
  std::string content = core::text("One run of SAGIPS: workload ", workload, ", started ",
                                   local_time("%Y-%m-%d %H:%M:%S"), ".\n\n");
  for (const RunFile& file : run_files::all) {
    std::string name = file.name;
    name.resize(26, ' ');
    content += core::text(name, file.content, "\n");
  }
  content += "\nA file that is missing was not asked for, or the run ended before it was due.\n";
  core::write_file(path + "/README.txt", content);
}

}  // namespace

core::Descriptor take_lock(const std::string& path) {
  core::Descriptor lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (lock.number() >= 0 && ::flock(lock.number(), LOCK_EX | LOCK_NB) == 0) return lock;
  if (errno == EWOULDBLOCK) return core::Descriptor();
  throw core::StorageError(path, core::text("cannot be locked (", reason(errno),
                                            "). Choose a file system that offers flock."));
}

void RunConfig::fields(core::FieldList& list) {
  list.add("folder", folder, "where runs are kept: <folder>/<workload>/<name>");
  list.add("name", name, "name of this run's folder; empty: the local time");
  list.add("seed", seed, "every random number of the run follows from it",
           core::Range::at_least(0));
  list.add("figures", figures, "draw figures at the end of the run (needs gnuplot)");
  list.add(
      "fit", fit,
      "fit the same events by maximum likelihood beside a training, where the density is known");
  list.add("tensorboard", tensorboard, "write event files for TensorBoard while training");
}

RunDirectory::RunDirectory(const RunConfig& config, const std::string& workload) {
  check_name("workload", workload);
  if (!config.name.empty()) check_name("name of the run", config.name);
  if (core::trim(config.folder).empty())
    throw core::ConfigError("folder for runs", "is empty. Name one, e.g. 'runs'.");
  const auto parent = std::filesystem::path(config.folder) / workload;
  Undo undo;
  make_parents(parent, undo);
  path_ = config.name.empty() ? make_timed_folder(parent, undo)
                              : make_named_folder(parent, config.name, undo);
  lock_ = take_lock(file(run_files::lock.name));
  if (lock_.number() < 0) {  // between making and locking it
    undo.keep();
    throw core::StorageError(path_,
                             "another process has just taken this folder (both would write the "
                             "same files). Start again.");
  }
  write_readme(path_, workload);
  core::sync_folder(path_);
  core::sync_folder(parent.string());
  made_parents_ = undo.keep();
}

void RunDirectory::discard() const { remove_folders(path_, made_parents_); }

std::optional<RunDirectory> RunDirectory::lock(const std::string& path) {
  core::Descriptor lock = take_lock(core::text(path, "/", run_files::lock.name));
  if (lock.number() < 0) return {};
  return RunDirectory(path, std::move(lock));
}

core::StorageError RunDirectory::taken(const std::string& path) {
  return {path,
          "a run of this name is already there (it would be overwritten). Choose another name, or "
          "none to get the time."};
}

bool RunDirectory::is_name(const std::string& name) {
  const bool special = name == "." || name == "..";
  const bool control = name.find_first_of(std::string("\n\r\t\0", 4)) != std::string::npos;
  return !core::trim(name).empty() && !special && !control && name.find('/') == std::string::npos;
}

void RunDirectory::finish(RunStatus status, bool epochs_left) const {
  write_run_status(path_, status, epochs_left);
}

std::string RunDirectory::folder(const std::string& name) const {
  std::string path = file(name);
  std::error_code problem;
  std::filesystem::create_directories(path, problem);
  if (problem)
    throw core::StorageError(path, core::text("cannot make this folder (", problem.message(),
                                              "). Free space or give the right to write."));
  return path;
}

}  // namespace sagips::record

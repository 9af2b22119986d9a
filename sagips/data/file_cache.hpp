#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "sagips/core/config/config.hpp"
#include "sagips/core/file.hpp"

namespace sagips::data {

struct FileCacheConfig {
  /// Empty: sagips-cache-UID in $TMPDIR, or else in /tmp. One that is not there is made for this user
  /// alone.
  std::string folder{};
  double limit_GB = 100;     ///< 1e9 bytes each; what all files of the folder may take
  std::string copy{};        ///< "xrdcp {} {}": copies a file to a place; empty: nothing is copied
  double copy_minutes = 60;  ///< a copy that takes longer has failed

  void fields(core::FieldList& list);
};

/// Copies of files on a disk of this node, which all processes of a user share: each is made once,
/// and those that nobody uses go, the one whose use is longest ago first, when there is no room for
/// another. An object keeps what it gave in use until it ends, with one open file for each.
///
/// Several objects may share a folder, in a process or not; one thread at a time uses an object. A
/// process that wants a file which another one is making waits for it, as long as that takes.
/// Every function throws ConfigError when the folder cannot be used, or the limit or the disk leaves no
/// room.
class FileCache {
 public:
  /// Writes a file to the path that it gets; its folder is there.
  using Maker = std::function<void(const std::string& path)>;

  /// Makes no folder yet: a run that needs no copy must not fail for want of a place. throws:
  /// ConfigError when `copy` is no command with two {}
  explicit FileCache(FileCacheConfig config);
  /// Whether files have to be copied before they are read.
  bool copies() const { return !config_.copy.empty(); }

  /// The local copy of a file by the copy command, or `source` itself without one. A local file
  /// that has changed is copied anew; a remote one is known by its name alone, and its copy stays.
  /// throws: ConfigError when the command cannot start, DataError when it fails or does not end
  std::string copied(const std::string& source);

  /// The file that `make` writes. Only `name` tells it from all others: callers put in the path,
  /// size and time of change of what it is made of, and what else its content depends on. Messages
  /// say its first line. The file ends as the name does, which may say its format.
  /// bytes: what it will take, so that others make room before; 0: unknown, they do after
  /// throws: what `make` throws; DataError when it writes nothing
  std::string made(const std::string& name, std::uint64_t bytes, const Maker& make);

 private:
  std::string entry(const std::string& key, const std::string& name, std::uint64_t bytes,
                    const Maker& make);
  void make_folder() const;
  void fill(const std::string& path, const std::string& name, std::uint64_t bytes,
            const Maker& make) const;
  void make_room(const std::string& path, const std::string& name, std::uint64_t bytes) const;
  bool remove_unused(const std::string& lock, const std::vector<std::string>& files) const;
  void copy(const std::string& source, const std::string& target) const;
  core::Descriptor open_lock(const std::string& path) const;
  core::Descriptor lock_folder() const;
  bool take(const core::Descriptor& lock, int how) const;
  [[noreturn]] void refuse_folder(const std::string& reason) const;

  FileCacheConfig config_;
  std::string folder_;                            ///< absolute
  std::vector<std::string> words_;                ///< of the copy command
  std::map<std::string, core::Descriptor> held_;  ///< shared locks, by the path of what is in use
};

}  // namespace sagips::data

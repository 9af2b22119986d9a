#include "sagips/data/file_cache.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iomanip>
#include <optional>
#include <thread>
#include <utility>

#include "sagips/core/error.hpp"
#include "sagips/core/hash.hpp"
#include "sagips/core/process/child_process.hpp"
#include "sagips/core/text.hpp"

namespace sagips::data {

using core::ConfigError;
using core::DataError;
using core::Descriptor;
using core::text;

namespace {

constexpr auto nap = std::chrono::milliseconds(20);
constexpr const char* lock_ending = ".lock";
constexpr std::size_t digits = 16;  // with which the name of each file of an entry begins

/// All files of one entry: itself, its lock, and what is beside it while it is made.
struct Entry {
  std::vector<std::string> files{};  ///< without the lock
  std::string lock{};
  std::uint64_t bytes = 0;
  std::filesystem::file_time_type used{};
};

bool is_file(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

// The end of a name, which says the format, in letters that every command takes.
std::string safe_ending(const std::string& name) {
  constexpr std::size_t longest = 100;
  std::string ending = name.substr(name.find_last_of('/') + 1);
  if (ending.size() > longest) ending.erase(0, ending.size() - longest);
  for (char& letter : ending)
    if (std::isalnum(static_cast<unsigned char>(letter)) == 0 && letter != '.' && letter != '-')
      letter = '_';
  return ending.ends_with(lock_ending) ? ending + "_" : ending;
}

// By the digits that the names begin with; what else lies in the folder is not ours to count or
// remove.
std::map<std::string, Entry> entries_in(const std::string& folder, std::error_code& problem) {
  namespace files = std::filesystem;
  std::map<std::string, Entry> entries;
  std::error_code gone;  // another process has removed a file meanwhile
  for (files::directory_iterator file(folder, problem), end; !problem && file != end;
       file.increment(problem)) {
    const std::string path = file->path().string(), name = file->path().filename().string();
    if (name.find_first_not_of("0123456789abcdef") != digits || name[digits] != '-') continue;
    Entry& entry = entries[name.substr(0, digits)];
    if (name.ends_with(lock_ending)) {
      entry.lock = path;
      entry.used = file->last_write_time(gone);
    } else {
      entry.files.push_back(path);
      const std::uint64_t bytes = file->file_size(gone);
      entry.bytes += gone ? 0 : bytes;
    }
  }
  return entries;
}

std::string digits_of(const std::string& path) {
  return std::filesystem::path(path).filename().string().substr(0, digits);
}

void remove_files(const std::vector<std::string>& files) {
  std::error_code ignored;
  for (const std::string& file : files) std::filesystem::remove_all(file, ignored);
}

std::vector<std::string> words_of(const std::string& command) {
  std::vector<std::string> words;
  bool inside = false;
  char quote = '\0';
  for (const char letter : command) {
    const bool blank = quote == '\0' && std::isspace(static_cast<unsigned char>(letter)) != 0;
    if (!blank && !inside) words.emplace_back();
    inside = !blank;
    if (blank) continue;
    if (quote == '\0' && (letter == '\'' || letter == '"'))
      quote = letter;
    else if (letter == quote)
      quote = '\0';
    else
      words.back() += letter;
  }
  if (quote != '\0')
    throw ConfigError(
        "data.cache.copy",
        text("'", command, "' opens a quote and does not close it. Add ", quote, "."));
  return words;
}

// Puts the values in place of the {}, one after the other; returns how many {} there are.
std::size_t put_in(std::vector<std::string>& words, const std::vector<std::string>& values) {
  std::size_t count = 0;
  for (std::string& word : words)
    for (std::size_t at = 0; (at = word.find("{}", at)) != std::string::npos; ++count) {
      const std::string value = count < values.size() ? values[count] : "{}";
      word.replace(at, 2, value);
      at += value.size();
    }
  return count;
}

// Empty when it had to be killed.
std::optional<core::Ending> run(const core::ChildProgram& program, double minutes) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::duration<double, std::ratio<60>>(minutes);
  try {
    const core::ChildProcess process(program);
    for (;; std::this_thread::sleep_for(nap)) {
      const std::optional<core::Ending> ending = process.ended();
      if (ending || Clock::now() > deadline) return ending;
    }
  } catch (const core::StartError& error) {
    throw ConfigError("data.cache.copy", error.what());
  }
}

// What the user knows of a name.
std::string shown(const std::string& name) { return name.substr(0, name.find('\n')); }

// Why a file cannot grow when that is for want of room; empty: for another reason, or it can. Who has
// failed to write it may not say so: the message of a command goes to the same disk.
std::string want_of_room(const std::string& path) {
  constexpr std::size_t most_left = std::size_t{1} << 16;
  Descriptor file(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666));
  if (file.number() >= 0 && core::write_all(file.number(), std::string(most_left, '\0')) &&
      ::fsync(file.number()) == 0 && file.close())
    return {};
  const bool is_full = errno == ENOSPC || errno == EDQUOT || errno == EFBIG;
  return is_full ? std::strerror(errno) : "";
}

// " (its last line)", from where a bar of progress was drawn last.
std::string last_said(const std::string& log) {
  constexpr std::size_t longest = 200;
  std::string said = core::trim(core::read_file(log));
  said = said.substr(said.find_last_of("\r\n") + 1);
  if (said.empty()) return {};
  return text(" (", said.substr(0, longest), said.size() > longest ? "...)" : ")");
}

}  // namespace

void FileCacheConfig::fields(core::FieldList& list) {
  const core::Range positive = core::Range::positive();
  list.add_path(
      "folder", folder,
      "on a disk of this node, shared by its processes; '' is sagips-cache-UID in TMPDIR");
  list.add("limit_GB", limit_GB, "what the files of the folder may take together", positive);
  list.add(
      "copy", copy,
      "copies a file of another machine (s3://..., root://...), the first {}, to the second, as "
      "'xrdcp {} {}' does");
  list.add("copy_minutes", copy_minutes, "a copy that takes longer has failed", positive);
}

FileCache::FileCache(FileCacheConfig config) : config_(std::move(config)) {
  const char* temporary = std::getenv("TMPDIR");
  if (temporary == nullptr || *temporary == '\0') temporary = "/tmp";
  const std::string usual = text(temporary, "/sagips-cache-", ::geteuid());
  const std::string folder = config_.folder.empty() ? usual : config_.folder;
  // The path of a file in it has a folder without a slash at its end.
  folder_ = std::filesystem::absolute(folder + "/x").lexically_normal().parent_path().string();
  words_ = words_of(config_.copy);
  const std::size_t places = put_in(words_, {});
  if (!config_.copy.empty() && places != 2)
    throw ConfigError(
        "data.cache.copy",
        text("'", config_.copy, "' has ", places,
             " {} instead of two. Write the first where the command expects the file, "
             "and the second where it expects the place of the copy."));
}

std::string FileCache::copied(const std::string& source) {
  if (words_.empty()) return source;
  std::string key = text("copied\n", config_.copy, '\n', source), name = source;
  std::uint64_t bytes = 0;
  struct stat status {};
  if (::stat(source.c_str(), &status) == 0 && S_ISREG(status.st_mode)) {
    bytes = static_cast<std::uint64_t>(status.st_size);
    key += text('\n', std::filesystem::absolute(source).string(), '\n', bytes, '\n',
                status.st_mtim.tv_sec, '.', status.st_mtim.tv_nsec);
  } else {
    name.resize(std::min(name.size(), name.find('?')));  // rights and options, not the format
  }
  return entry(key, name, bytes, [&](const std::string& path) { copy(source, path); });
}

std::string FileCache::made(const std::string& name, std::uint64_t bytes, const Maker& make) {
  return entry("made\n" + name, name, bytes, make);
}

// The lock is shared by all who use the file, and held alone by who makes or removes it.
std::string FileCache::entry(const std::string& key, const std::string& name, std::uint64_t bytes,
                             const Maker& make) {
  make_folder();
  std::string path = text(folder_, '/', std::hex, std::setw(digits), std::setfill('0'),
                          core::fnv1a(key), '-', safe_ending(name));
  if (const auto held = held_.find(path); held != held_.end() && !is_file(path))
    held_.erase(held);  // somebody has removed it by hand, and our own lock must not keep us out
  for (;; std::this_thread::sleep_for(nap)) {
    Descriptor lock = open_lock(path + lock_ending);
    if (!take(lock, LOCK_SH)) continue;
    if (!is_file(path)) {
      if (!take(lock, LOCK_EX)) continue;
      if (!is_file(path)) fill(path, name, bytes, make);
      // flock lets one lock go before it takes the other: the file may be removed in between.
      if (!take(lock, LOCK_SH) || !is_file(path)) continue;
    }
    ::futimens(lock.number(), nullptr);  // the time of this use
    held_.try_emplace(path, std::move(lock));
    return path;
  }
}

void FileCache::make_folder() const {
  std::error_code problem;
  std::filesystem::create_directories(std::filesystem::path(folder_).parent_path(), problem);
  if (problem) refuse_folder(problem.message());
  if (::mkdir(folder_.c_str(), 0700) != 0 && errno != EEXIST) refuse_folder(std::strerror(errno));
  if (!config_.folder.empty()) return;
  // Everybody can guess this name, and make it in /tmp before us.
  struct stat status {};
  if (::lstat(folder_.c_str(), &status) != 0 || !S_ISDIR(status.st_mode) ||
      status.st_uid != ::geteuid())
    refuse_folder("it is no folder of this user, and others could change what is read there");
}

void FileCache::fill(const std::string& path, const std::string& name, std::uint64_t bytes,
                     const Maker& make) const {
  const auto remove_beside = [&] {
    std::error_code ignored;
    remove_files(entries_in(folder_, ignored)[digits_of(path)].files);
  };
  // With the number of this process: the command of a killed one may still write its own.
  const std::string aside = text(path, '.', ::getpid(), ".tmp");
  Descriptor alone;
  try {
    remove_beside();  // what a killed process has left
    if (bytes > 0) {
      alone = lock_folder();
      make_room(path, name, bytes);
      alone.close();
    }
    make(aside);
    if (!is_file(aside)) throw DataError(name, "no file came of it. Look at what makes it.");
    alone = lock_folder();
    make_room(path, name, std::filesystem::file_size(aside));
    if (::rename(aside.c_str(), path.c_str()) != 0) refuse_folder(std::strerror(errno));
  } catch (...) {
    const std::string full = want_of_room(aside);  // before what is half written gives room back
    remove_beside();  // before others may add files: what had no room must not count for them
    ::unlink((path + lock_ending).c_str());  // last: others see by it that they wait for nothing
    if (full.empty()) throw;
    throw ConfigError("data.cache.folder",
                      text("'", folder_, "' has no room for '", shown(name), "' (", full,
                           "). Free space there, choose another folder, or lower "
                           "data.cache.limit_GB, so that older copies make room."));
  }
}

Descriptor FileCache::open_lock(const std::string& path) const {
  Descriptor lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (lock.number() >= 0) return lock;
  refuse_folder(text(std::strerror(errno),
                     errno == EMFILE ? "; each copy in use is an open file, see ulimit -n" : ""));
}

// False while another one has it, and when it was removed together with its file.
bool FileCache::take(const Descriptor& lock, int how) const {
  struct stat status {};
  if (::flock(lock.number(), how | LOCK_NB) == 0)
    return ::fstat(lock.number(), &status) == 0 && status.st_nlink > 0;
  if (errno != EWOULDBLOCK && errno != EINTR) refuse_folder(std::strerror(errno));
  return false;
}

// Who holds it may add a file, so that two at once do not fill the same room.
Descriptor FileCache::lock_folder() const {
  for (;; std::this_thread::sleep_for(nap)) {
    Descriptor lock = open_lock(folder_ + "/lock");
    if (take(lock, LOCK_EX)) return lock;
  }
}

void FileCache::make_room(const std::string& path, const std::string& name,
                          std::uint64_t bytes) const {
  const double limit = config_.limit_GB * 1e9, needed = static_cast<double>(bytes);
  std::error_code problem;
  std::map<std::string, Entry> entries = entries_in(folder_, problem);
  if (problem) refuse_folder(problem.message());
  entries.erase(digits_of(path));
  std::vector<Entry> others;
  double used = 0;
  for (const auto& one : entries) {
    others.push_back(one.second);
    used += static_cast<double>(one.second.bytes);
  }
  std::ranges::stable_sort(others, {}, &Entry::used);
  for (const Entry& entry : others) {
    if (used + needed <= limit || needed > limit) break;
    if (remove_unused(entry.lock, entry.files)) used -= static_cast<double>(entry.bytes);
  }
  if (used + needed <= limit) return;
  throw ConfigError("data.cache.limit_GB",
                    text("'", shown(name), "' takes ", needed / 1e9, " GB, and '", folder_,
                         "' may hold ", config_.limit_GB, " GB",
                         needed > limit ? "" : text(", of which ", used / 1e9, " GB are in use"),
                         ". Raise the limit if the disk has room, or use less at a time."));
}

bool FileCache::remove_unused(const std::string& lock,
                              const std::vector<std::string>& files) const {
  const Descriptor alone(::open(lock.c_str(), O_RDWR | O_CLOEXEC));
  if (alone.number() < 0 || !take(alone, LOCK_EX)) return false;
  remove_files(files);
  ::unlink(lock.c_str());
  return true;
}

void FileCache::copy(const std::string& source, const std::string& target) const {
  core::ChildProgram program{.arguments = words_,
                             .log = target + ".log",
                             .advice = "Install it, or change data.cache.copy."};
  put_in(program.arguments, {source, target});
  const std::optional<core::Ending> ending = run(program, config_.copy_minutes);
  const std::string said = last_said(program.log),
                    begin = text("was not copied: '", words_[0], "' ");
  if (!ending)
    throw DataError(source, text(begin, "had not ended after the ", config_.copy_minutes,
                                 " minutes of data.cache.copy_minutes", said,
                                 ". Give it more, or see what it waits for."));
  const std::string advice = text(said, ". Check data.cache.copy.");
  if (ending->signal != 0)
    throw DataError(source, text(begin, "was ended by signal ", ending->signal, advice));
  if (ending->exit_code != 0)
    throw DataError(source, text(begin, "ended with ", ending->exit_code, advice));
  if (!is_file(target)) throw DataError(source, text(begin, "ended well and left no file", advice));
  ::unlink(program.log.c_str());
}

void FileCache::refuse_folder(const std::string& reason) const {
  throw ConfigError("data.cache.folder",
                    text("'", folder_, "' cannot be used (", reason,
                         "). Choose a folder with free space and the right to write."));
}

}  // namespace sagips::data

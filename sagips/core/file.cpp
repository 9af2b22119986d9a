#include "sagips/core/file.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <utility>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::core {
namespace {

[[noreturn]] void refuse_to_write(const std::string& path, const std::string& reason) {
  throw StorageError(path, text("cannot be written (", reason,
                                "). Choose a place with write permission and free space."));
}

[[noreturn]] void refuse_to_read(const std::string& path, const std::string& reason) {
  throw DataError(path, text("cannot be read (", reason, "). Check the path and its permissions."));
}

// A link stays a link: what it points at is replaced. A device is refused: a rename would replace
// /dev/null itself.
std::string regular_target(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return path;
  if (S_ISDIR(status.st_mode)) refuse_to_write(path, "a folder of that name is there");
  if (!S_ISREG(status.st_mode)) refuse_to_write(path, "it is not a regular file");
  const std::unique_ptr<char, decltype(&::free)> resolved(::realpath(path.c_str(), nullptr),
                                                          &::free);
  return resolved ? std::string(resolved.get()) : path;
}

// Names of what is being written. A signal handler may take no lock, and another thread may be at the end of
// one: whoever takes a name out has it for himself. More at once than there are places are left out.
// Those that a handler has removed are kept: it may not free them either.
std::array<std::atomic<char*>, 64> unfinished_files{}, removed_files{};
static_assert(std::atomic<char*>::is_always_lock_free);

char* note_unfinished(const std::string& path) {
  char* const name = ::strdup(path.c_str());
  for (std::atomic<char*>& place : unfinished_files)
    if (char* nothing = nullptr; place.compare_exchange_strong(nothing, name)) return name;
  ::free(name);
  return nullptr;
}

void forget_unfinished(char* name) {
  if (name == nullptr) return;
  for (std::atomic<char*>& place : unfinished_files)
    if (char* own = name; place.compare_exchange_strong(own, nullptr)) return ::free(name);
}

/// A file that is being written: its path, its descriptor and its note for `remove_unfinished_files`.
struct Aside {
  std::string path;
  int number;
  char* note;
};

// Beside the target, because a rename is only atomic inside one file system. Opened without
// mkstemp, whose files nobody else may read. Noted before it is made: a signal may come in between.
Aside open_aside(const std::string& target, const std::string& path) {
  const std::string folder = std::filesystem::path(target).parent_path().string();
  for (int attempt = 0;; ++attempt) {
    std::string aside =
        text(folder.empty() ? "." : folder, "/.sagips-", ::getpid(), "-", attempt, ".tmp");
    char* const note = note_unfinished(aside);
    const int number = ::open(aside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (number >= 0) return {std::move(aside), number, note};
    const int why = errno;
    forget_unfinished(note);
    if (why != EEXIST) refuse_to_write(path, std::strerror(why));
  }
}

}  // namespace

void remove_unfinished_files() noexcept {
  const int error = errno;  // of what the signal has interrupted
  for (std::size_t i = 0; i < unfinished_files.size(); ++i)
    if (char* const name = unfinished_files[i].exchange(nullptr)) {
      ::unlink(name);
      removed_files[i] = name;
    }
  errno = error;
}

FileAside::FileAside(const std::string& path) : path_(path), target_(regular_target(path)) {
  Aside aside = open_aside(target_, path);
  aside_ = std::move(aside.path);
  file_ = Descriptor(aside.number);
  unfinished_ = aside.note;
}

FileAside::~FileAside() {
  if (!aside_.empty()) ::unlink(aside_.c_str());
  forget_unfinished(unfinished_);
}

void FileAside::put_in_place() {
  if (::fsync(file_.number()) != 0 || !file_.close() ||
      ::rename(aside_.c_str(), target_.c_str()) != 0)
    refuse_to_write(path_, std::strerror(errno));
  aside_.clear();
}

std::string read_file(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.number() < 0) refuse_to_read(path, std::strerror(errno));
  std::string content;
  if (!read_all(file.number(), content)) refuse_to_read(path, std::strerror(errno));
  return content;
}

void write_file(const std::string& path, const std::string& content) {
  write_pieces(path, [&](std::size_t number) {
    return number == 0 ? std::string_view(content) : std::string_view();
  });
}

void write_pieces(const std::string& path,
                  const std::function<std::string_view(std::size_t number)>& piece) {
  FileAside file(path);
  std::size_t number = 0;
  for (std::string_view one = piece(number); !one.empty(); one = piece(++number))
    if (!write_all(file.number(), one)) refuse_to_write(path, std::strerror(errno));
  file.put_in_place();
}

void sync_folder(const std::string& path) {
  const Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.number() < 0) refuse_to_write(path, std::strerror(errno));
  // EINVAL: a file system that does not offer this
  if (::fsync(folder.number()) != 0 && errno != EINVAL) refuse_to_write(path, std::strerror(errno));
}

bool Descriptor::close() { return number_ < 0 || ::close(std::exchange(number_, -1)) == 0; }

Pipe::Pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    throw Error(text("cannot open a pipe (", std::strerror(errno), "). Close some files."));
  read = Descriptor(ends[0]);
  write = Descriptor(ends[1]);
}

bool read_all(int descriptor, std::string& content) {
  // The size is only a hint: it may change while we read, and pipes have none. One byte more lets
  // the loop see the end without growing.
  struct stat status {};
  const bool known = ::fstat(descriptor, &status) == 0 && status.st_size > 0;
  content.resize(known ? static_cast<std::size_t>(status.st_size) + 1 : 4096);
  std::size_t size = 0;
  for (;;) {
    if (size == content.size()) content.resize(2 * size);
    const ssize_t count = ::read(descriptor, content.data() + size, content.size() - size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    if (count == 0) break;
    size += static_cast<std::size_t>(count);
  }
  content.resize(size);
  return true;
}

bool write_all(int descriptor, std::string_view content) {
  while (!content.empty()) {
    const ssize_t count = ::write(descriptor, content.data(), content.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    content.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

}  // namespace sagips::core

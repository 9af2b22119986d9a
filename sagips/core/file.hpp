#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace sagips::core {

/// Whole file as text. throws: DataError when it cannot be opened
std::string read_file(const std::string& path);

/// Writes aside, syncs, renames: a reader sees the old file or the new one, never half. throws:
/// StorageError
void write_file(const std::string& path, const std::string& content);
/// The same piece by piece, up to an empty one. number: counts calls from 0; throws: and what `piece` does
void write_pieces(const std::string& path,
                  const std::function<std::string_view(std::size_t number)>& piece);

/// Removes what is being written aside, so that nothing of it is left of a program that a signal ends. May
/// be called in a signal handler.
void remove_unfinished_files() noexcept;

/// Makes what was renamed, made or removed in a folder survive a power cut, where the file system
/// can. throws: StorageError
void sync_folder(const std::string& path);

/// An open file, folder or end of a pipe, closed with the object. Move-only.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  ~Descriptor() { close(); }
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }

  int number() const { return number_; }  ///< -1: nothing is open
  /// False when what was written is lost: a network file system may report a full disk only here.
  bool close();

 private:
  int number_;
};

/// A file that is written beside its place and put there once it is whole, for who cannot write it by
/// `write_pieces`. It is removed with the object where it has not been put in place.
class FileAside {
 public:
  /// throws: StorageError
  explicit FileAside(const std::string& path);
  ~FileAside();
  FileAside(const FileAside&) = delete;
  FileAside& operator=(const FileAside&) = delete;

  const std::string& path() const { return aside_; }  ///< where it is written
  int number() const { return file_.number(); }       ///< open for writing
  /// Syncs and renames it. throws: StorageError
  void put_in_place();

 private:
  std::string path_, target_, aside_;
  Descriptor file_;
  char* unfinished_ = nullptr;  ///< its name for `remove_unfinished_files`
};

/// What is written to one end is read from the other one. throws: core::Error
struct Pipe {
  Pipe();
  Descriptor read, write;
};

/// All that is left to read; signals do not end it. Returns false, with errno, when that fails.
bool read_all(int descriptor, std::string& content);
/// Writes all of the content; signals do not end it. Returns false, with errno, when it fails.
bool write_all(int descriptor, std::string_view content);

}  // namespace sagips::core

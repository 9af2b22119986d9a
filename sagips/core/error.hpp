#pragma once
#include <stdexcept>
#include <string>

namespace sagips::core {

/// What a shell sees when a command ends.
enum class ExitCode : int { done = 0, failed = 1, bad_input = 2, stopped_early = 3 };

/// Base of every exception that SAGIPS throws on purpose.
///
/// Message grammar: the problem (why it matters), then what to do; one line, no trailing newline
/// (control characters of quoted input become blanks).
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message, ExitCode exit_code = ExitCode::failed);
  ExitCode exit_code() const noexcept { return exit_code_; }

 private:
  ExitCode exit_code_;
};

/// A key, a value or a combination in the config that cannot be used.
/// `where` is the origin that a user can open: "paper.yaml:12", "command line".
class ConfigError : public Error {
 public:
  ConfigError(const std::string& where, const std::string& message);
};

/// A data file that is missing, malformed or empty. Row numbers count from 1, as an editor does.
class DataError : public Error {
 public:
  DataError(const std::string& file, const std::string& message);
  DataError(const std::string& file, std::size_t row, const std::string& message);
};

/// A stage gave something that the pipeline cannot use; `stage` names it.
class ShapeError : public Error {
 public:
  ShapeError(const std::string& stage, const std::string& message);
};

/// A file or folder that cannot be written (no right, no space, already there).
class StorageError : public Error {
 public:
  StorageError(const std::string& path, const std::string& message);
};

/// A saved state that does not fit the object it is given to.
class StateError : public Error {
 public:
  explicit StateError(const std::string& message);
};

}  // namespace sagips::core

#include "sagips/core/error.hpp"

namespace sagips::core {
namespace {

std::string placed(const std::string& where, const std::string& message) {
  return where.empty() ? message : where + ": " + message;
}

// A message may quote a file, and that may hold line ends or a terminal's control codes.
std::string one_line(std::string message) {
  for (char& letter : message)
    if ((letter >= 0 && letter < ' ') || letter == '\x7f') letter = ' ';
  return message;
}

}  // namespace

Error::Error(const std::string& message, ExitCode exit_code)
    : std::runtime_error(one_line(message)), exit_code_(exit_code) {}

ConfigError::ConfigError(const std::string& where, const std::string& message)
    : Error(placed(where, message), ExitCode::bad_input) {}

DataError::DataError(const std::string& file, const std::string& message)
    : Error(placed(file, message), ExitCode::bad_input) {}

DataError::DataError(const std::string& file, std::size_t row, const std::string& message)
    : Error(placed(file + ":" + std::to_string(row), message), ExitCode::bad_input) {}

ShapeError::ShapeError(const std::string& stage, const std::string& message)
    : Error(placed("stage '" + stage + "'", message), ExitCode::bad_input) {}

StorageError::StorageError(const std::string& path, const std::string& message)
    : Error(placed(path, message), ExitCode::bad_input) {}

StateError::StateError(const std::string& message) : Error(message, ExitCode::bad_input) {}

}  // namespace sagips::core

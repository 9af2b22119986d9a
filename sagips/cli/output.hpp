#pragma once
#include <string>

#include "sagips/core/file.hpp"

namespace sagips::cli {

struct OutputConfig {
  bool quiet = false;  ///< what goes to standard output is thrown away
  bool json = false;   ///< else it goes to standard error, and `write` alone to standard output
};

/// Redirects standard output as --quiet and --json ask for it, of child processes too, until it
/// goes out of scope.
class Output {
 public:
  /// throws: core::Error when descriptors have run out
  explicit Output(OutputConfig config);
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  /// To the standard output that the program was started with. throws: StorageError
  void write(const std::string& text) const;

 private:
  core::Descriptor original_;  ///< open while standard output leads elsewhere
};

}  // namespace sagips::cli

#include "sagips/cli/output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <iostream>

#include "sagips/core/error.hpp"

namespace sagips::cli {

Output::Output(OutputConfig config) {
  if (!config.quiet && !config.json) return;
  std::cout.flush();
  original_ = core::Descriptor(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0));
  const core::Descriptor nowhere(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  const int target = config.quiet ? nowhere.number() : STDERR_FILENO;
  if (original_.number() < 0 || ::dup2(target, STDOUT_FILENO) < 0)
    throw core::Error("standard output cannot be redirected. Leave out --quiet and --json.");
}

Output::~Output() {
  std::cout.flush();
  if (original_.number() >= 0) ::dup2(original_.number(), STDOUT_FILENO);
}

void Output::write(const std::string& text) const {
  if (!core::write_all(original_.number(), text))
    throw core::StorageError("standard output", "cannot be written. Read results.json instead.");
}

}  // namespace sagips::cli

#pragma once
#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sagips::cli {

/// A program to start beside this one.
struct ChildProgram {
  std::vector<std::string> arguments;  ///< the first one is the program, looked up in PATH
  std::vector<std::pair<std::string, std::string>> environment{};  ///< set in addition
  std::string log;  ///< file to which its output is added
};

/// How a program ended.
struct Ending {
  int exit_code = 0;
  int signal = 0;  ///< 0: it ended by itself
};

/// A program that runs beside this one, in a process group of its own: Ctrl-C reaches this program
/// alone, which passes it on. It is told to stop (SIGTERM) when this program dies, too.
///
/// When this program is one of an MPI job, the child does not hear of that: the launcher's variables
/// (OMPI_*, PMIX_*, PMI_*, SLURM_*) are taken from its environment.
/// Move-only; one that still runs is killed with the object.
class Child {
 public:
  /// throws: core::Error when it cannot be started, StorageError when its log cannot be written
  explicit Child(const ChildProgram& program);
  ~Child();
  Child(Child&& other) noexcept : process_(std::exchange(other.process_, -1)) {}
  Child& operator=(Child&& other) noexcept {
    std::swap(process_, other.process_);
    return *this;
  }

  /// Does not wait; empty while it runs. Asked until it has ended, and not after.
  std::optional<Ending> ended();
  /// To it and all that it has started.
  void signal(int number) const;

 private:
  pid_t process_ = -1;
};

/// This very program, for children that run it. throws: core::Error
std::string own_program();

}  // namespace sagips::cli

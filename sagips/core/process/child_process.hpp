#pragma once
#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sagips/core/error.hpp"

namespace sagips::core {

/// A program to start beside this one.
struct ChildProgram {
  std::vector<std::string> arguments;  ///< the first one is the program, looked up in PATH
  std::vector<std::pair<std::string, std::string>> environment{};  ///< set in addition
  std::string log{};                  ///< file to which its output is added; empty: thrown away
  std::vector<std::string> hidden{};  ///< variables it must not see, by how their names begin
  int input = -1;                     ///< descriptor to read from; -1: nothing to read
  int output = -1, messages = -1;     ///< descriptors instead of the log
  bool ends_with_us = true;           ///< SIGTERM for it when the thread that started it ends
  std::string advice = "Free memory or processes on this machine.";  ///< if it cannot be started
};

/// A program cannot be started.
class StartError : public Error {
 public:
  StartError(const ChildProgram& program, int code);
  int code() const { return code_; }  ///< errno's

 private:
  int code_;
};

/// How a program ended.
struct Ending {
  int exit_code = 0;
  int signal = 0;  ///< 0: it ended by itself
};

/// A program that runs beside this one, in a process group of its own: Ctrl-C reaches this program
/// alone, which passes it on. What still runs of that group is killed with the object.
class ChildProcess {
 public:
  /// throws: StartError; StorageError when its log cannot be written
  explicit ChildProcess(const ChildProgram& program);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// The id of the process and of its group; no other process gets it before the object ends.
  pid_t number() const { return number_; }
  /// How the program ended, without waiting; empty while it runs.
  std::optional<Ending> ended() const;
  Ending wait() const;
  /// Sends a signal to the program and all that it has started.
  void signal(int number) const;

 private:
  pid_t number_;
};

/// A word as `sh` takes it whole, whatever is in it.
std::string shell_word(const std::string& word);

/// Whether there is a program of that name: a path, or looked up in PATH.
bool is_program(const std::string& name);

/// This very program, for children that run it. throws: core::Error
std::string own_program();

/// The file that this code is in: this program, or the module of Python that it is linked into. What is installed with
/// it lies beside it. throws: core::Error
std::string own_image();

}  // namespace sagips::core

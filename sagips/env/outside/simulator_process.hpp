#pragma once
#include <string>

#include "sagips/core/file.hpp"
#include "sagips/core/process/child_process.hpp"

namespace sagips::env {

/// One running simulator: a command of the user's that answers a line on standard output to each
/// line on standard input, and finds arrays in a scratch folder. docs/guides/my_own_pipeline.md
/// holds the protocol.
///
/// It and everything it starts end with this object and, whatever happens to this program (a second
/// Ctrl-C, kill -9, an abort of the job), with this program: a guardian process waits for that, and
/// then removes the scratch folder.
/// Used by one thread at a time.
class SimulatorProcess {
 public:
  struct Config {
    std::string command;  ///< for /bin/sh
    std::string log;      ///< file that its standard error is added to; empty: none
    double timeout_s = 60;
    std::string folder = ".";  ///< where the command starts
  };
  /// Starts it and exchanges greetings. throws: core::Error
  explicit SimulatorProcess(Config config);
  SimulatorProcess(const SimulatorProcess&) = delete;
  SimulatorProcess& operator=(const SimulatorProcess&) = delete;

  /// Sends a line and waits for the answer `expected`.
  /// throws: core::Error that names the command and what it last said: it hangs, ended, reports an
  /// error, or answers something else
  void ask(const std::string& request, const std::string& expected);
  const std::string& folder() const { return folder_.path; }
  /// "the simulator 'COMMAND' PROBLEM. It last said: '...'. ADVICE"
  [[noreturn]] void fail(const std::string& problem, const std::string& advice) const;

 private:
  struct ScratchFolder {
    ScratchFolder();
    ~ScratchFolder();
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;
    std::string path;
  };
  std::string answer_to(const std::string& request);
  bool read_output();  ///< false at the end of standard output
  void read_messages();
  std::string how_it_ended() const;

  Config config_;
  ScratchFolder folder_;
  /// Both ends of the input stay open here: writing to a simulator that has ended must not end this
  /// program. The lifeline ends when this program does.
  core::Pipe input_, output_, messages_, lifeline_;
  core::ChildProcess process_, guardian_;
  std::string unread_;     ///< of standard output
  std::string last_said_;  ///< the end of standard error
};

}  // namespace sagips::env

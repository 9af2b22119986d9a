#pragma once
#include <nanobind/nanobind.h>

#include <map>
#include <string>
#include <vector>

namespace sagips::python {

namespace nb = nanobind;

/// What a call of SAGIPS is: one of its commands, what it works on, "a.b=c" over its settings, and what else that
/// command takes, by name.
struct Call {
  std::string command, source;
  std::vector<std::string> assignments;
  std::map<std::string, std::vector<std::string>> options;
  nb::object watch;  ///< called with (kind, facts) while it works, at most ten times a second; None: nobody looks
};

/// Does it and returns what there is to say beside the files: `folder`, `complete`, and more by command. The caller
/// holds the interpreter, which is free for other threads meanwhile; handlers of signals run as in any Python code.
/// throws: nb::python_error with the exceptions of python/sagips/errors.py
nb::dict run_call(const Call& call);

/// Ends MPI, where a call has begun it, together with the other ranks. No call may follow.
void end_ranks();

/// The whole command line in this process. program: words that start it again. Returns its exit code.
int run_program(const std::vector<std::string>& words, const std::vector<std::string>& program);

/// Each key of a config with its help and its value, as `sagips explain` has them.
nb::list describe(const std::string& source);

}  // namespace sagips::python

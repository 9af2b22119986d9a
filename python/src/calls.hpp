#pragma once
#include <nanobind/nanobind.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "sagips/run/settings.hpp"

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

const run::Workloads& workloads();

/// Does something without the interpreter, which the caller holds before and after.
/// throws: nb::python_error with the exceptions of python/sagips/errors.py
void guarded(const std::function<void()>& work);

/// Does it and returns what there is to say beside the files: `folder`, `complete`, and more by command. The caller
/// holds the interpreter, which is free for other threads meanwhile; handlers of signals run as in any Python code.
/// throws: nb::python_error with the exceptions of python/sagips/errors.py
nb::dict run_call(const Call& call);

/// How many ranks there are, which are begun where they have not been. throws: core::Error
int begin_ranks();
/// Ends MPI, so that this process may end and the launcher sees no failure in it. collective
void end_ranks();
/// Whether this rank is the first one to say that it has failed: it shows why, and ends them all.
bool claim_failure();
void abort_ranks(int exit_code);

/// The whole command line in this process. program: words that start it again. Returns its exit code.
int run_program(const std::vector<std::string>& words, const std::vector<std::string>& program);

/// Each key of a config with its help and its value, as `sagips explain` has them.
nb::list describe(const std::string& source);

}  // namespace sagips::python

#pragma once
#include <nanobind/nanobind.h>

#include <map>
#include <string>
#include <vector>

#include "sagips/run/settings.hpp"

namespace sagips::python {

namespace nb = nanobind;

const run::Workloads& workloads();

/// Does one of the commands of SAGIPS and returns what there is to say beside the files: `folder`, and more by command.
/// The caller holds the interpreter, which is free for other threads meanwhile; handlers of signals run as in any
/// Python code.
/// source: what it works on; assignments: "a.b=c" over its settings; options: what else that command takes, by name
/// watch: called with (kind, facts) while it works, at most ten times a second; None: nobody looks
nb::dict run_call(const std::string& command, const std::string& source,
                  const std::vector<std::string>& assignments,
                  const std::map<std::string, std::vector<std::string>>& options, const nb::object& watch);

/// How many ranks there are, which are begun where they have not been. From then on this process takes leave of them
/// when it ends, or ends them all where its exit code is not 0. throws: core::Error
int begin_ranks();
/// Whether this rank is the first one to say that it has failed: it shows why, and ends them all.
bool claim_failure();
/// Ends all ranks, after the first one that has failed.
void abort_ranks(int exit_code);

/// The whole command line in this process. program: words that start it again. Returns its exit code.
int run_program(const std::vector<std::string>& words, const std::vector<std::string>& program);

/// Each key of a config with its help and its value, as `sagips explain` has them.
std::vector<std::map<std::string, std::string>> describe(const std::string& source);

}  // namespace sagips::python

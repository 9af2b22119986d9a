#pragma once
#include <map>
#include <string>
#include <vector>

#include "sagips/comm/ranks.hpp"
#include "sagips/core/error.hpp"
#include "sagips/record/open_run.hpp"
#include "sagips/run/effects.hpp"

namespace sagips::cli {

using run::Job;
using run::Workloads;

/// What stands behind a command on the command line, and who runs it.
struct Arguments {
  std::string source;
  std::vector<std::string> assignments;
  /// Values of the command's own options, by name without dashes: {"grid", {"a=1,2", "b=3"}};
  /// {"fresh", {}}.
  std::map<std::string, std::vector<std::string>> options{};
  comm::Ranks* ranks = nullptr;
  bool quiet = false;                  ///< --quiet: standard output is thrown away, logs only warn
  std::string* folder = nullptr;       ///< where `say_folder` leaves its word for --json
  std::vector<std::string> program{};  ///< words that start this program again
  std::vector<core::Warning>* warnings = nullptr;  ///< for --json, of what writes no results.json
};

core::ExitCode train(const Workloads& workloads, const Arguments& arguments);
core::ExitCode check(const Workloads& workloads, const Arguments& arguments);
core::ExitCode fit(const Workloads& workloads, const Arguments& arguments);
core::ExitCode generate(const Workloads& workloads, const Arguments& arguments);
core::ExitCode ensemble(const Workloads& workloads, const Arguments& arguments);
core::ExitCode convergence(const Workloads& workloads, const Arguments& arguments);
core::ExitCode scaling(const Workloads& workloads, const Arguments& arguments);
core::ExitCode simulate(const Workloads& workloads, const Arguments& arguments);
core::ExitCode closure(const Workloads& workloads, const Arguments& arguments);
core::ExitCode compare(const Workloads& workloads, const Arguments& arguments);
core::ExitCode tune(const Workloads& workloads, const Arguments& arguments);
core::ExitCode solve(const Workloads& workloads, const Arguments& arguments);
core::ExitCode predict(const Workloads& workloads, const Arguments& arguments);
core::ExitCode report(const Workloads& workloads, const Arguments& arguments);
core::ExitCode list(const Workloads& workloads, const Arguments& arguments);
core::ExitCode write_skeleton(const Workloads& workloads, const Arguments& arguments);
core::ExitCode explain(const Workloads& workloads, const Arguments& arguments);
core::ExitCode completion(const Workloads& workloads, const Arguments& arguments);

/// The value of an option that is given once at most; empty when it is not there.
std::string option(const Arguments& arguments, const std::string& name);

/// What --fresh and --override ask for. throws: ConfigError for both
record::Start start_of(const Arguments& arguments);

/// "report: PATH" where there is a page.
void say_report(const std::string& page);
/// "run folder: PATH"; once results are there, which --json shows.
void say_folder(const Arguments& arguments, const std::string& folder);

/// Adds "KEY=VALUE" for an option that is short for it. throws: ConfigError where the key is assigned already
void assign_option(std::vector<std::string>& assignments, const std::string& name,
                   const std::string& key, const std::string& value);

/// Adds "SECTION.key=VALUE" for each of these options that is given; "outer-periods" sets
/// outer_periods. As a list: "SECTION.key=[VALUE]".
void assign_options(std::vector<std::string>& assignments, const Arguments& arguments,
                    const std::string& section, const std::vector<std::string>& names,
                    bool as_list = false);

/// Adds a key with the values of an option that may be given several times, each in quotes.
void assign_quoted(std::vector<std::string>& assignments, const Arguments& arguments,
                   const std::string& name, const std::string& key);

/// Takes the value of `key=value` out of the assignments; empty when it is not there.
std::string take_assignment(std::vector<std::string>& assignments, const std::string& key);

}  // namespace sagips::cli

#include <algorithm>
#include <iostream>

#include "sagips/cli/commands.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/run/generate.hpp"

namespace sagips::cli {

std::string take_assignment(std::vector<std::string>& assignments, const std::string& key) {
  std::string value;
  std::erase_if(assignments, [&](const std::string& assignment) {
    if (assignment.rfind(key + "=", 0) != 0) return false;
    value = assignment.substr(key.size() + 1);
    return true;
  });
  return value;
}

namespace {

// "mass=90" is short for parameters.mass.toy=90, "events=5" for toy.events=5, of examples for data.rows=5
std::vector<std::string> expanded(const Workloads& workloads, const Arguments& arguments,
                                  std::vector<std::string> assignments) {
  const Job plain = run::read_any_job(workloads, arguments.source, {});
  if (run::has_file_form(plain)) {
    if (const std::string rows = take_assignment(assignments, "events"); !rows.empty())
      assignments.push_back("data.rows=" + rows);
    return assignments;
  }
  const auto parameters = plain.inverse().workload->parameters();
  for (std::string& assignment : assignments) {
    const std::string key = assignment.substr(0, assignment.find('='));
    const bool is_parameter =
        std::any_of(parameters.begin(), parameters.end(),
                    [&](const env::Parameter& parameter) { return parameter.name == key; });
    if (is_parameter)
      assignment = "parameters." + key + ".toy" + assignment.substr(key.size());
    else if (key == "events")
      assignment = "toy." + assignment;
  }
  return assignments;
}

}  // namespace

core::ExitCode generate(const Workloads& workloads, const Arguments& arguments) {
  std::vector<std::string> assignments = arguments.assignments;
  const std::string out = take_assignment(assignments, "out");
  if (out.empty())
    throw core::ConfigError(
        "command line",
        "say where the events go, for example: sagips generate proxy1d out=toy.npy");
  Job job =
      run::read_any_job(workloads, arguments.source, expanded(workloads, arguments, assignments));
  core::Log log;
  run::warn_without_effect(workloads, job, {.command = "generate", .trains = false},
                           *arguments.ranks, log);
  const run::Generated made = run::generate(workloads, std::move(job), arguments.source, out);
  for (const run::GeneratedEvents& one : made.channels)
    std::cout << core::with_thousands(one.events)
              << (one.columns.empty() ? std::string(" examples")
                                      : " events of [" + core::join(one.columns, ", ") + "]")
              << ": " << one.file << '\n';
  std::cout << (made.channels[0].columns.empty() ? "settings that read them: "
                                                 : "settings with truth and reference numbers: ")
            << made.settings << std::endl;
  return core::ExitCode::done;
}

}  // namespace sagips::cli

#include <iostream>

#include "sagips/cli/commands.hpp"

namespace sagips::cli {

namespace {

// Where nothing is named, a workload that has parameters of its own shows most.
std::string best_explained(const Workloads& workloads) {
  for (const std::string& name : workloads.names())
    if (!workloads.get(name, "explain").make()->parameters().empty()) return name;
  return workloads.names().front();
}

}  // namespace

core::ExitCode explain(const Workloads& workloads, const Arguments& arguments) {
  std::vector<std::string> assignments = arguments.assignments;
  std::string key = arguments.source;
  // without a key CLI11 hands the first assignment over as the key
  if (key.find('=') != std::string::npos) {
    assignments.push_back(key);
    key.clear();
  }
  std::string workload = take_assignment(assignments, "workload");
  if (workload.empty()) workload = best_explained(workloads);
  Job job = run::read_job(workloads, workload, assignments);
  for (const core::FieldDescription& field : run::describe_job(workloads, job, key)) {
    std::cout << field.key << " = " << field.value << "\n    " << field.help << "\n    "
              << field.type;
    if (!field.range.empty()) std::cout << ", " << field.range;
    std::cout << '\n';
  }
  std::cout << "\nValues are those of `" << workload
            << "`; explain KEY workload=NAME shows another's." << std::endl;
  return core::ExitCode::done;
}

}  // namespace sagips::cli

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <sstream>

#include "sagips/cli/commands.hpp"
#include "sagips/cli/proposals.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"

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

// "mass=90" is short for parameters.mass.toy=90, "events=5" for toy.events=5
std::vector<std::string> expanded(const Workloads& workloads, const Arguments& arguments,
                                  std::vector<std::string> assignments) {
  const Job plain = read_job(workloads, arguments.source, {});
  const auto parameters = plain.workload->parameters();
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

// Settings that read the file back, with truth and reference numbers.
std::string settings_text(const Job& job, const std::string& file, const data::Dataset& toys,
                          const env::ParameterSet& parameters) {
  std::ostringstream yaml;
  yaml << "# " << toys.origin << " of " << job.settings.workload << ", seed "
       << job.settings.run.seed << "\n"
       << "workload: " << job.settings.workload << "\n"
       << "data:\n  file: \"" << file << "\"\n";
  if (!toys.reference.empty()) {
    yaml << "  reference:\n";
    for (const auto& [name, value] : toys.reference)
      yaml << "    " << name << ": " << core::round_trip(value) << "\n";
  }
  yaml << "parameters:\n";
  for (const env::Parameter& parameter : parameters.all())
    if (parameter.truth)
      yaml << "  " << parameter.name << ": {truth: " << core::round_trip(*parameter.truth) << "}\n";
  return yaml.str();
}

}  // namespace

core::ExitCode generate(const Workloads& workloads, const Arguments& arguments) {
  std::vector<std::string> assignments = arguments.assignments;
  const std::string out = take_assignment(assignments, "out");
  if (out.empty() || std::filesystem::path(out).extension() != ".npy")
    throw core::ConfigError("command line", "say where the events go: out=toy.npy");
  const Job job =
      read_job(workloads, arguments.source, expanded(workloads, arguments, assignments));
  const env::ParameterSet parameters =
      env::ParameterSet(job.workload->parameters()).at_toy_values();
  const auto plans = job.workload->channels();
  for (const optim::ChannelPlan& plan : plans) {
    std::vector<std::string> names;
    for (const auto& observable : plan.observables) names.push_back(observable.name);
    plan.pipeline.check(parameters, static_cast<std::int64_t>(names.size()));
    const data::Dataset toys =
        env::toy_data(plan.pipeline, parameters.truth(), job.settings.data.toy_events, names,
                      core::RandomStream(job.seed(), "toy data " + plan.name));
    std::filesystem::path file(out);
    if (plans.size() > 1) file.replace_filename(file.stem().string() + "_" + plan.name + ".npy");
    write_proposals(file.string(), toys.values);
    const std::string settings = std::filesystem::path(file).replace_extension(".yaml").string();
    core::write_file(settings, settings_text(job, file.string(), toys, parameters));
    std::cout << core::with_thousands(toys.size()) << " events of [" << core::join(names, ", ")
              << "]: " << file.string()
              << "\nsettings with truth and reference numbers: " << settings << std::endl;
  }
  return core::ExitCode::done;
}

}  // namespace sagips::cli

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <sstream>

#include "sagips/cli/commands.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"
#include "sagips/run/proposals.hpp"

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
  const Job plain = run::read_job(workloads, arguments.source, {});
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

/// The events of one channel and where they went.
struct Made {
  std::string channel, file;
  data::Dataset toys;
};

void write_source(std::ostream& yaml, const Made& made, const std::string& indent) {
  yaml << indent << "file: \"" << made.file << "\"\n";
  if (made.toys.weights)  // the last column
    yaml << indent << "weight_column: \"" << made.toys.dimensions() << "\"\n";
  if (made.toys.reference.empty()) return;
  yaml << indent << "reference:\n";
  for (const auto& [name, value] : made.toys.reference)
    yaml << indent << "  " << name << ": " << core::round_trip(value) << "\n";
}

// Settings that read the files back, with truth and reference numbers.
std::string settings_text(const Job& job, const std::vector<Made>& all,
                          const env::ParameterSet& parameters) {
  std::ostringstream yaml;
  yaml << "# " << all.front().toys.origin << " of " << job.settings.workload << ", seed "
       << job.settings.run.seed << "\n"
       << "workload: " << job.settings.workload << "\n";
  if (job.settings.data.channels.empty()) {
    yaml << "data:\n";
    write_source(yaml, all.front(), "  ");
  } else {
    yaml << "channels:\n";
    for (const Made& made : all) {
      yaml << "  " << made.channel << ":\n    enabled: true\n";
      write_source(yaml, made, "    ");
    }
    for (const auto& [name, channel] : job.settings.data.channels)
      if (!channel.enabled) yaml << "  " << name << ": {enabled: false}\n";
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
      run::read_job(workloads, arguments.source, expanded(workloads, arguments, assignments));
  const env::ParameterSet parameters =
      env::ParameterSet(job.workload->parameters()).at_toy_values();
  const auto plans = problem::channels_in_use(*job.workload, job.settings.data);
  const std::uint64_t data_seed = job.settings.data.data.seed_or(job.seed());
  std::vector<Made> all;
  for (const problem::ChannelPlan& plan : plans) {
    std::vector<std::string> names;
    for (const auto& observable : plan.observables) names.push_back(observable.name);
    plan.pipeline.check(parameters, static_cast<std::int64_t>(names.size()), env::Reach::nothing);
    const auto own = job.settings.data.channels.find(plan.name);
    const bool has_own = own != job.settings.data.channels.end() && own->second.toy_events > 0;
    std::filesystem::path file(out);
    if (plans.size() > 1) file.replace_filename(file.stem().string() + "_" + plan.name + ".npy");
    all.push_back({plan.name, file.string(),
                   env::toy_data(plan.pipeline, parameters.truth(),
                                 has_own ? own->second.toy_events : job.settings.data.toy_events,
                                 names, core::RandomStream(data_seed, "toy data " + plan.name),
                                 job.settings.data.toy_weights)});
    const Made& made = all.back();
    run::write_rows(made.file,
                    made.toys.weights
                        ? torch::cat({made.toys.values, made.toys.weights->unsqueeze(1)}, 1)
                        : made.toys.values);
    if (made.toys.weights) names.emplace_back("weight");
    std::cout << core::with_thousands(made.toys.size()) << " events of [" << core::join(names, ", ")
              << "]: " << made.file << '\n';
  }
  const std::string settings = std::filesystem::path(out).replace_extension(".yaml").string();
  core::write_file(settings, settings_text(job, all, parameters));
  std::cout << "settings with truth and reference numbers: " << settings << std::endl;
  return core::ExitCode::done;
}

}  // namespace sagips::cli

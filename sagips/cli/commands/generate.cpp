#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>

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

std::string take_rows_file(std::vector<std::string>& assignments) {
  std::string out = take_assignment(assignments, "out");
  std::filesystem::path npy = out;
  if (!out.empty() && npy.extension() != ".npy")
    throw core::ConfigError(
        "command line",
        core::text("out=", out, ": rows are written as .npy alone, for example out=",
                   npy.replace_extension(".npy").string(), "."));
  return out;
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
  std::vector<std::string> cuts;  ///< that the pipeline's events have passed
};

/// The config's cuts where they select this pipeline's events, which is so wherever the file is read.
/// throws: ConfigError where the events would ignore what the config says
std::vector<std::string> cuts_on_events(const problem::DataSettings& settings,
                                        const problem::ChannelPlan& plan) {
  const bool is_named = plan.settings || settings.channels.count(plan.name) > 0;
  const data::DatasetConfig config = is_named ? settings.of(plan).data : settings.data;
  if (plan.cuts_select_events) return config.cuts;
  if (config.file.empty())
    config.check_toy_data(is_named ? core::text("channels.", plan.name, ".data") : "data");
  return {};
}

// Settings that read the files back, with truth and reference numbers and all that the job was given.
std::string settings_text(const Workloads& workloads, Job& job, const std::vector<Made>& all,
                          const env::ParameterSet& parameters, const std::string& folder) {
  std::vector<run::OtherEvents> files;
  for (const Made& made : all) {
    files.push_back({made.channel, made.toys.size()});
    data::DatasetConfig& source = files.back().source;
    source.file = made.file;
    source.reference = made.toys.reference;
    source.cuts = made.cuts;
    if (made.toys.weights)  // the last column
      source.weight_column = core::text(made.toys.dimensions());
  }
  std::map<std::string, double> truths;
  for (const env::Parameter& parameter : parameters.all())
    if (parameter.truth) truths[parameter.name] = *parameter.truth;
  run::change_job(job, core::ConfigDocument::from_text(
                           run::other_events(job, files, "truth", truths), "these settings"));
  job.settings.run.name.clear();  // of the run that this job would have been
  return core::text("# ", all.front().toys.origin, " of ", job.settings.workload, ", seed ",
                    job.settings.run.seed, "\n",
                    run::changed_settings(workloads, job, folder.empty() ? "." : folder));
}

// Nobody asked for the settings beside the events, so they replace none but those that were made here.
void check_own(const std::filesystem::path& settings) {
  std::ifstream file(settings);
  std::string first;
  if (!std::getline(file, first)) return;
  if (first.rfind("# ", 0) != 0 || first.find(", seed ") == std::string::npos)
    throw core::ConfigError("command line",
                            core::text("out=: settings of the same name are written beside the "
                                       "events, and ",
                                       settings.string(), " is yours. Choose another name."));
}

}  // namespace

core::ExitCode generate(const Workloads& workloads, const Arguments& arguments) {
  std::vector<std::string> assignments = arguments.assignments;
  const std::string out = take_rows_file(assignments);
  if (out.empty())
    throw core::ConfigError(
        "command line",
        "say where the events go, for example: sagips generate proxy1d out=toy.npy");
  Job job = run::read_job(workloads, arguments.source, expanded(workloads, arguments, assignments));
  core::Log log;
  say_without_effect(workloads, job, arguments, {.command = "generate", .trains = false}, log);
  const env::ParameterSet parameters =
      env::ParameterSet(job.workload->parameters()).at_toy_values();
  const auto plans = problem::channels_in_use(*job.workload, job.settings.data);
  const std::uint64_t data_seed = job.settings.data.data.seed_or(job.seed());
  const std::filesystem::path settings = std::filesystem::path(out).replace_extension(".yaml");
  std::error_code missing;
  if (std::filesystem::equivalent(settings, arguments.source, missing))
    throw core::ConfigError("command line",
                            core::text("out=", out, " would replace ", settings.string(),
                                       ", from which the events are made. Choose another name."));
  check_own(settings);
  std::vector<Made> all;
  for (const problem::ChannelPlan& plan : plans) {
    std::vector<std::string> names;
    for (const auto& observable : plan.observables) names.push_back(observable.name);
    cuts_on_events(job.settings.data, plan);  // before anything is made
    plan.pipeline.check(parameters, static_cast<std::int64_t>(names.size()), env::Reach::nothing);
    std::filesystem::path file(out);
    if (plans.size() > 1) file.replace_filename(file.stem().string() + "_" + plan.name + ".npy");
    all.push_back(
        {plan.name, file.string(),
         env::toy_data(plan.pipeline, parameters.truth(), job.settings.data.toy_events_of(plan),
                       names, core::RandomStream(data_seed, "toy data " + plan.name),
                       job.settings.data.toy_weights),
         cuts_on_events(job.settings.data, plan)});
    const Made& made = all.back();
    run::write_rows(made.file,
                    made.toys.weights
                        ? torch::cat({made.toys.values, made.toys.weights->unsqueeze(1)}, 1)
                        : made.toys.values);
    if (made.toys.weights) names.emplace_back("weight");
    std::cout << core::with_thousands(made.toys.size()) << " events of [" << core::join(names, ", ")
              << "]: " << made.file << '\n';
  }
  core::write_file(settings.string(),
                   settings_text(workloads, job, all, parameters, settings.parent_path().string()));
  std::cout << "settings with truth and reference numbers: " << settings.string() << std::endl;
  return core::ExitCode::done;
}

}  // namespace sagips::cli

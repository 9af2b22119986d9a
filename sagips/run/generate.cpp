#include "sagips/run/generate.hpp"

#include <filesystem>
#include <fstream>
#include <map>

#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"
#include "sagips/run/files_read.hpp"
#include "sagips/run/learning_problem.hpp"
#include "sagips/run/learning_task.hpp"
#include "sagips/run/proposals.hpp"

namespace sagips::run {

namespace {

/// The events of one channel and where they go.
struct Made {
  std::string channel, file;
  std::vector<std::string> names;  ///< of the observables
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

std::string settings_text(const Workloads& workloads, Job& job, const std::string& origin,
                          const std::string& folder) {
  job.settings.run.name.clear();  // of the run that this job would have been
  return core::text("# ", origin, " of ", job.settings.workload, ", seed ", job.settings.run.seed,
                    "\n", changed_settings(workloads, job, folder.empty() ? "." : folder));
}

// Settings that read the files back, with truth and reference numbers and all that the job was given and that
// has an effect.
std::string settings_of_events(const Workloads& workloads, Job& job, const std::vector<Made>& all,
                               const env::ParameterSet& parameters, const std::string& folder) {
  std::vector<OtherEvents> files;
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
  change_job(job, core::ConfigDocument::from_text(other_events(job, files, "truth", truths),
                                                  "these settings"));
  return settings_text(workloads, job, all.front().toys.origin, folder);
}

// Nobody asked for the settings beside the events, so they replace none but those that were made here.
void check_own(const std::filesystem::path& settings) {
  std::ifstream file(settings);
  std::string first;
  if (!std::getline(file, first)) return;
  if (first.rfind("# ", 0) != 0 || first.find(", seed ") == std::string::npos)
    throw core::ConfigError("out",
                            core::text("settings of the same name are written beside the "
                                       "events, and ",
                                       settings.string(), " is yours. Choose another name."));
}

// The settings' file. written: beside it. throws: ConfigError where any of these would replace what the job
// reads, or the settings what is not of this function's making
std::filesystem::path settings_beside(const std::string& out, const Job& job,
                                      const std::string& source, std::vector<std::string> written) {
  std::filesystem::path settings = std::filesystem::path(out).replace_extension(".yaml");
  written.push_back(settings.string());
  refuse_to_replace({.files = {source}, .configs = {job.effective_config}}, "out", written);
  check_own(settings);
  return settings;
}

// Settings that read the file back, of what is asked for no more than they need.
std::string settings_of_file(const Workloads& workloads, Job& job,
                             std::map<std::string, std::string> keys, const std::string& origin,
                             const std::string& folder) {
  core::FieldList list, data;
  for (auto& key : keys)  // clang cannot capture a structured binding
    data.add(key.first, key.second, {});
  list.add_group("data", std::move(data), {});
  change_job(job, core::ConfigDocument::from_text(core::write_fields(list), "these settings"));
  return settings_text(workloads, job, origin, folder);
}

Made made_of(const Job& job, const problem::ChannelPlan& plan, const env::ParameterSet& parameters,
             const std::string& file) {
  const problem::DataSettings& settings = job.inverse().data;
  Made made{plan.name, file, {}, {}, cuts_on_events(settings, plan)};  // refuses before it makes
  for (const auto& observable : plan.observables) made.names.push_back(observable.name);
  plan.pipeline.check(parameters, static_cast<std::int64_t>(made.names.size()),
                      env::Reach::nothing);
  const std::uint64_t seed = settings.data.seed_or(job.seed());
  made.toys =
      env::toy_data(plan.pipeline, parameters.truth(), settings.toy_events_of(plan), made.names,
                    core::RandomStream(seed, "toy data " + plan.name), settings.toy_weights);
  return made;
}

GeneratedEvents written(const Made& made) {
  write_rows(made.file, made.toys.weights
                            ? torch::cat({made.toys.values, made.toys.weights->unsqueeze(1)}, 1)
                            : made.toys.values);
  GeneratedEvents events{made.channel, made.file, made.toys.size(), made.names};
  if (made.toys.weights) events.columns.emplace_back("weight");
  return events;
}

/// Where a job's examples come from; null: it has events.
struct JobExamples {
  const problem::ExampleSource* source = nullptr;
  const data::ExampleSplit* split = nullptr;
};

JobExamples examples_in(const Job& job) {
  if (const auto* const made = job.as<GenerationProblem>())
    return {made->examples.get(), &made->split};
  if (const auto* const learned = job.as<LearningProblem>())
    return {learned->examples.get(), &learned->split};
  return {};
}

Generated generate_examples(const Workloads& workloads, Job& job, const std::string& source,
                            const std::string& out) {
  const JobExamples examples = examples_in(job);
  problem::ExampleSource::FileForm form = *examples.source->file_form();
  check_rows_file(out, {form.ending});
  const std::filesystem::path settings = settings_beside(out, job, source, {out});
  const data::ExampleSets sets =
      examples.source->load(examples.split->seed_or(job.seed()), reading_of());
  form.write(out, *sets.training);
  form.keys["file"] = out;
  core::write_file(settings.string(), settings_of_file(workloads, job, form.keys, sets.origin,
                                                       settings.parent_path().string()));
  return {{{.channel = {}, .file = out, .events = sets.training->rows()}}, settings.string()};
}

}  // namespace

bool has_file_form(const Job& job) {
  const JobExamples examples = examples_in(job);
  return examples.source && examples.source->file_form();
}

Generated generate(const Workloads& workloads, Job job, const std::string& source,
                   const std::string& out) {
  if (const JobExamples made = examples_in(job); made.source && !made.source->is_drawn())
    throw core::ConfigError("data",
                            core::text("the examples of '", job.settings.workload,
                                       "' come from files, and only drawn ones are written."));
  if (has_file_form(job)) return generate_examples(workloads, job, source, out);
  check_rows_file(out);
  const env::ParameterSet parameters =
      env::ParameterSet(job.inverse().workload->parameters()).at_toy_values();
  const auto plans = problem::channels_in_use(*job.inverse().workload, job.inverse().data);
  std::vector<std::string> files;
  for (const problem::ChannelPlan& plan : plans) {
    std::filesystem::path file(out);
    if (plans.size() > 1) file.replace_filename(file.stem().string() + "_" + plan.name + ".npy");
    files.push_back(file.string());
  }
  const std::filesystem::path settings = settings_beside(out, job, source, files);
  Generated generated{{}, settings.string()};
  std::vector<Made> all;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    all.push_back(made_of(job, plans[i], parameters, files[i]));
    generated.channels.push_back(written(all.back()));
  }
  core::write_file(settings.string(), settings_of_events(workloads, job, all, parameters,
                                                         settings.parent_path().string()));
  return generated;
}

}  // namespace sagips::run

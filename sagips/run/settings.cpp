#include "sagips/run/settings.hpp"

#include <filesystem>
#include <mutex>
#include <set>

#include "sagips/core/config/effects.hpp"
#include "sagips/core/text.hpp"
#include "sagips/env/outside/plugin.hpp"

namespace sagips::run {

using core::ConfigDocument;
using core::ConfigError;
using core::text;

void Settings::first_fields(core::FieldList& list) {
  list.add("workload", workload, "what is to be solved; see `sagips list`");
  list.add_path(
      "plugin", plugin,
      "shared library with networks (layer `module`) and losses of yours; stages of one are "
      "named in the pipeline");
  list.add(
      "device", device,
      "where tensors live: cpu; cuda, of several GPUs each process of a machine takes the next; "
      "cuda:NUMBER; a part of a GPU by its name, MIG-...; auto: a GPU where there is one");
  list.choice(
      "precision", precision,
      {{"float32", nn::Precision::float32},
       {"tf32", nn::Precision::tf32},
       {"bfloat16", nn::Precision::bfloat16}},
      "factors of products on a GPU: float32, tf32 (10 bits in place of 23) or bfloat16 (7 bits "
      "in SAGIPS' own passes of dense layers with leaky ReLUs, tf32 elsewhere)");
  core::needs(list, device != "cpu", "device=cuda or auto", {"precision"});
  list.add(
      "threads", threads,
      "threads that may share a step, at most: those take part that pay, found by trial; 0: "
      "OMP_NUM_THREADS, else the cores the process may use, divided among the ranks that share "
      "them",
      core::Range::between(0, 4096));
  list.group("run", run, "the run folder");
  list.group("figures", figures, "pictures for a screen or a paper; run.figures=false draws none");
}

torch::Device Settings::made_device() const {
  const torch::Device made = nn::device_from_name(device);
  if (device != "cpu") nn::set_precision(precision);
  return made;
}

void Settings::training_fields(core::FieldList& list,
                               const std::function<void(core::FieldList&)>& ranks_fields) {
  list.add("exchange", exchange, "how ranks exchange gradients; see `sagips list`");
  list.group("exchanges", exchanges, "settings of the exchanges");
  core::FieldList over_ranks;
  ranks_fields(over_ranks);
  list.add_group("ranks", std::move(over_ranks), "training over several ranks (mpirun, srun)");
  core::FieldList training;
  loop.fields(training);
  training.group("checkpoints", checkpoints, "what an interrupted run goes on from");
  list.add_group("train", std::move(training), "the training loop");
  list.group("early_stop", early_stop,
             "when a run stops by itself: by a metric of its evaluations");
}

namespace {

core::FieldList training_fields(Job& job) {
  core::FieldList list;
  job.problem->fields(list, job.settings);
  return list;
}

}  // namespace

core::FieldList fields_of(const Workloads& workloads, Job& job) {
  core::FieldList list = training_fields(job);
  for (const SettingsGroup& group : workloads.groups)
    group.add_to(list, job.groups.try_emplace(group.name, group.make()).first->second);
  return list;
}

namespace {

struct Source {
  const problem::Entry* entry;
  ConfigDocument document;
};

ConfigDocument settings_of(const problem::Entry& entry, const std::string& name,
                           const std::string& where) {
  const auto found = entry.settings.find(name);
  if (found == entry.settings.end()) {
    std::vector<std::string> known;
    for (const auto& settings : entry.settings) known.push_back(entry.name + "/" + settings.first);
    throw ConfigError(where, text("unknown settings '", entry.name, "/", name, "'",
                                  core::suggestion(entry.name + "/" + name, known)));
  }
  return ConfigDocument::from_text(found->second, entry.name + "/" + name + ".yaml");
}

// "proxy1d" or "proxy1d/cold".
Source shipped_source(const Workloads& workloads, const std::string& name,
                      const std::string& where) {
  const auto slash = name.find('/');
  const auto& entry = workloads.get(name.substr(0, slash), where);
  ConfigDocument document = settings_of(entry, "default", where);
  if (slash != std::string::npos)
    document.lay_over(settings_of(entry, name.substr(slash + 1), where));
  return {&entry, std::move(document)};
}

Source find_source(const Workloads& workloads, const std::string& source) {
  const bool is_file = std::filesystem::exists(source);
  if (workloads.has(source) || (!is_file && workloads.has(source.substr(0, source.find('/')))))
    return shipped_source(workloads, source, "command line");
  if (!is_file)
    throw ConfigError("command line", text("'", source, "' is neither a workload nor a file",
                                           core::suggestion(source, workloads.names())));
  const ConfigDocument file = ConfigDocument::from_file(source);
  auto name = file.scalar("workload");
  // three lines make a problem: parameters, observables, and pipeline or channels
  const bool is_custom = !file.where("pipeline").empty() || !file.where("channels").empty() ||
                         !file.where("observables").empty();
  if (!name && workloads.has("custom") && is_custom) name = "custom";
  if (!name)
    throw ConfigError(source, text("names no workload. Add a line `workload: NAME`, known: ",
                                   core::join(workloads.names(), ", ")));
  Source found = shipped_source(workloads, *name, file.where("workload"));
  found.document.lay_over(file);
  if (*name != found.entry->name)
    found.document.override_with(text("workload=", found.entry->name));
  return found;
}

Source assigned_source(const Workloads& workloads, const std::string& source,
                       const std::vector<std::string>& assignments) {
  Source found = find_source(workloads, source);
  for (const auto& assignment : assignments) found.document.override_with(assignment);
  return found;
}

// Networks and losses are known by their names from then on, so once is enough.
void load_networks(const std::string& plugin) {
  static std::mutex mutex;
  static std::set<std::string> loaded;
  const std::lock_guard lock(mutex);
  if (plugin.empty() || loaded.contains(plugin)) return;
  env::load_plugin(plugin);
  loaded.insert(plugin);
}

// As the kind that it is.
template <class Kind, class Of>
std::unique_ptr<Problem> problem_around(std::unique_ptr<problem::Problem>& made) {
  auto* const of = dynamic_cast<Of*>(made.get());
  if (!of) return nullptr;
  static_cast<void>(made.release());
  return std::make_unique<Kind>(std::unique_ptr<Of>(of));
}

// The workload whose examples are to be made says what other keys there are.
std::unique_ptr<Problem> generation_problem(const Workloads& workloads,
                                            const ConfigDocument& document) {
  const std::string key = "examples", name = document.scalar(key).value_or("learning");
  const std::string where = document.where(key).empty() ? key : document.where(key);
  std::unique_ptr<problem::Problem> made = workloads.get(name, where).make();
  auto* const source = dynamic_cast<problem::ExampleSource*>(made.get());
  if (!source)
    throw ConfigError(where,
                      text("'", name, "' has no examples. Name a learning workload, such as ",
                           "learning (files of yours) or classify."));
  static_cast<void>(made.release());
  return std::make_unique<GenerationProblem>(name, std::unique_ptr<problem::ExampleSource>(source));
}

std::unique_ptr<Problem> problem_of(const Workloads& workloads, const Source& found) {
  std::unique_ptr<problem::Problem> made = found.entry->make();
  const ConfigDocument& document = found.document;
  if (auto* const own = dynamic_cast<Problem*>(made.get())) {
    static_cast<void>(made.release());
    return std::unique_ptr<Problem>(own);
  }
  if (auto* const own = dynamic_cast<problem::Generation*>(made.get()))
    return own->source ? std::make_unique<GenerationProblem>("", std::move(own->source))
                       : generation_problem(workloads, document);
  if (auto inverse = problem_around<InverseProblem, problem::Workload>(made)) return inverse;
  if (auto learning = problem_around<LearningProblem, problem::ExampleSource>(made))
    return learning;
  throw core::StateError("a workload makes no problem of a known kind");
}

Job job_from(const Workloads& workloads, const std::string& source, const Source& found) {
  Job job;
  job.entry = found.entry;
  job.kept = workloads.kept;
  job.problem = problem_of(workloads, found);
  job.problem->set_defaults(job.settings);
  job.settings.workload = found.entry->name;
  core::FieldList list = fields_of(workloads, job);
  core::read_fields(found.document, list);
  if (job.settings.workload != found.entry->name)
    throw ConfigError(found.document.where("workload"),
                      text("the workload is '", found.entry->name, "' and cannot be changed to '",
                           job.settings.workload, "'. Name it in place of '", source, "'."));
  load_networks(job.settings.plugin);
  job.effective_config = core::write_fields(list);
  job.training_config = core::write_fields(training_fields(job));
  return job;
}

}  // namespace

core::ConfigDocument job_document(const Workloads& workloads, const std::string& source,
                                  const std::vector<std::string>& assignments) {
  return assigned_source(workloads, source, assignments).document;
}

InverseProblem& Job::inverse() const {
  if (auto* const found = as<InverseProblem>()) return *found;
  throw ConfigError("command line", text("'", settings.workload, "' is ", problem->description()));
}

LearningProblem& Job::learning() const {
  if (auto* const found = as<LearningProblem>()) return *found;
  throw ConfigError("command line", text("'", settings.workload, "' is ", problem->description()));
}

Workloads keeping_examples(const Workloads& workloads) {
  Workloads keeping = workloads;
  keeping.kept = std::make_shared<data::KeptExamples>();
  return keeping;
}

Job read_any_job(const Workloads& workloads, const std::string& source,
                 const std::vector<std::string>& assignments) {
  return job_from(workloads, source, assigned_source(workloads, source, assignments));
}

Job read_job(const Workloads& workloads, const std::string& source,
             const std::vector<std::string>& assignments) {
  Job job = read_any_job(workloads, source, assignments);
  job.inverse();
  return job;
}

Job read_job_of_networks(const Workloads& workloads, const std::string& source) {
  Source found = find_source(workloads, source);
  for (const char* key : {"pipeline", "channels.*.pipeline"}) found.document.remove(key);
  return job_from(workloads, source, found);
}

std::string other_events(const Job& job, std::vector<OtherEvents> channels,
                         const std::string& field, std::map<std::string, double> values) {
  const auto group = [](core::FieldList& list, const std::string& name, const auto& fill) {
    core::FieldList inner;
    fill(inner);
    list.add_group(name, std::move(inner), {});
  };
  core::FieldList list;
  group(list, "parameters", [&](core::FieldList& parameters) {
    for (auto& value : values)  // clang cannot capture a structured binding
      group(parameters, value.first,
            [&](core::FieldList& one) { one.add(field, value.second, {}); });
  });
  if (job.inverse().data.channels.empty() && !job.inverse().workload->channels().front().settings) {
    OtherEvents& only = channels.at(0);
    group(list, "toy", [&](core::FieldList& toy) { toy.add("events", only.toy_events, {}); });
    group(list, "data", [&](core::FieldList& data) { only.source.file_fields(data); });
    return core::write_fields(list);
  }
  group(list, "channels", [&](core::FieldList& all) {
    for (OtherEvents& channel : channels)
      group(all, channel.channel, [&](core::FieldList& one) {
        one.add("toy_events", channel.toy_events, {});
        group(one, "data", [&](core::FieldList& data) { channel.source.file_fields(data); });
      });
  });
  return core::write_fields(list);
}

void change_job(Job& job, const core::ConfigDocument& document) {
  core::FieldList list = training_fields(job);
  core::read_fields(document, list);
}

std::string changed_settings(const Workloads& workloads, Job& job, const std::string& beside) {
  Job usual = read_any_job(workloads, job.settings.workload, {});
  return text("workload: ", job.settings.workload, "\n",
              core::write_changes(fields_of(workloads, job), fields_of(workloads, usual), beside));
}

std::vector<core::FieldDescription> describe_job(const Workloads& workloads, Job& job,
                                                 const std::string& prefix) {
  return core::describe_fields(fields_of(workloads, job), prefix);
}

}  // namespace sagips::run

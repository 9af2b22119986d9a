#include "sagips/run/settings.hpp"

#include <filesystem>
#include <set>

#include "sagips/core/config/effects.hpp"
#include "sagips/core/text.hpp"
#include "sagips/env/outside/plugin.hpp"

namespace sagips::run {

using core::ConfigDocument;
using core::ConfigError;
using core::text;

void SolveConfig::fields(core::FieldList& list) {
  list.add("method", method, "what looks for the parameters; see `sagips list`");
  list.add("minutes", minutes, "time limit; 0: none", core::Range::at_least(0));
  list.add("bootstraps", bootstraps,
           "further solutions on data drawn again with replacement: errors from their spread",
           core::Range::between(0, 1e6));
  list.add("seeds", seeds, "further solutions with other seeds: what the method's own chance does",
           core::Range::between(0, 1e6));
  list.choice("test", test,
              {{"energy", optim::EventTest::energy}, {"classifier", optim::EventTest::classifier}},
              "how measured and synthetic events are told apart: by their energy distance, or by a "
              "small network, which is better where few of many observables differ");
  list.add("test_events", test_events, "measured and synthetic events of that test; 0: no test",
           core::Range::between(0, 20000));
  list.add("permutations", permutations, "of the test by energy distance",
           core::Range::between(10, 1e6));
  core::needs(list, test_events > 0, "test_events above 0", {"test", "permutations"});
  core::needs(list, test == optim::EventTest::energy, "test=energy", {"permutations"});
}

void PartSettings::fields(core::FieldList& list) {
  list.list("layers", layers, nn::LayerConfig::help());
  list.add("rate", rate, "times optimizer.learning_rate; 0: it stays as it begins",
           core::Range::at_least(0));
  list.add("exchange", exchange, "how ranks exchange its gradients; empty: as `exchange` says");
  list.add_path("start_from", start_from, "as `start_from`, for this network alone");
}

void LearningSettings::fields(core::FieldList& list, problem::ExampleSource& source) {
  core::FieldList data;
  split.fields(data);
  source.fields(data);  // which knows whether rows are kept aside
  data.choice(
      "standardise", standardise,
      {{"false", Standardise::none},
       {"inputs", Standardise::inputs},
       {"targets", Standardise::targets},
       {"true", Standardise::both}},
      "makes numbers of mean 0 and deviation 1, by the rows to learn from (of rows of one or two "
      "dimensions each number by itself, of images each channel); what is predicted and judged "
      "but the loss is in the data's units; true: inputs, and targets where these are values in "
      "any unit");
  list.add_group("data", std::move(data), "rows of inputs and targets");
  core::FieldList network;
  network.list("layers", layers, nn::LayerConfig::help());
  list.add_group("network", std::move(network), "what learns");
  list.named_groups("networks", networks,
                    "several, by names of yours, in place of `network`: each takes what the one "
                    "before it gives");
  list.add_path("start_from", start_from,
                "weights to begin with: those of a run folder (its best ones) or of a .safetensors "
                "file; empty: drawn by run.seed");
  learner.fields(list);
}

train::ExchangeChoice Settings::exchange_choice() const {
  train::ExchangeChoice choice{exchange, {}, exchanges};
  if (learning.networks.empty()) choice.others = {{"discriminator", gan.discriminator.exchange}};
  for (const PartSettings& part : learning.networks) {
    const std::string own = part.exchange.empty() ? exchange : part.exchange;
    if (&part == &learning.networks.front())
      choice.primary = own;
    else
      choice.others[part.name] = own;
  }
  return choice;
}

void Settings::set_learning_defaults() {
  exchange = "all_reduce";
  early_stop.metric = "loss";
  loop.epochs = 20;
  loop.snapshots = 0;  // of generators
}

void Settings::learning_fields(core::FieldList& list, problem::ExampleSource& source) {
  first_fields(list);
  learning.fields(list, source);
  training_fields(list, [this](core::FieldList& fields) { ranks.timeout_field(fields); });
}

void Settings::first_fields(core::FieldList& list) {
  list.add("workload", workload, "what is to be solved; see `sagips list`");
  list.add_path(
      "plugin", plugin,
      "shared library with networks (layer `module`) and losses of yours; stages of one are "
      "named in the pipeline");
  list.add("device", device, "where tensors live: cpu");
  list.add(
      "threads", threads,
      "threads that may share a step, at most: those take part that pay, found by trial; 0: "
      "OMP_NUM_THREADS, else the cores the process may use, divided among the ranks that share "
      "them",
      core::Range::between(0, 4096));
  list.group("run", run, "the run folder");
  list.group("figures", figures, "pictures for a screen or a paper; run.figures=false draws none");
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

void Settings::fields(core::FieldList& list) {
  first_fields(list);
  list.group("data", data.data, "measured events");
  core::FieldList toy;
  toy.add("events", data.toy_events, "toy events made when data.file is empty",
          core::Range::between(1, 1e10));
  toy.choice("weights", data.toy_weights,
             {{"accepted", env::ToyWeights::accepted}, {"kept", env::ToyWeights::kept}},
             "of a pipeline that weighs its events: accepted takes an event with a probability of "
             "its weight, as data come; kept takes all with their weights");
  list.add_group("toy", std::move(toy), "made-up data for closure tests");
  gan.fields(list);
  training_fields(list, [this](core::FieldList& fields) { ranks.fields(fields); });
  list.group("evaluation", evaluation, "how a generator is looked at");
  list.group("solve", solve, "how `sagips solve` looks for parameters");
  solvers.fields(list);
}

namespace {

core::FieldList training_fields(Job& job) {
  core::FieldList list;
  if (job.examples) {
    job.settings.learning_fields(list, *job.examples);
    return list;
  }
  job.settings.fields(list);
  job.settings.data.channel_fields(list, *job.workload);
  job.workload->fields(list);
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
  const problem::WorkloadEntry* entry;
  ConfigDocument document;
};

ConfigDocument settings_of(const problem::WorkloadEntry& entry, const std::string& name,
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
  static std::set<std::string> loaded;
  if (!plugin.empty() && loaded.insert(plugin).second) env::load_plugin(plugin);
}

Job job_from(const Workloads& workloads, const std::string& source, const Source& found) {
  Job job;
  job.entry = found.entry;
  if (found.entry->make_examples) {
    job.examples = found.entry->make_examples();
    job.settings.set_learning_defaults();
  } else {
    job.workload = found.entry->make();
  }
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

Job read_any_job(const Workloads& workloads, const std::string& source,
                 const std::vector<std::string>& assignments) {
  return job_from(workloads, source, assigned_source(workloads, source, assignments));
}

Job read_job(const Workloads& workloads, const std::string& source,
             const std::vector<std::string>& assignments) {
  Job job = read_any_job(workloads, source, assignments);
  if (job.examples)
    throw ConfigError("command line",
                      text("'", job.settings.workload,
                           "' is a learning problem, which has no parameters to find. Use `sagips "
                           "train`, `check`, `predict`, `report` or `ensemble`."));
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
  if (job.settings.data.channels.empty() && !job.workload->channels().front().settings) {
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

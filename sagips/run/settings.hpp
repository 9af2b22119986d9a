#pragma once
#include <any>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sagips/analysis/figure.hpp"
#include "sagips/core/config/config.hpp"
#include "sagips/core/error.hpp"
#include "sagips/nn/device.hpp"
#include "sagips/record/checkpoint_store.hpp"
#include "sagips/record/run_directory.hpp"
#include "sagips/run/generation_problem.hpp"
#include "sagips/run/inverse_problem.hpp"
#include "sagips/run/learning_problem.hpp"
#include "sagips/train/early_stop.hpp"
#include "sagips/train/loop.hpp"
#include "sagips/train/rank_config.hpp"
#include "sagips/train/rank_exchange.hpp"

namespace sagips::run {

/// The config of a run as far as every training reads it, of whatever kind of problem; every part lists its
/// own fields.
struct Settings {
  std::string workload;
  std::string plugin;  ///< shared library with networks and losses of a user
  std::string device = "cpu";
  nn::Precision precision = nn::Precision::float32;
  std::int64_t threads = 0;
  record::RunConfig run;
  analysis::FigureConfig figures;
  std::string exchange = "arar_arar";  ///< of the first network
  comm::ExchangesConfig exchanges;
  train::RankConfig ranks;
  train::LoopConfig loop;
  record::CheckpointConfig checkpoints;
  train::EarlyStopConfig early_stop;

  /// The device that `device` names, whose products are rounded as `precision` says from here on. throws: ConfigError
  torch::Device made_device() const;

  /// Those that a config begins with, and those of trainings. `ranks`: lists what a kind reads of that group.
  void first_fields(core::FieldList& list);
  void training_fields(core::FieldList& list,
                       const std::function<void(core::FieldList&)>& ranks_fields);
};

/// A group of settings that one command alone reads. Configs of all commands may hold it.
struct SettingsGroup {
  std::string name;
  std::function<std::any()> make;
  std::function<void(core::FieldList& list, std::any& config)> add_to;
};

template <class Config>
SettingsGroup settings_group(const std::string& name, const std::string& help) {
  return {name, [] { return std::any(Config()); },
          [name, help](core::FieldList& list, std::any& config) {
            list.group(name, std::any_cast<Config&>(config), help);
          }};
}

/// The workloads a program knows, and what its commands have registered.
struct Workloads : core::Registry<problem::Entry> {
  using Registry::Registry;
  std::vector<SettingsGroup> groups;
  /// Keeps examples between jobs that are read with it; null: each job reads its own.
  std::shared_ptr<data::KeptExamples> kept{};
};

/// The same, whose jobs read the examples of a learning problem once and keep them for each other.
Workloads keeping_examples(const Workloads& workloads);

/// What a command works with: a workload that has read its config.
struct Job {
  const problem::Entry* entry = nullptr;
  std::unique_ptr<Problem> problem;
  Settings settings;
  std::string effective_config;            ///< YAML with every value, reads back to the same job
  std::string training_config;             ///< the same without what single commands alone read
  std::map<std::string, std::any> groups;  ///< what these read, by name
  std::shared_ptr<data::KeptExamples> kept{};  ///< as `Workloads` say

  /// The group that a command has registered. throws: StateError when none has this type
  template <class Config>
  const Config& of() const {
    for (const auto& [name, group] : groups)
      if (const auto* config = std::any_cast<Config>(&group)) return *config;
    throw core::StateError("no command has registered these settings");
  }
  std::uint64_t seed() const { return static_cast<std::uint64_t>(settings.run.seed); }
  train::ExchangeChoice exchange_choice() const { return problem->exchanges(settings); }
  /// The problem as one of that kind; null: it is of another one.
  template <class Kind>
  Kind* as() const {
    return dynamic_cast<Kind*>(problem.get());
  }
  /// throws: ConfigError that says what the problem is, where it is of another kind
  InverseProblem& inverse() const;
  LearningProblem& learning() const;
};

/// Reads `source` (a workload's name, NAME/SETTINGS, or a YAML file with a key `workload`), laid
/// over the workload's default settings, with `assignments` ("a.b=c") over both. throws:
/// ConfigError
Job read_job(const Workloads& workloads, const std::string& source,
             const std::vector<std::string>& assignments);

/// The same for commands that know problems of every kind; `read_job` refuses those without parameters.
Job read_any_job(const Workloads& workloads, const std::string& source,
                 const std::vector<std::string>& assignments);

/// The same for who needs the networks alone: what makes events is not read, and its files may be gone.
Job read_job_of_networks(const Workloads& workloads, const std::string& source);

/// Where the events of a channel are to come from in place of what the config says.
struct OtherEvents {
  std::string channel;
  std::int64_t toy_events = 0;
  data::DatasetConfig source{};  ///< what its file_fields list; no file: toy data
};

/// YAML for `change_job`: such channels, and one field of parameters ("toy", "truth") by their names.
std::string other_events(const Job& job, std::vector<OtherEvents> channels,
                         const std::string& field, std::map<std::string, double> values);

/// Lays a document over a job that has been read. Its `effective_config` stays what was asked for.
/// throws: ConfigError
void change_job(Job& job, const core::ConfigDocument& document);

/// What of a job is not as its workload's default settings have it, as YAML for a file in the folder
/// `beside` that reads back to the same job.
std::string changed_settings(const Workloads& workloads, Job& job, const std::string& beside);

/// What `read_job` reads: the settings of a workload, what `source` lays over them, the
/// assignments. Serves callers that must know whether a key was set. throws: ConfigError
core::ConfigDocument job_document(const Workloads& workloads, const std::string& source,
                                  const std::vector<std::string>& assignments);

/// Every field of a workload's config, on the values that this job has.
core::FieldList fields_of(const Workloads& workloads, Job& job);

/// The same, for `explain`.
std::vector<core::FieldDescription> describe_job(const Workloads& workloads, Job& job,
                                                 const std::string& prefix);

}  // namespace sagips::run

#include "sagips/env/outside/stage_config.hpp"

#include <algorithm>
#include <functional>
#include <mutex>
#include <optional>

#include "sagips/core/config/effects.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/process/child_process.hpp"
#include "sagips/core/text.hpp"
#include "sagips/env/outside/process_stage.hpp"
#include "sagips/env/outside/script_stage.hpp"
#include "sagips/env/stages/detector.hpp"
#include "sagips/env/stages/event_filter.hpp"

namespace sagips::env {

using core::ConfigError;
using core::text;

namespace {

/// Makes its stage once.
class Remembered : public StagePlan {
 public:
  Stage make(std::int64_t observables) const override {
    if (!made_) made_.emplace(make_once(observables));
    return *made_;
  }

 private:
  virtual Stage make_once(std::int64_t observables) const = 0;
  mutable std::optional<Stage> made_;
};

/// Who makes stages of Python functions in this process; set before configs are read, from any thread.
struct PythonStages {
  std::mutex mutex;
  FindPythonStage find;
};
PythonStages& python_stages() {
  static PythonStages stages;
  return stages;
}

class PythonPlan final : public Remembered {
 public:
  explicit PythonPlan(const core::GivenItem& given) {
    processes_.processes = 0;
    const auto found = given.folders.find("python");
    if (found != given.folders.end()) processes_.folder = core::path_from(found->second, ".");
  }
  void fields(core::FieldList& list) override {
    list.add("python", function_,
             "function of a module, \"MODULE:FUNCTION\", or a .pickle file that keeps one");
    list.add("interpreter", interpreter_,
             "program whose processes call it, where it has processes of its own");
    processes_.other_fields(list, 0);
    core::needs(list, !find_here(),
                "processes above 0: this process is Python and calls the function itself",
                {"interpreter", "timeout_s", "noise_dimensions", "seeds", "gradient", "on_error",
                 "most_skipped", "nan_is_lost", "log"});
  }

 private:
  Stage make_once(std::int64_t) const override {
    if (const FindPythonStage find = find_here()) return find(function_, processes_.folder);
    ProcessStage::Config config = processes_;
    config.processes = std::max<std::int64_t>(1, config.processes);
    config.command = text(interpreter_, " -m sagips.serve ", core::shell_word(function_));
    return ProcessStage(config);
  }

  // Nothing: it is called by processes of its own.
  FindPythonStage find_here() const {
    if (processes_.processes > 0) return {};
    const std::lock_guard lock(python_stages().mutex);
    return python_stages().find;
  }

  std::string function_, interpreter_ = "python3";
  ProcessStage::Config processes_;
};

class ScriptPlan final : public Remembered {
 public:
  void fields(core::FieldList& list) override {
    list.add_path("script", file_, "TorchScript module, a .pt file");
  }

 private:
  Stage make_once(std::int64_t) const override { return ScriptStage(file_); }
  std::string file_;
};

class ProcessPlan final : public Remembered {
 public:
  explicit ProcessPlan(const core::GivenItem& given) {
    const auto found = given.folders.find("process");
    if (found != given.folders.end()) config_.folder = core::path_from(found->second, ".");
  }
  void fields(core::FieldList& list) override { config_.fields(list); }

 private:
  Stage make_once(std::int64_t) const override { return ProcessStage(config_); }
  ProcessStage::Config config_;
};

class PluginPlan final : public Remembered {
 public:
  explicit PluginPlan(const core::GivenItem& given) {
    if (given.keys.empty()) return;  // it is only described
    const auto scalar = [&](const char* key) {
      const auto found = given.scalars.find(key);
      return found == given.scalars.end() ? std::string() : found->second;
    };
    file_ = scalar("plugin");
    if (!file_.empty()) file_ = core::path_from(given.folders.at("plugin"), file_);
    stage_ = scalar("stage");
    const PluginStages stages = load_plugin(file_);
    if (stage_.empty() && stages.entries().size() == 1) stage_ = stages.entries().begin()->first;
    const auto entry = stages.entries().find(stage_);
    if (entry == stages.entries().end()) {
      std::vector<std::string> known;
      for (const auto& one : stages.entries()) known.push_back(one.first);
      throw ConfigError(given.where, text("unknown stage '", stage_, "' of the plug-in '", file_,
                                          "'", core::suggestion(stage_, known)));
    }
    plan_ = entry->second.plan();
  }
  void fields(core::FieldList& list) override {
    list.add_path("plugin", file_, "shared library");
    list.add("stage", stage_, "name of one of its stages");
    if (plan_) plan_->fields(list);
  }

 private:
  Stage make_once(std::int64_t observables) const override { return plan_->make(observables); }
  std::string file_, stage_;
  std::unique_ptr<StagePlan> plan_;
};

/// A stage of SAGIPS whose settings are a group of its name.
template <class T>
class NamedPlan final : public StagePlan {
 public:
  NamedPlan(std::string name, std::string help) : name_(std::move(name)), help_(std::move(help)) {
    config_.enabled = true;  // naming it is enough
  }
  void fields(core::FieldList& list) override { list.group(name_, config_, help_); }
  Stage make(std::int64_t observables) const override {
    if (!config_.enabled)
      throw ConfigError("pipeline", text("the stage ", name_,
                                         " is there and not enabled. Leave it away instead."));
    return T(config_, observables);
  }

 private:
  std::string name_, help_;
  typename T::Config config_;
};

struct Kind {
  const char* key;
  std::function<std::shared_ptr<StagePlan>(const core::GivenItem&)> plan;
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = {
      {"script", [](const auto&) { return std::make_shared<ScriptPlan>(); }},
      {"plugin", [](const auto& given) { return std::make_shared<PluginPlan>(given); }},
      {"python", [](const auto& given) { return std::make_shared<PythonPlan>(given); }},
      {"process", [](const auto& given) { return std::make_shared<ProcessPlan>(given); }},
      {"detector",
       [](const auto&) {
         return std::make_shared<NamedPlan<Detector>>("detector",
                                                      "smears and mixes the observables");
       }},
      {"event_filter",
       [](const auto&) {
         return std::make_shared<NamedPlan<EventFilter>>("event_filter",
                                                         "keeps events inside a box");
       }},
  };
  return all;
}

std::vector<std::string> kind_names() {
  std::vector<std::string> names;
  for (const Kind& kind : kinds()) names.push_back(kind.key);
  return names;
}

}  // namespace

StageConfig StageConfig::from(const core::GivenItem& given) {
  for (const Kind& kind : env::kinds())
    if (std::find(given.keys.begin(), given.keys.end(), kind.key) != given.keys.end())
      return StageConfig(kind.plan(given));
  const std::string first = given.keys.empty() ? std::string() : given.keys.front();
  throw ConfigError(given.where, text(given.key, ": '", first, "' is no kind of stage",
                                      core::suggestion(first, kind_names())));
}

std::vector<StageConfig> StageConfig::kinds() {
  std::vector<StageConfig> all;
  for (const Kind& kind : env::kinds()) all.push_back(StageConfig(kind.plan({})));
  return all;
}

std::string StageConfig::help() {
  return text("stages, one after the other, each a group with one of the keys ",
              core::join(kind_names(), ", "));
}

void find_python_stages(FindPythonStage find) {
  const std::lock_guard lock(python_stages().mutex);
  python_stages().find = std::move(find);
}

void append(Pipeline& pipeline, const std::vector<StageConfig>& stages, std::int64_t observables) {
  for (const StageConfig& stage : stages) pipeline.append(stage.make(observables));
}

}  // namespace sagips::env

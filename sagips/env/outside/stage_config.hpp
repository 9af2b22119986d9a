#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sagips/core/config/config.hpp"
#include "sagips/env/outside/plugin.hpp"
#include "sagips/env/pipeline.hpp"

namespace sagips::env {

/// One stage of `pipeline: [...]` in a config; one of its keys says which kind it is:
/// {script: FILE.pt}, {plugin: FILE.so, stage: NAME, ...}, {python: "MODULE:FUNCTION", ...},
/// {process: "COMMAND", ...}, {detector: {...}}, {event_filter: {...}}.
class StageConfig {
 public:
  /// throws: ConfigError when no key is a kind; what load_plugin throws
  static StageConfig from(const core::GivenItem& given);
  /// One of each kind with its default options, to be described.
  static std::vector<StageConfig> kinds();
  void fields(core::FieldList& list) { plan_->fields(list); }
  /// The same stage each time: a script is read and simulators are started once.
  Stage make(std::int64_t observables) const { return plan_->make(observables); }

  static std::string help();  ///< of a list of these

 private:
  explicit StageConfig(std::shared_ptr<StagePlan> plan) : plan_(std::move(plan)) {}
  std::shared_ptr<StagePlan> plan_;
};

/// Makes a stage of a Python function in this process. function: "MODULE:FUNCTION", or a file that keeps one;
/// folder: where modules are looked for, too. throws: ConfigError
using FindPythonStage =
    std::function<Stage(const std::string& function, const std::string& folder)>;
/// From now on {python: ...} without processes of its own is this program's; called by programs that are Python.
void find_python_stages(FindPythonStage find);

/// Puts the stages of a config behind those that are there.
void append(Pipeline& pipeline, const std::vector<StageConfig>& stages, std::int64_t observables);

}  // namespace sagips::env

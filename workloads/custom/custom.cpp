#include "workloads/custom/custom.hpp"

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/env/outside/stage_config.hpp"

namespace sagips::workloads {

std::map<std::string, std::string> custom_settings();

namespace {

using core::ConfigError;
using core::text;

struct CustomParameter {
  std::string name{};
  std::optional<double> low{}, high{}, truth{}, toy{}, fixed{};
  std::string unit{}, help{};

  void fields(core::FieldList& list) {
    list.add("low", low, "lower end of the range of " + name);
    list.add("high", high, "upper end of the range of " + name);
    list.add("truth", truth, "true value of " + name + ", when known");
    list.add("toy", toy, "value of " + name + " that toy data are made with");
    list.add("fixed", fixed, "hold " + name + " at this value; null: free");
    list.add("unit", unit, "for tables and figures");
    list.add("help", help, "what it is, in a few words");
  }
  env::Parameter parameter() const {
    if (!low || !high)
      throw ConfigError("parameters." + name, "has no range. Set its low and its high.");
    return {.name = name,
            .unit = unit,
            .low = *low,
            .high = *high,
            .truth = truth,
            .fixed = fixed,
            .toy = toy,
            .help = help};
  }
};

// "t [us]" is t with a unit.
problem::Observable observable(const std::string& word) {
  const std::size_t open = word.find('[');
  if (open == std::string::npos || word.back() != ']') return {core::trim(word), ""};
  return {core::trim(word.substr(0, open)), word.substr(open + 1, word.size() - open - 2)};
}

class Custom final : public problem::Workload {
 public:
  void fields(core::FieldList& list) override {
    list.named_groups("parameters", parameters_, "what is to be found, by name");
    list.add("observables", observables_,
             "names of an event's numbers, in the order of the pipeline's output; \"t [us]\" has a "
             "unit");
    list.list("pipeline", stages_, env::StageConfig::help());
  }

  std::vector<env::Parameter> parameters() const override {
    std::vector<env::Parameter> all;
    for (const CustomParameter& one : parameters_) all.push_back(one.parameter());
    return all;
  }

  // asked for before the config is read
  std::vector<std::string> channel_names() const override { return {problem::ChannelPlan{}.name}; }

  std::vector<problem::ChannelPlan> channels() const override {
    if (observables_.empty())
      throw ConfigError("observables", "is empty. Name an event's numbers: observables: [t].");
    if (stages_.empty())
      throw ConfigError("pipeline", "is empty. Give it a stage: pipeline: [{script: FILE.pt}].");
    problem::ChannelPlan plan;
    for (const std::string& word : observables_) plan.observables.push_back(observable(word));
    env::append(plan.pipeline, stages_, static_cast<std::int64_t>(observables_.size()));
    return {plan};
  }

 private:
  std::vector<CustomParameter> parameters_;
  std::vector<std::string> observables_;
  std::vector<env::StageConfig> stages_;
};

}  // namespace

problem::WorkloadEntry custom_workload() {
  return {"custom", "your own problem: parameters, observables and pipeline from a YAML file",
          custom_settings(), [] { return std::make_unique<Custom>(); }};
}

}  // namespace sagips::workloads

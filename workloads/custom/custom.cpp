#include "workloads/custom/custom.hpp"

#include <algorithm>

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
  bool periodic = false;

  void fields(core::FieldList& list) {
    list.add("low", low, "lower end of the range of " + name);
    list.add("high", high, "upper end of the range of " + name);
    list.add("truth", truth, "true value of " + name + ", when known");
    list.add("toy", toy, "value of " + name + " that toy data are made with");
    list.add("fixed", fixed, "hold " + name + " at this value; null: free");
    list.add("periodic", periodic, "both ends of the range are the same point, as of a phase");
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
            .help = help,
            .periodic = periodic};
  }
};

// "t [us]" is t with a unit.
problem::Observable observable(const std::string& word) {
  const std::size_t open = word.find('[');
  if (open == std::string::npos || word.back() != ']') return {core::trim(word), ""};
  return {core::trim(word.substr(0, open)), word.substr(open + 1, word.size() - open - 2)};
}

// The head of a channel that sees some of the parameters.
struct ChosenParameters {
  std::vector<std::int64_t> columns;

  torch::Tensor operator()(torch::Tensor parameters, env::Noise&) const {
    std::vector<torch::Tensor> chosen;
    for (const std::int64_t column : columns) chosen.push_back(parameters.select(1, column));
    return torch::stack(chosen, 1);
  }
  std::string name() const { return "parameters"; }
};

constexpr const char* observables_help =
    "names of an event's numbers, in the order of the pipeline's output; \"t [us]\" has a unit";

/// One of several data sets with a pipeline of its own.
struct CustomChannel {
  std::string name{};
  std::vector<std::string> parameters{}, observables{};
  std::vector<env::StageConfig> stages{};
  problem::ChannelSettings settings{};

  void fields(core::FieldList& list) {
    list.add("parameters", parameters,
             "those that its pipeline gets, in this order; []: all, as they are listed above");
    list.add("observables", observables, observables_help);
    list.list("pipeline", stages, env::StageConfig::help());
    settings.fields(list);
  }
};

class Custom final : public problem::Workload {
 public:
  void fields(core::FieldList& list) override {
    list.named_groups("parameters", parameters_, "what is to be found, by name");
    list.add("observables", observables_, observables_help);
    list.list("pipeline", stages_, env::StageConfig::help());
    list.named_groups("channels", channels_,
                      "several data sets by name, each with a pipeline; in place of `pipeline`");
  }

  std::vector<env::Parameter> parameters() const override {
    std::vector<env::Parameter> all;
    for (const CustomParameter& one : parameters_) all.push_back(one.parameter());
    return all;
  }

  // asked for before the config is read
  std::vector<std::string> channel_names() const override { return {problem::ChannelPlan{}.name}; }

  std::vector<problem::ChannelPlan> channels() const override {
    if (channels_.empty()) return {plan("", observables_, stages_)};
    if (!stages_.empty())
      throw ConfigError("pipeline",
                        "stands beside channels (whose events would it make?). Give each channel "
                        "its own: channels.NAME.pipeline.");
    std::vector<problem::ChannelPlan> plans;
    for (const CustomChannel& channel : channels_) {
      const std::string group = "channels." + channel.name + ".";
      const bool has_odd_letter =
          std::any_of(channel.name.begin(), channel.name.end(), [](char letter) {
            return letter == '/' || std::iscntrl(static_cast<unsigned char>(letter)) != 0;
          });
      if (channel.name.empty() || channel.name.front() == '.' || has_odd_letter)
        throw ConfigError("channels",
                          text("'", core::excerpt(channel.name),
                               "' cannot be a channel's name (files are called after it). Use "
                               "letters and digits."));
      problem::ChannelPlan made =
          plan(group, channel.observables.empty() ? observables_ : channel.observables,
               channel.stages, channel.parameters);
      made.name = channel.name;
      made.settings = channel.settings;
      plans.push_back(std::move(made));
    }
    return plans;
  }

 private:
  // group: of the config, for messages
  problem::ChannelPlan plan(const std::string& group, const std::vector<std::string>& observables,
                            const std::vector<env::StageConfig>& stages,
                            const std::vector<std::string>& chosen = {}) const {
    if (observables.empty())
      throw ConfigError(group + "observables",
                        "is empty. Name an event's numbers: observables: [t].");
    if (stages.empty())
      throw ConfigError(group + "pipeline",
                        "is empty. Give it a stage: pipeline: [{script: FILE.pt}].");
    problem::ChannelPlan plan;
    plan.cuts_select_events = true;
    for (const std::string& word : observables) {
      plan.observables.push_back(observable(word));
      const std::string& name = plan.observables.back().name;
      if (std::count_if(plan.observables.begin(), plan.observables.end(),
                        [&](const auto& one) { return one.name == name; }) > 1)
        throw ConfigError(group + "observables", text("names '", name, "' twice. Name each once."));
    }
    if (!chosen.empty()) plan.pipeline.append(ChosenParameters{columns(group, chosen)});
    env::append(plan.pipeline, stages, static_cast<std::int64_t>(observables.size()));
    return plan;
  }

  std::vector<std::int64_t> columns(const std::string& group,
                                    const std::vector<std::string>& chosen) const {
    std::vector<std::string> known;
    for (const CustomParameter& one : parameters_) known.push_back(one.name);
    std::vector<std::int64_t> found;
    for (const std::string& name : chosen) {
      const auto place = std::find(known.begin(), known.end(), name);
      if (place == known.end())
        throw ConfigError(group + "parameters",
                          text("names the unknown '", name, "'", core::suggestion(name, known)));
      found.push_back(place - known.begin());
      if (std::count(found.begin(), found.end(), found.back()) > 1)
        throw ConfigError(group + "parameters", text("names '", name, "' twice. Name each once."));
    }
    return found;
  }

  std::vector<CustomParameter> parameters_;
  std::vector<std::string> observables_;
  std::vector<env::StageConfig> stages_;
  std::vector<CustomChannel> channels_;
};

}  // namespace

problem::WorkloadEntry custom_workload() {
  return {"custom", "your own problem: parameters, observables and pipeline from a YAML file",
          custom_settings(), [] { return std::make_unique<Custom>(); }};
}

}  // namespace sagips::workloads

#include "sagips/run/predict.hpp"

#include <cmath>
#include <iostream>

#include "sagips/analysis/table.hpp"
#include "sagips/cli/commands.hpp"
#include "sagips/core/text.hpp"

namespace sagips::cli {

namespace {

using Rows = std::vector<std::vector<std::string>>;

// inputs=FILE, or inputs.NAME=FILE of each of several tensors.
void take_inputs(std::vector<std::string>& assignments, data::InputFiles& inputs) {
  if (std::string all = take_assignment(assignments, "inputs"); !all.empty()) inputs[""] = all;
  const std::string group = "inputs.";
  for (const std::string& one : std::vector<std::string>(assignments)) {
    const std::string key = one.substr(0, one.find('='));
    if (key.starts_with(group))
      inputs[key.substr(group.size())] = take_assignment(assignments, key);
  }
}

std::string files_of(const run::Predicted& predicted) {
  std::vector<std::string> files;
  for (const run::PredictedOutput& output : predicted.outputs) files.push_back(output.file);
  return core::join(files, ", ");
}

// Nothing where it is not given.
std::optional<std::int64_t> take_whole(std::vector<std::string>& assignments,
                                       const std::string& key, double lowest, double highest) {
  const std::string given = take_assignment(assignments, key);
  if (given.empty()) return std::nullopt;
  double number = 0;
  if (!core::parse_number(given, number) || number < lowest || number > highest ||
      number != std::floor(number))
    throw core::ConfigError(key, core::text(core::excerpt(given), " is no whole number from ",
                                            lowest, " to ", highest > 1e9 ? "2^53" : "1e9", "."));
  return static_cast<std::int64_t>(number);
}

run::PredictOptions options_of(std::vector<std::string> assignments) {
  run::PredictOptions options{.out = take_assignment(assignments, "out")};
  take_inputs(assignments, options.inputs);
  options.samples = take_whole(assignments, "samples", 1, 1e9);
  options.seed = take_whole(assignments, "seed", 0, 9007199254740992.0);
  if (std::string device = take_assignment(assignments, "device"); !device.empty())
    options.device = std::move(device);
  if (const std::string network = take_assignment(assignments, "network"); !network.empty()) {
    if (network != "last" && network != "best")
      throw core::ConfigError("network",
                              core::text(core::excerpt(network), " is neither best nor last."));
    options.best = network == "best";
  }
  if (!assignments.empty())
    throw core::ConfigError(
        "command line",
        core::text("'", assignments.front(), "' is not known here (a trained network keeps its ",
                   "config). Known: samples=N of a generator; inputs=FILE (of one of several ",
                   "tensors inputs.NAME=FILE) and network=last of networks that learn from ",
                   "rows; those (or a number), samples=N and seed=N of a generator of examples; ",
                   "out=FILE.npy, of showers FILE.h5; device=cuda"));
  return options;
}

void show_proposals(const run::Predicted& predicted) {
  Rows table;
  for (const run::PredictedParameter& one : predicted.parameters)
    table.push_back(
        {one.name, one.unit, core::significant(one.mean, 6), core::significant(one.spread, 3)});
  std::cout << analysis::plain_table({"parameter", "unit", "mean", "spread"}, table)
            << "spread: over noise vectors, no error of the parameter\n"
            << core::with_thousands(predicted.rows) << " proposals: " << files_of(predicted);
}

void show_examples(const run::Predicted& predicted) {
  std::cout << "network: " << predicted.networks.front() << '\n';
  if (!predicted.conditions.empty())
    std::cout << "conditions: " << core::join(predicted.conditions, ", ") << '\n';
  std::cout << core::with_thousands(predicted.rows) << " examples, "
            << core::significant(predicted.per_second, 3) << " a second: " << files_of(predicted);
}

const char* rows_text(const run::Predicted& predicted) {
  return predicted.what == run::Predicted::What::probabilities ? " rows of probabilities" : " rows";
}

void show_network(const run::Predicted& predicted) {
  Rows table;
  for (const run::PredictedMetric& one : predicted.metrics)
    table.push_back({one.name, core::significant(one.value, 4)});
  if (!table.empty()) std::cout << analysis::plain_table({"metric", "rows kept aside"}, table);
  std::cout << "network: " << predicted.networks.front() << '\n'
            << core::with_thousands(predicted.rows) << rows_text(predicted) << ": "
            << files_of(predicted);
}

void show_networks(const run::Predicted& predicted, const run::PredictOptions& options) {
  Rows table;
  for (const run::PredictedMetric& one : predicted.metrics)
    table.push_back({one.name, core::significant(one.value, 4), core::significant(one.mean, 4),
                     core::significant(one.deviation, 2)});
  if (!table.empty())
    std::cout << analysis::plain_table({"metric", "together", "mean of each", "deviation"}, table);
  std::cout << core::with_thousands(predicted.rows) << rows_text(predicted) << ", means of "
            << predicted.networks.size() << " networks"
            << (options.inputs.empty() ? ", of each row those that have not learned from it: "
                                       : ": ")
            << files_of(predicted);
  if (options.inputs.empty() && options.best.value_or(true))
    std::cout << "\nnetworks: the best of each, chosen by these rows (a little too good; "
                 "network=last: those of the end)";
  if (const std::string& spread = predicted.outputs.front().spread_file; !spread.empty())
    std::cout << "\ndeviations among the networks: "
              << (predicted.outputs.size() > 1 ? "beside these, *_spread.npy" : spread);
}

}  // namespace

core::ExitCode predict(const Workloads& workloads, const Arguments& arguments) {
  const run::PredictOptions options = options_of(arguments.assignments);
  core::Log log;
  const run::Predicted predicted = run::predict(workloads, arguments.source, options, log);
  for (const std::string& file : predicted.removed_spreads)
    std::cout << "removed " << file << ", which was of other predictions\n";
  for (const std::string& file : predicted.foreign_spreads)
    std::cout << "warning: " << file << " is not of these predictions\n";
  if (predicted.what == run::Predicted::What::proposals)
    show_proposals(predicted);
  else if (predicted.what == run::Predicted::What::examples)
    show_examples(predicted);
  else if (predicted.networks.size() > 1)
    show_networks(predicted, options);
  else
    show_network(predicted);
  std::cout << std::endl;
  return core::ExitCode::done;
}

}  // namespace sagips::cli

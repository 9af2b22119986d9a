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

run::PredictOptions options_of(std::vector<std::string> assignments) {
  run::PredictOptions options{.out = take_rows_file(assignments)};
  take_inputs(assignments, options.inputs);
  if (const std::string count = take_assignment(assignments, "samples"); !count.empty()) {
    double samples = 0;
    if (!core::parse_number(count, samples) || samples < 2 || samples > 1e9 ||
        samples != std::floor(samples))
      throw core::ConfigError(
          "samples", core::text(core::excerpt(count), " is no whole number from 2 to 1e9."));
    options.samples = static_cast<std::int64_t>(samples);
  }
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
                   "rows; out=FILE.npy"));
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
  const run::Predicted predicted = run::predict(workloads, arguments.source, options);
  for (const std::string& file : predicted.removed_spreads)
    std::cout << "removed " << file << ", which was of other predictions\n";
  for (const std::string& file : predicted.foreign_spreads)
    std::cout << "warning: " << file << " is not of these predictions\n";
  if (predicted.what == run::Predicted::What::proposals)
    show_proposals(predicted);
  else if (predicted.networks.size() > 1)
    show_networks(predicted, options);
  else
    show_network(predicted);
  std::cout << std::endl;
  return core::ExitCode::done;
}

}  // namespace sagips::cli

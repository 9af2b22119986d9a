#include "sagips/record/experiments.hpp"

#include <filesystem>
#include <map>
#include <system_error>

#include "sagips/record/json_lines.hpp"

namespace sagips::record {

void each_field(Either<ExperimentEstimate> auto& estimate, const auto& use) {
  use("errors_from", estimate.errors_from);
  use("values", estimate.values);
  use("errors", estimate.errors);
}

void each_field(Either<Experiment> auto& experiment, const auto& use) {
  use("experiment", experiment.number);
  use("time_s", experiment.time_s);
  use("core_s", experiment.core_s);
  use("failure", experiment.failure);
  use("estimates", experiment.estimates);
  use.later("warnings", experiment.warnings);
}

namespace {

void read_file_into(const std::string& path, std::map<std::int64_t, Experiment>& found) {
  read_json_lines(path, "experiment", [&](const Json& line) {
    Experiment one;
    read_into(one, line);
    const auto [before, is_new] = found.emplace(one.number, one);
    if (is_new) return;
    one.attempts = before->second.attempts + 1;
    if (!before->second.failure.empty()) before->second = one;
    before->second.attempts = one.attempts;
  });
}

}  // namespace

void append_experiment(const std::string& path, const Experiment& experiment) {
  append_json_line(path, json_of(experiment));
}

std::vector<Experiment> read_experiments(const std::string& folder) {
  std::map<std::int64_t, Experiment> found;
  std::error_code missing;
  for (const auto& entry : std::filesystem::directory_iterator(folder, missing))
    if (entry.path().extension() == ".jsonl") read_file_into(entry.path().string(), found);
  std::vector<Experiment> experiments;
  for (auto& [number, one] : found) experiments.push_back(std::move(one));
  return experiments;
}

std::map<std::string, int> warned(const std::vector<Experiment>& experiments) {
  std::map<std::string, int> times;
  for (const Experiment& one : experiments)
    for (const std::string& code : one.warnings) ++times[code];
  return times;
}

}  // namespace sagips::record

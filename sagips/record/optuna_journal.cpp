#include "sagips/record/optuna_journal.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <ctime>

#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"
#include "sagips/record/json.hpp"

namespace sagips::record {

namespace {

constexpr int create_study = 0, create_trial = 4;  // its operations
constexpr int minimised = 1, maximised = 2;        // its directions
constexpr int running = 0, complete = 1, pruned = 2, failed = 3;

std::string time_of(double seconds) {
  const auto whole = static_cast<std::time_t>(seconds);
  std::tm parts{};
  ::gmtime_r(&whole, &parts);
  std::array<char, 64> date{}, all{};
  std::strftime(date.data(), date.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  std::snprintf(all.data(), all.size(), "%.19s.%06d+00:00", date.data(),
                static_cast<int>((seconds - static_cast<double>(whole)) * 1e6));
  return all.data();
}

// It keeps each as a text of its own.
std::string distribution_of(const OptunaParameter& parameter) {
  Json attributes;
  std::string name = "CategoricalDistribution";
  if (!parameter.values.empty()) {
    attributes["choices"] = parameter.values;
  } else if (parameter.integer) {
    name = "IntDistribution";
    attributes = {{"log", parameter.log},
                  {"step", 1},
                  {"low", static_cast<std::int64_t>(parameter.low)},
                  {"high", static_cast<std::int64_t>(parameter.high)}};
  } else {
    name = "FloatDistribution";
    attributes = {{"step", nullptr},
                  {"low", parameter.low},
                  {"high", parameter.high},
                  {"log", parameter.log}};
  }
  return Json{{"name", name}, {"attributes", attributes}}.dump();
}

// A number, or the place among the words.
std::optional<double> number_of(const OptunaParameter& parameter, const std::string& value) {
  if (!parameter.values.empty()) {
    const auto found = std::find(parameter.values.begin(), parameter.values.end(), value);
    if (found == parameter.values.end()) return {};
    return static_cast<double>(found - parameter.values.begin());
  }
  double number = 0;
  if (!core::parse_number(value, number)) return {};
  return std::clamp(number, parameter.low, parameter.high);
}

int state_of(const TrialRecord& trial) {
  if (!trial.end) return running;
  using State = TrialEnd::State;
  if (trial.end->state == State::failed || !trial.end->value) return failed;
  return trial.end->state == State::ended_early ? pruned : complete;
}

Json line_of(const TrialRecord& trial, const std::vector<OptunaParameter>& parameters) {
  Json line{{"op_code", create_trial},
            {"worker_id", trial.claim.worker},
            {"study_id", 0},
            {"datetime_start", time_of(trial.first_claimed_s)},
            {"state", state_of(trial)},
            {"value", nullptr},
            {"values", nullptr},
            {"distributions", Json::object()},
            {"params", Json::object()},
            {"user_attrs", {{"trial", trial.claim.number}}},
            {"system_attrs", Json::object()},
            {"intermediate_values", Json::object()}};
  for (const OptunaParameter& parameter : parameters)
    for (const std::string& setting : trial.claim.settings) {
      if (setting.rfind(parameter.name + "=", 0) != 0) continue;
      const auto number = number_of(parameter, setting.substr(parameter.name.size() + 1));
      if (!number) continue;
      line["distributions"][parameter.name] = distribution_of(parameter);
      line["params"][parameter.name] = *number;
    }
  std::int64_t step = 0;  // of folds one after the other
  std::pair<std::int64_t, double> before{0, 0};
  for (const TrialReport& report : trial.reports) {
    const std::pair now{report.fold, report.epochs};
    if (report.last || now <= before) continue;  // once more after a restart
    before = now;
    if (std::isfinite(report.value)) line["intermediate_values"][core::text(step++)] = report.value;
  }
  if (!trial.end) return line;
  if (trial.end->value && std::isfinite(*trial.end->value)) line["value"] = *trial.end->value;
  line["datetime_complete"] = time_of(trial.end->ended_s);
  if (!trial.end->reason.empty()) line["user_attrs"]["reason"] = trial.end->reason;
  return line;
}

}  // namespace

void write_optuna_journal(const std::string& path, const std::string& study, bool maximise,
                          const std::vector<OptunaParameter>& parameters,
                          const std::map<std::int64_t, TrialRecord>& trials) {
  std::string lines = file_text({{"op_code", create_study},
                                 {"worker_id", "sagips"},
                                 {"study_name", study},
                                 {"directions", {maximise ? maximised : minimised}}},
                                -1);
  for (const auto& [number, trial] : trials) lines += file_text(line_of(trial, parameters), -1);
  core::write_file(path, lines);
}

}  // namespace sagips::record

#include "sagips/study/tune/trial_table.hpp"

#include <algorithm>
#include <vector>

#include "sagips/analysis/table.hpp"
#include "sagips/core/text.hpp"
#include "sagips/study/tune/early_end.hpp"
#include "sagips/study/tune/next_trial.hpp"

namespace sagips::study {

namespace {

using core::text;
using State = record::TrialEnd::State;
using Trials = std::map<std::int64_t, record::TrialRecord>;

std::string shown(const std::optional<double>& value) {
  return value ? core::significant(*value, 4) : "";
}

std::string state_of(const record::TrialRecord& trial) {
  const std::string word = record::word_of(trial);
  return word == "running" && trial.claim.attempt > 1 ? text(word, ", start ", trial.claim.attempt)
                                                      : word;
}

std::optional<double> value_of(const record::TrialRecord& trial) {
  if (trial.end) return trial.end->value;
  const auto summary = summary_of(trial);
  return summary ? std::optional(summary->mean) : std::nullopt;
}

std::string spread_of(const record::TrialEnd& end) {
  return end.spread && *end.spread > 0 ? text(" ± ", core::significant(*end.spread, 2)) : "";
}

// Empty where the key does not count.
std::string setting(const record::TrialClaim& claim, const std::string& key) {
  for (const std::string& one : claim.settings)
    if (one.rfind(key + "=", 0) == 0) return one.substr(key.size() + 1);
  return {};
}

// The last part of a key, unless another key ends in the same.
std::string short_name(const std::string& key, const std::vector<std::string>& keys) {
  const std::string end = key.substr(key.rfind('.') + 1);
  const auto same = std::count_if(keys.begin(), keys.end(), [&](const std::string& one) {
    return one.substr(one.rfind('.') + 1) == end;
  });
  return same > 1 ? key : end;
}

std::string line_of(const record::TrialRecord& trial, const TuneConfig& config) {
  const record::TrialEnd& end = *trial.end;
  std::string line = text("trial ", trial.claim.number, " ", record::word_of(end.state), ": ");
  if (end.value) line += text(config.metric(), " ", shown(end.value));
  line += spread_of(end);
  if (!end.reason.empty()) line += text(end.value ? ", " : "", end.reason);
  return line + "; " + core::join(trial.claim.settings, " ");
}

}  // namespace

std::string trial_table(const Trials& trials, const TuneConfig& config, std::size_t most) {
  std::vector<const record::TrialRecord*> order;
  for (const auto& [number, trial] : trials) order.push_back(&trial);
  std::stable_sort(order.begin(), order.end(), [&](const auto* a, const auto* b) {
    return score_of(*a, config) < score_of(*b, config);
  });
  std::vector<std::string> keys;
  for (const TunedKey& tuned : config.space) keys.push_back(tuned.key);
  if (config.population.members > 0) keys.emplace_back("train.epochs");
  std::vector<std::vector<std::string>> rows;
  for (const record::TrialRecord* trial : order) {
    if (rows.size() == most) break;
    std::string value = shown(value_of(*trial));
    if (trial->end) value += spread_of(*trial->end);
    rows.push_back({text(trial->claim.number), value, state_of(*trial)});
    for (const std::string& key : keys) rows.back().push_back(setting(trial->claim, key));
  }
  std::vector<std::string> head = {"trial", config.metric(), "state"};
  for (const std::string& key : keys) head.push_back(short_name(key, keys));
  return analysis::plain_table(head, rows);
}

void TrialLog::look(const Trials& trials) {
  for (const auto& [number, trial] : trials) {
    if (!trial.end || !told_.insert(number).second || !begun_) continue;
    if (trial.end->state == State::failed)
      log_.warning("trial-failed", line_of(trial, config_));
    else
      log_.info(line_of(trial, config_));
  }
  begun_ = true;
}

}  // namespace sagips::study

#include "sagips/study/tune/tune_board.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <vector>

#include "sagips/analysis/table.hpp"
#include "sagips/comm/ranks.hpp"
#include "sagips/core/text.hpp"
#include "sagips/study/tune/early_end.hpp"
#include "sagips/study/tune/next_trial.hpp"

namespace sagips::study {

namespace {

using core::text;
using State = record::TrialEnd::State;
using Trials = std::map<std::int64_t, record::TrialRecord>;
constexpr std::int64_t draw_every_ns = 500'000'000;
constexpr std::size_t best_shown = 5;

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

TuneBoard::TuneBoard(const TuneConfig& config, core::Log& log)
    : config_(config),
      log_(log),
      terminal_(core::can_redraw(STDERR_FILENO) && !log.is_quiet()),
      began_ns_(comm::now_ns()) {}

TuneBoard::~TuneBoard() { clear(); }

void TuneBoard::clear() {
  for (; lines_ > 0; --lines_) std::cerr << "\x1b[1A\x1b[2K";
  std::cerr << std::flush;
}

std::string TuneBoard::table(const Trials& trials) const {
  Trials running, ended;
  for (const auto& [number, trial] : trials) (trial.end ? ended : running)[number] = trial;
  std::string lines;
  if (!ended.empty()) lines += trial_table(ended, config_, best_shown);
  if (!running.empty()) lines += trial_table(running, config_, best_shown * 2);
  const auto all = static_cast<std::size_t>(config_.all_trials());
  lines += text(ended.size(), " of ", all, " trials have ended, ", running.size(), " running");
  if (ended.size() > ended_before_) {
    const double passed_s = static_cast<double>(comm::now_ns() - began_ns_) * 1e-9;
    const double left = static_cast<double>(all - std::min(all, ended.size()));
    lines +=
        text(", about ",
             core::duration(passed_s * left / static_cast<double>(ended.size() - ended_before_)),
             " left");
  }
  return lines + "\n";
}

void TuneBoard::show(const Trials& trials) {
  for (const auto& [number, trial] : trials) {
    if (!trial.end || !told_.insert(number).second) continue;
    if (!begun_) {
      ++ended_before_;
      continue;
    }
    clear();
    if (trial.end->state == State::failed)
      log_.warning("trial-failed", line_of(trial, config_));
    else
      log_.info(line_of(trial, config_));
  }
  begun_ = true;
  if (!terminal_ || comm::now_ns() - drawn_ns_ < draw_every_ns) return;
  drawn_ns_ = comm::now_ns();
  const std::size_t width = core::terminal_size(STDERR_FILENO).columns;
  const std::string lines = core::trim(table(trials));
  clear();
  for (const std::string& line :
       core::split(lines, '\n')) {  // one that wraps could not be taken back
    std::cerr << core::cut_to_width(line, width) << '\n';
    ++lines_;
  }
  std::cerr << std::flush;
}

}  // namespace sagips::study

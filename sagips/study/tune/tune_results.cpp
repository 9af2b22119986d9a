#include "sagips/study/tune/tune_results.hpp"

#include <algorithm>
#include <cmath>

#include "sagips/core/csv.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"
#include "sagips/record/run_files.hpp"
#include "sagips/study/study_figure.hpp"
#include "sagips/study/tune/next_trial.hpp"
#include "sagips/study/tune/setting_space.hpp"
#include "sagips/study/tune/tune_board.hpp"

namespace sagips::study {

namespace {

namespace files = record::run_files;
using core::text;
using Trials = std::map<std::int64_t, record::TrialRecord>;
constexpr std::size_t printed = 10;

std::string csv_of(const Trials& trials, const TuneConfig& config) {
  const SettingSpace space(config.space);
  std::vector<std::string> head = {"trial", "state", config.metric(), "spread", "epochs", "time_s"};
  head.insert(head.end(), space.keys().begin(), space.keys().end());
  head.emplace_back("reason");
  std::string csv;
  for (std::size_t i = 0; i < head.size(); ++i) csv += (i > 0 ? "," : "") + core::csv_cell(head[i]);
  csv += '\n';
  const auto number = [](const std::optional<double>& value) {
    return value ? core::round_trip(*value) : std::string();
  };
  for (const auto& [trial, one] : trials) {
    const record::TrialEnd end = one.end.value_or(record::TrialEnd{});
    csv += text(trial, ",", one.end ? record::word_of(end.state) : "running", ",",
                number(end.value), ",", number(end.spread), ",", core::round_trip(end.epochs), ",",
                core::round_trip(end.time_s));
    for (std::size_t i = 0; i < space.keys().size(); ++i)
      csv += "," + (space.space().counts(one.claim.point, i)
                        ? core::csv_cell(space.value(one.claim.point, i))
                        : "");
    csv += "," + core::csv_cell(end.reason) + "\n";
  }
  return csv;
}

// Settings of a training as a config of its own.
std::string config_of(const TuneStudy& study, const record::TrialRecord& trial) {
  std::vector<std::string> settings = trial.claim.settings;
  for (const char* own : {"run.name=", "run.folder=runs"}) settings.emplace_back(own);
  run::Job job = run::read_any_job(study.workloads, training_config_of(study.folder), settings);
  return run::changed_settings(study.workloads, job, study.folder);
}

}  // namespace

bool write_tune_results(const TuneStudy& study, const run::Job&, const Trials& trials,
                        std::ostream& out, core::Log&) {
  out << trial_table(trials, study.config, printed);
  core::write_file(text(study.folder, "/", files::tried.name), csv_of(trials, study.config));
  const record::TrialRecord* best = best_trial(trials, study.config);
  if (best == nullptr) {
    out << "no trial has come to its end\n";
    return false;
  }
  const std::string config = text(study.folder, "/", files::best.name);
  core::write_file(config, config_of(study, *best) + "\n");
  out << "best: trial " << best->claim.number << ", " << study.config.metric() << " "
      << core::significant(*best->end->value, 4);
  if (best->end->spread) out << " ± " << core::significant(*best->end->spread, 2) << " over folds";
  out << "; " << core::join(best->claim.settings, " ") << "\nas a config: " << config << '\n';
  return true;
}

}  // namespace sagips::study

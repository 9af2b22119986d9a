#include "sagips/study/tune/tune_results.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numbers>
#include <numeric>
#include <optional>

#include "sagips/analysis/table.hpp"
#include "sagips/core/csv.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"
#include "sagips/optim/search/gaussian_process.hpp"
#include "sagips/optim/search/search_features.hpp"
#include "sagips/record/optuna_journal.hpp"
#include "sagips/record/run_files.hpp"
#include "sagips/study/study_figure.hpp"
#include "sagips/study/tune/next_trial.hpp"
#include "sagips/study/tune/objective.hpp"
#include "sagips/study/tune/trial_table.hpp"

namespace sagips::study {

namespace {

namespace files = record::run_files;
using core::text;
using Trials = std::map<std::int64_t, record::TrialRecord>;
constexpr std::size_t printed = 10;
constexpr std::size_t fewest_for_process = 8, most_for_process = 300;  // trials
constexpr std::size_t permutations = 5;
constexpr std::int64_t folds = 5;

std::string csv_of(const Trials& trials, const TuneConfig& config) {
  const SettingSpace space(config.space);
  std::vector<std::string> head = {"trial", "state", config.metric(), "spread", "epochs", "time_s"};
  head.insert(head.end(), space.keys().begin(), space.keys().end());
  const bool is_population = config.population.members > 0;
  if (is_population) head.insert(head.end(), {"member", "from"});
  head.emplace_back("reason");
  std::string csv = core::csv_line(head);
  for (const auto& [trial, one] : trials) {
    const record::TrialEnd end = one.end.value_or(record::TrialEnd{});
    std::vector<std::string> cells = {text(trial),
                                      record::word_of(one),
                                      core::csv_cell(end.value),
                                      core::csv_cell(end.spread),
                                      core::round_trip(end.epochs),
                                      core::round_trip(end.time_s)};
    for (std::size_t i = 0; i < space.keys().size(); ++i)
      cells.push_back(space.space().counts(one.claim.point, i) ? space.value(one.claim.point, i)
                                                               : "");
    if (is_population) cells.insert(cells.end(), {text(one.claim.member), text(one.claim.from)});
    cells.push_back(end.reason);
    csv += core::csv_line(cells);
  }
  return csv;
}

// A number, or the place of a value in its list.
double shown_number(const SettingSpace& space, const TuneConfig& config, const optim::Point& point,
                    std::size_t key) {
  if (!space.space().counts(point, key)) return std::nan("");
  if (!config.space[key].values.empty())
    return static_cast<double>(space.space().value(point, key));
  return std::stod(space.value(point, key));
}

std::optional<analysis::SearchedSettings> searched_settings(const Trials& trials,
                                                            const TuneConfig& config) {
  const SettingSpace space(config.space);
  analysis::SearchedSettings search{.metric = config.metric(),
                                    .maximise = !config.maximise.empty()};
  std::vector<optim::Point> points;
  std::vector<double> values;
  for (const auto& [number, trial] : trials) {
    if (!trial.end || !trial.end->value || !std::isfinite(*trial.end->value)) continue;
    analysis::SearchedTrial shown{
        .number = number,
        .value = *trial.end->value,
        .ended_early = trial.end->state == record::TrialEnd::State::ended_early};
    for (std::size_t key = 0; key < space.keys().size(); ++key)
      shown.settings.push_back(shown_number(space, config, trial.claim.point, key));
    points.push_back(trial.claim.point);
    values.push_back(shown.value);
    search.trials.push_back(std::move(shown));
  }
  if (search.trials.size() < 2) return {};
  for (const TunedKey& key : config.space)
    search.keys.push_back({key.key, key.log, key.integer, key.values});
  if (points.size() >= fewest_for_process && search.keys.size() > 1)
    find_importances(space, points, values, search.keys);
  return search;
}

std::string csv_of(const std::vector<analysis::SearchedKey>& keys) {
  std::string csv = "setting,importance,error\n";
  for (const analysis::SearchedKey& key : keys)
    csv += core::csv_line(key.name, key.importance, key.error);
  return csv;
}

bool has_importances(const analysis::SearchedSettings& search) {
  return search.keys.size() > 1 && std::any_of(search.keys.begin(), search.keys.end(),
                                               [](const auto& key) { return key.error > 0; });
}

// Returns the path of the picture to look at first; empty: there is none.
std::string draw(const TuneStudy& study, const run::Job& job,
                 const analysis::SearchedSettings& search, core::Log& log) {
  const auto picture = [&](const analysis::Figure& figure, const std::string& name) {
    return draw_figure(figure, job.settings.figures, study.folder, name, log);
  };
  std::string history = picture(analysis::search_history(search), "search_course");
  picture(analysis::search_slices(search), "search_slices");
  if (has_importances(search)) {
    picture(analysis::search_importance(search), "search_importance");
    picture(analysis::search_pairs(search), "search_pairs");
  }
  return history;
}

// How good the best trial is, and whether others are as good within what chance does.
std::string best_verdict(const record::TrialRecord& best, const Trials& trials,
                         const TuneConfig& config) {
  const double value = *best.end->value, spread = best.end->spread.value_or(0);
  std::int64_t done = 0, as_good = 0, equal = 0;  // the best one among them
  for (const auto& [number, trial] : trials) {
    const auto& end = trial.end;
    if (!end || end->state != record::TrialEnd::State::done || !end->value) continue;
    ++done;
    const double apart = std::abs(*end->value - value);
    as_good += apart <= std::hypot(spread, end->spread.value_or(0)) ? 1 : 0;
    equal += apart == 0 ? 1 : 0;
  }
  std::string reason = text("Trial ", best.claim.number, ": ",
                            core::join(best.claim.settings, ", "), " (best.yaml)."),
              mood = done > 1 && as_good == 1 ? "good" : "fair";
  if (equal > 1) reason += text(" ", equal - 1, " more of exactly this value.");
  if (!best.end->spread) {
    mood = "open";
    reason += " With one training a trial nobody knows what chance does (tune.seeds, tune.folds).";
  } else if (as_good > 1) {
    reason += text(" ", as_good - 1, " more within the spread over ",
                   config.folds > 1 ? "folds" : "seeds", ": ", trials.size(),
                   " trials do not settle which is the best.");
  }
  return core::csv_line(
      "What is best?",
      text(config.metric(), " ",
           spread > 0 ? analysis::with_error(value, spread) : core::significant(value, 4)),
      mood, reason);
}

std::string best_line(const record::TrialRecord& best, const TuneConfig& config) {
  std::string line = text("trial ", best.claim.number, ", ", config.metric(), " ",
                          core::significant(*best.end->value, 4));
  if (best.end->spread)
    line += text(" ± ", core::significant(*best.end->spread, 2),
                 config.folds > 1 ? " over folds" : " over seeds");
  return line + "; " + core::join(best.claim.settings, " ");
}

// Trials that a process sees. Multiples of the golden ratio lie evenly, and by size they have no period, which
// the order of a grid has.
std::vector<std::size_t> even_choice(std::size_t count) {
  const auto place = [](std::size_t i) {
    return std::fmod(static_cast<double>(i) * std::numbers::phi, 1.0);
  };
  std::vector<std::size_t> chosen(count);
  std::iota(chosen.begin(), chosen.end(), 0);
  std::sort(chosen.begin(), chosen.end(),
            [&](std::size_t a, std::size_t b) { return place(a) < place(b); });
  chosen.resize(std::min(count, most_for_process));
  return chosen;
}

// Equal values share the mean of their ranks.
torch::Tensor mean_ranks(const std::vector<double>& values) {
  const auto [different, places, counts] =
      at::_unique2(torch::tensor(values, torch::kFloat64), /*sorted=*/true,
                   /*return_inverse=*/true, /*return_counts=*/true);
  const torch::Tensor sizes = counts.to(torch::kFloat64);
  return (sizes.cumsum(0) - sizes / 2).index_select(0, places);
}

// Settings of a training as a config of its own.
std::string config_of(const TuneStudy& study, const record::TrialRecord& trial) {
  std::vector<std::string> settings = assignments_of(study.is_objective, trial.claim.settings);
  for (const char* own : {"run.name=", "run.folder=runs"}) settings.emplace_back(own);
  run::Job job = run::read_any_job(study.workloads, training_config_of(study.folder), settings);
  return run::changed_settings(study.workloads, job, study.folder);
}

// shape: changes of errors [keys, trials]
void state_importances(const torch::Tensor& changes, std::vector<analysis::SearchedKey>& keys) {
  for (std::size_t key = 0; key < keys.size(); ++key) {
    const torch::Tensor own = changes[static_cast<std::int64_t>(key)];
    keys[key].importance = std::clamp(own.mean().item<double>(), 0.0, 1.0);
    keys[key].error = own.std().item<double>() / std::sqrt(static_cast<double>(changes.size(1)));
  }
}

// The points with one key's values of others in their place.
std::vector<optim::Point> permuted(const std::vector<optim::Point>& points, std::size_t key,
                                   std::size_t shift) {
  std::vector<optim::Point> changed = points;
  for (std::size_t i = 0; i < points.size(); ++i)
    changed[i][key] =
        points[(i + shift * points.size() / (permutations + 1) + 1) % points.size()][key];
  return changed;
}

}  // namespace

void write_tune_results(const TuneStudy& study, const run::Job& job, TuneEnd& end, core::Log& log) {
  const Trials& trials = end.trials;
  end.tables = trial_table(trials, study.config, printed);
  core::write_file(text(study.folder, "/", files::tables.name), end.tables);
  const auto search = searched_settings(trials, study.config);
  const std::string importance = text(study.folder, "/", files::importance.name);
  if (search && has_importances(*search))
    core::write_file(importance, csv_of(search->keys));
  else
    std::filesystem::remove(importance);  // of an earlier end of this search
  if (search && job.settings.run.figures) end.figure = draw(study, job, *search, log);
  core::write_file(text(study.folder, "/", files::tried.name), csv_of(trials, study.config));
  const record::TrialRecord* best = best_trial(trials, study.config);
  const std::string found = text(study.folder, "/", files::best_trial.name);
  if (best == nullptr) {
    std::filesystem::remove(found);
    end.tables += "no trial has come to its end\n";
    return;
  }
  end.best = best->claim.number;
  record::write_trial(found, *best, study.config.metric());
  std::string verdicts = best_verdict(*best, trials, study.config);
  if (search && search->keys.size() > 1) {
    auto leading = analysis::leading_setting(*search);
    if (search->trials.size() > most_for_process)
      leading.reason += text(" By ", most_for_process, " of the trials, chosen evenly.");
    verdicts += core::csv_line("Which setting matters most?", leading.answer,
                               leading.is_settled ? "good" : "fair", leading.reason);
    end.tables += text("which setting matters most: ", leading.answer, "\n");
  }
  core::write_file(text(study.folder, "/", files::verdicts.name), verdicts);
  const std::string config = text(study.folder, "/", files::best.name);
  core::write_file(config, config_of(study, *best) + "\n");
  end.tables += text("best: ", best_line(*best, study.config), "\nas a config: ", config, "\n");
}

void find_importances(const SettingSpace& space, const std::vector<optim::Point>& all_points,
                      const std::vector<double>& all_values,
                      std::vector<analysis::SearchedKey>& keys) {
  torch::NoGradGuard no_grad;
  std::vector<optim::Point> points;
  std::vector<double> values;
  for (const std::size_t i : even_choice(all_points.size())) {
    points.push_back(all_points[i]);
    values.push_back(all_values[i]);
  }
  const auto trials = static_cast<std::int64_t>(points.size());
  const torch::Tensor ranks = mean_ranks(values);
  if (!(ranks.std(0, false).item<double>() > 0)) return;  // all alike
  const torch::Tensor unit = (ranks - ranks.mean()) / ranks.std(0, false);
  const torch::Tensor seen = optim::search_features(space.space(), points);
  const torch::Tensor fold = torch::arange(trials).remainder(folds);
  torch::Tensor changes =
      torch::zeros({static_cast<std::int64_t>(keys.size()), trials}, torch::kFloat64);
  for (std::int64_t k = 0; k < folds; ++k) {
    const torch::Tensor known = (fold != k).nonzero().flatten(),
                        aside = (fold == k).nonzero().flatten();
    const torch::Tensor inputs = seen.index_select(0, known), outputs = unit.index_select(0, known);
    const optim::GaussianProcess process(inputs, outputs,
                                         optim::GaussianProcess::most_probable(inputs, outputs));
    const auto errors = [&](const torch::Tensor& features) {
      return (process.predict(features.index_select(0, aside)).mean - unit.index_select(0, aside))
          .square();
    };
    const torch::Tensor error = errors(seen);
    for (std::size_t key = 0; key < keys.size(); ++key)
      for (std::size_t shift = 1; shift <= permutations; ++shift)
        changes[static_cast<std::int64_t>(key)].index_add_(
            0, aside,
            errors(optim::search_features(space.space(), permuted(points, key, shift))) - error);
  }
  state_importances(changes / (2.0 * permutations), keys);
}

void export_to_optuna(const TuneStudy& study, const Trials& trials, const std::string& path) {
  std::vector<record::OptunaParameter> parameters;
  for (const TunedKey& key : study.config.space)
    parameters.push_back(
        {key.key, key.low.value_or(0), key.high.value_or(1), key.log, key.integer, key.values});
  const std::filesystem::path folder = study.folder;
  const std::string name =
      (folder.has_filename() ? folder : folder.parent_path()).filename().string();
  record::write_optuna_journal(path, name, !study.config.maximise.empty(), parameters, trials);
}

}  // namespace sagips::study

#include "sagips/analysis/report/run_contents.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <sstream>

#include "sagips/analysis/lookup.hpp"
#include "sagips/core/config/config_value.hpp"
#include "sagips/core/config/config_yaml.hpp"
#include "sagips/core/csv.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"
#include "sagips/record/metrics.hpp"
#include "sagips/record/run_files.hpp"
#include "sagips/record/run_status.hpp"

namespace sagips::analysis::report {
namespace {

namespace files = record::run_files;
using State = RunContents::State;

constexpr std::size_t log_lines = 40;

std::string path_in(const std::string& folder, const record::RunFile& file) {
  return folder + "/" + file.name;
}

bool is_there(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

void flatten(const core::ConfigValue& value, const std::string& key,
             std::vector<record::NamedText>& settings) {
  using Kind = core::ConfigValue::Kind;
  const auto below = [&](const std::string& name) { return key.empty() ? name : key + "." + name; };
  if (value.kind == Kind::scalar || value.kind == Kind::none)
    settings.push_back({key, value.scalar});
  for (const auto& member : value.members) flatten(member.value, below(member.name), settings);
  for (std::size_t i = 0; i < value.items.size(); ++i)
    flatten(value.items[i], below(core::text(i)), settings);
}

/// Held by the process that writes the folder.
bool is_locked(const std::string& path) {
  const core::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return file.number() >= 0 && ::flock(file.number(), LOCK_SH | LOCK_NB) != 0;
}

void read_log(RunContents& run, const std::string& content) {
  std::istringstream lines(content);
  for (std::string line; std::getline(lines, line);) {
    if (line.find(" warning ") != std::string::npos || line.find(" error ") != std::string::npos)
      run.warnings.push_back(line);
    run.log.push_back(line);
  }
  if (run.log.size() > log_lines)
    run.log.erase(run.log.begin(), run.log.end() - static_cast<std::ptrdiff_t>(log_lines));
}

void read_timing(RunContents& run, const std::string& path) {
  for (const auto& row : core::read_csv_rows(path)) {
    double seconds = 0;
    if (row.size() == 2 && core::parse_number(row[1], seconds))
      run.timing.push_back({row[0], seconds});
  }
}

void list_figures(RunContents& run) {
  std::error_code problem;
  for (const auto& entry :
       std::filesystem::directory_iterator(path_in(run.folder, files::figures), problem))
    if (entry.path().extension() == ".svg") run.figures.push_back(entry.path().stem().string());
  std::sort(run.figures.begin(), run.figures.end());
}

/// Everything a study leaves beside its members; run folders have tables of their own for the rest.
void list_tables(RunContents& run) {
  std::error_code problem;
  for (const auto& entry : std::filesystem::directory_iterator(run.folder, problem)) {
    const std::string name = entry.path().filename().string();
    const bool is_shown_elsewhere = name == files::summary.name || name == files::timing.name ||
                                    name == files::exchange.name || name == files::visits.name ||
                                    name == files::verdicts.name ||
                                    name == files::convergence.name;  // long: the figures show it
    if (entry.path().extension() != ".csv" || is_shown_elsewhere) continue;
    run.tables.push_back(
        {entry.path().stem().string(), core::read_csv_rows(entry.path().string())});
  }
  std::sort(run.tables.begin(), run.tables.end(),
            [](const NamedTable& a, const NamedTable& b) { return a.name < b.name; });
}

/// Calls `use` with the path of a file of the run when it is there; what it throws is noted.
void if_there(RunContents& run, const std::string& file,
              const std::function<void(const std::string& path)>& use) {
  const std::string path = run.folder + "/" + file;
  if (!is_there(path)) return;
  try {
    use(path);
  } catch (const std::exception& problem) {
    run.unreadable.push_back(problem.what());
  }
}

/// Takes what `read` makes of a file of the run where it is there.
template <class Member, class Read>
void take(RunContents& run, const record::RunFile& file, Member& member, const Read& read) {
  if_there(run, file.name, [&](const std::string& path) { member = read(path); });
}

void read_members(RunContents& run) {
  for (const record::StudyMember& member : run.study->members) {
    MemberContents contents{member, {}};
    if_there(run, core::text(member.folder, "/", files::results.name),
             [&](const std::string& path) { contents.results = record::read_results_json(path); });
    run.members.push_back(std::move(contents));
  }
}

std::string progress(const RunContents& run) {
  const auto epochs = events_of<record::EpochDone>(run.metrics);
  if (epochs.empty()) return "before the first epoch was over";
  const record::EpochDone& last = *epochs.back();
  return core::text("after ", core::with_thousands(last.epoch),
                    last.epoch == 1 ? " epoch, " : " epochs, ", short_time(last.time_s),
                    " of training");
}

void settle_state(RunContents& run) {
  using Status = record::RunStatus;
  const auto status = record::read_run_record(run.folder);
  const bool has_ended = status && status->status != Status::unfinished;
  const bool locked = !has_ended && is_locked(path_in(run.folder, files::lock));
  const auto finished = events_of<record::RunFinished>(run.metrics);
  const std::string reason = run.results        ? run.results->finish_reason
                             : finished.empty() ? ""
                                                : finished.back()->reason.text;
  if (reason.rfind("failed", 0) == 0 || (status && status->status == Status::failed))
    run.state = State::failed;
  else if (run.results)  // it is written near the end, while the folder is still locked
    run.state = run.results->complete ? State::finished : State::stopped;
  else if (has_ended)
    run.state = status->status == Status::finished ? State::finished : State::stopped;
  else
    run.state = locked ? State::running : State::unfinished;
  const bool networks = run.results && run.results->epochs > 0;
  run.end = reason;
  if (networks || !run.results) run.end += core::text(reason.empty() ? "" : " ", progress(run));
  if (run.results && !networks)
    run.end += core::text(" after ", core::significant(run.results->time_s, 3), " s");
}

/// What `sagips compare` leaves has no single answer.
bool is_comparison(const RunContents& run) {
  return !run.results && run.metrics.empty() && is_there(path_in(run.folder, files::visits));
}

/// A study has come as far as its members.
void settle_study(RunContents& run) {
  using Member = record::StudyMember::State;
  const auto count = [&](Member state) {
    return std::count_if(run.members.begin(), run.members.end(),
                         [&](const MemberContents& one) { return one.member.state == state; });
  };
  run.end = core::text(count(Member::done), " of ", run.members.size(), " trainings done");
  if (count(Member::failed) > 0) run.end += core::text(", ", count(Member::failed), " failed");
  if (run.state == State::running) return;
  const bool ended = run.state == State::failed || run.state == State::stopped;
  if (count(Member::pending) > 0)
    run.state = ended ? run.state : State::unfinished;
  else
    run.state = count(Member::done) > 0 ? State::finished : State::failed;
}

void require_run(const std::string& folder) {
  const bool is_run = is_there(path_in(folder, files::config)) ||
                      is_there(path_in(folder, files::results)) ||
                      is_there(path_in(folder, files::metrics));
  if (!is_run)
    throw core::ConfigError(
        folder, is_there(folder)
                    ? "is no run folder (it has neither config.yaml nor results). Name a folder "
                      "that `sagips train` or `sagips solve` wrote, e.g. runs/proxy1d/look."
                    : "is not there. Name the folder of a run, e.g. runs/proxy1d/look.");
}

void read_files(RunContents& run) {
  if_there(run, files::config.name, [&](const std::string& path) {
    run.config = core::read_file(path);
    flatten(core::parse_yaml(run.config, path, core::Places::without_lines), "", run.settings);
  });
  take(run, files::results, run.results, record::read_results_json);
  take(run, files::metrics, run.metrics, record::read_metrics);
  take(run, files::environment, run.environment, record::read_environment);
  take(run, files::generator_samples, run.proposals,
       [](const std::string& path) { return core::read_npy(path); });
  take(run, files::tables, run.told, core::read_file);
  if_there(run, files::log.name,
           [&](const std::string& path) { read_log(run, core::read_file(path)); });
  if_there(run, files::timing.name, [&](const std::string& path) { read_timing(run, path); });
  take(run, files::verdicts, run.verdicts, core::read_csv_rows);
  take(run, files::exchange, run.exchange, core::read_csv_rows);
  take(run, files::monitor, run.used, core::read_csv_rows);
  take(run, files::study, run.study, record::read_study);
  if (run.study) read_members(run);
  for (const record::RunFile& file : {files::study, files::closure, files::simulated, files::tried})
    if (run.tables.empty()) if_there(run, file.name, [&](const std::string&) { list_tables(run); });
  list_figures(run);
}

std::string name_of(const std::string& folder) {
  std::error_code ignored;
  std::filesystem::path path = std::filesystem::weakly_canonical(folder, ignored);
  if (!path.has_filename()) path = path.parent_path();
  const std::string parent = path.parent_path().filename().string();
  return parent.empty() ? path.filename().string() : parent + "/" + path.filename().string();
}

}  // namespace

bool RunContents::is_learning() const {
  if (results)  // simulations and other studies have neither parameters nor networks of their own
    return results->parameters.empty() &&
           (!is_study() || results->method == record::learning_method);
  const auto evaluations = events_of<record::Evaluated>(metrics);
  return !evaluations.empty() && evaluations.front()->parameters.empty();
}

std::string RunContents::unit() const {
  const auto epochs = events_of<record::EpochDone>(metrics);
  if (!epochs.empty()) return epochs.back()->unit;
  return is_learning() ? "rows" : "events";
}

const std::vector<record::ParameterResult>& RunContents::parameters() const {
  static const std::vector<record::ParameterResult> none;
  return results ? results->parameters : none;
}

RunContents read_run(const std::string& folder) {
  require_run(folder);
  RunContents run;
  run.folder = folder;
  run.name = name_of(folder);
  read_files(run);
  if (const auto* setting = find_named(run.settings, "workload")) run.workload = setting->value;
  if (run.study) run.workload = run.study->workload;
  if (run.results) run.workload = run.results->workload;
  settle_state(run);
  if (run.study)
    settle_study(run);
  else if (run.is_study() && !run.results)
    run.end = "see the tables for what was asked and done";
  if (is_comparison(run) && run.state != State::running) {
    run.state = State::finished;
    run.end = "a comparison of methods; visits.csv has what each found, and when";
  }
  return run;
}

std::optional<double> number_of(const RunContents& run, const std::string& name) {
  if (!run.results) return std::nullopt;
  const record::NamedNumber* number = find_named(run.results->numbers, name);
  return number ? std::optional(number->value) : std::nullopt;
}

std::optional<FreeProposals> free_proposals(const RunContents& run) {
  if (!run.proposals || !run.results || run.proposals->shape.size() != 2) return std::nullopt;
  const std::size_t rows = run.proposals->shape[0], columns = run.proposals->shape[1];
  if (columns != run.parameters().size() || rows < 2) return std::nullopt;
  FreeProposals free;
  for (const record::ParameterResult& parameter : run.parameters())
    if (!parameter.fixed) free.parameters.push_back(&parameter);
  for (std::size_t i = 0; i < rows * columns; ++i)
    if (!run.parameters()[i % columns].fixed) free.samples.push_back(run.proposals->values[i]);
  return free;
}

FigureConfig figure_config(const RunContents& run) {
  FigureConfig config;
  core::FieldList list;
  config.fields(list);
  core::ConfigDocument document;
  for (const std::string key : {"width", "font_size"})
    if (const record::NamedText* setting = find_named(run.settings, "figures." + key))
      document.override_with(core::text(key, "=", setting->value));
  core::read_fields(document, list);
  return config;
}

std::string short_time(double s) {
  return s < 60 ? core::significant(s, 2) + " s" : core::duration(s);
}

std::string state_words(State state) {
  switch (state) {
    case State::finished:
      return "finished";
    case State::stopped:
      return "stopped early";
    case State::failed:
      return "failed";
    case State::running:
      return "still running";
    case State::unfinished:
      break;
  }
  return "unfinished";
}

}  // namespace sagips::analysis::report

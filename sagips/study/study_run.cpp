#include "sagips/study/study_run.hpp"

#include <algorithm>
#include <filesystem>

#include "sagips/core/config/config_difference.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"
#include "sagips/record/run_files.hpp"
#include "sagips/record/run_status.hpp"
#include "sagips/run/run_environment.hpp"
#include "sagips/run/run_report.hpp"

namespace sagips::study {

namespace {

namespace files = record::run_files;
using core::text;

// Before `open_run` offers --override, which would not help; a study that has finished goes on with it.
void check_changes(const run::Job& job, const record::RunIdentity& identity,
                   std::vector<std::string> may_change, record::Start start) {
  const std::string folder =
      core::text(job.settings.run.folder, "/", job.settings.workload, "/", job.settings.run.name);
  const std::string config = core::text(folder, "/", record::run_files::config.name);
  if (job.settings.run.name.empty() || !std::filesystem::exists(config)) return;
  auto record = record::read_run_record(folder);
  if (!record || record->command != identity.command) return;
  const bool goes_on = start == record::Start::with_changes && !may_change.empty();
  const bool has_finished = record->status == record::RunStatus::finished;
  if (has_finished && !goes_on) {
    if (may_change.empty()) return;
    throw core::StorageError(
        folder, text("this study has finished. Go on with it by --override and other values of ",
                     core::join(may_change, ", "), ", or choose another run.name."));
  }
  const auto& beside = record::keys_beside_identity();
  may_change.insert(may_change.end(), beside.begin(), beside.end());
  std::vector<std::string> changes = core::config_differences(
      core::read_file(config), identity.effective_config, config, may_change);
  if (record::has_other_data(*record, identity))
    changes.push_back(record::data_change(*record, identity));
  if (!changes.empty())
    throw core::ConfigError(
        config, core::text("this study was begun with another config (what is there could not be "
                           "compared with the rest): ",
                           core::join(changes, "; "), ". Begin one of another name."));
  if (!has_finished) return;
  const auto directory = record::RunDirectory::lock(folder);  // another process may be in it
  if (directory) record::write_run_status(folder, record::RunStatus::stopped);
}

record::OpenedRun open_study(const run::Job& job, const std::string& command,
                             const std::string& data, record::Start start,
                             const std::vector<std::string>& may_change) {
  const record::RunIdentity identity{job.settings.workload, command, job.effective_config, data};
  if (start != record::Start::fresh) check_changes(job, identity, may_change, start);
  return record::open_run(job.settings.run, identity, start);
}

}  // namespace

StudyRun::StudyRun(const run::Job& job, comm::Ranks& ranks, core::Log& log,
                   const std::string& command, const std::string& data, record::Start start,
                   const std::vector<std::string>& may_change, int threads)
    : job_(job), log_(log) {
  if (ranks.is_first()) {
    opened_.emplace(open_study(job, command, data, start, may_change));
    log.add_file(folder().file(files::log.name));
    record::write_environment(folder().file(files::environment.name),
                              run::run_environment(ranks, threads));
  }
  path_ = ranks.broadcast(opened_ ? folder().path() : std::string());
}

void StudyRun::write_training_config(const std::string& name) const {
  core::write_file(text(folder().folder(name), "/", files::config.name), job_.training_config);
}

std::string StudyRun::finish(StudyEnd::State state) {
  folder().finish(state == StudyEnd::State::complete  ? record::RunStatus::finished
                  : state == StudyEnd::State::stopped ? record::RunStatus::stopped
                                                      : record::RunStatus::failed);
  return job_.settings.run.figures ? run::write_run_report(path_, log_) : std::string();
}

void save_study(const std::string& path, const record::Study& study, core::Log& log) {
  try {
    record::write_study(path, study);
  } catch (const core::StorageError& error) {
    log.warning("not-written", error.what());
  }
}

std::size_t count(const record::Study& study, record::StudyMember::State state) {
  return static_cast<std::size_t>(
      std::count_if(study.members.begin(), study.members.end(),
                    [&](const record::StudyMember& member) { return member.state == state; }));
}

StudyProgress progress_of(const record::Study& study, std::size_t running) {
  using State = record::StudyMember::State;
  return {study.members.size(), count(study, State::done), running, count(study, State::failed)};
}

std::string failures_of(const record::Study& study) {
  std::string lines;
  for (const record::StudyMember& member : study.members)
    if (member.state == record::StudyMember::State::failed)
      lines += text(member.name, " failed: ", member.reason, "\n");
  return lines;
}

std::string stopped_line(std::size_t missing, std::size_t all, const std::string& what) {
  return missing == 0 ? std::string()
                      : text("stopped: ", missing, " of ", all, " ", what,
                             " are missing; the same command goes on\n");
}

}  // namespace sagips::study

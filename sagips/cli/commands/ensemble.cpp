#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "sagips/cli/commands.hpp"
#include "sagips/cli/interrupt.hpp"
#include "sagips/cli/job_ranks.hpp"
#include "sagips/cli/study/ensemble_results.hpp"
#include "sagips/cli/study/members.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"
#include "sagips/nn/device.hpp"
#include "sagips/record/run_directory.hpp"
#include "sagips/record/run_files.hpp"

namespace sagips::cli {

namespace {

using State = record::StudyMember::State;
namespace files = record::run_files;

// Options are short for keys, so that the study's config says all.
std::vector<std::string> with_options(const Arguments& arguments) {
  std::vector<std::string> assignments = arguments.assignments;
  for (const char* name : {"members", "vary", "ranks"})
    if (const std::string value = option(arguments, name); !value.empty())
      assignments.push_back(core::text("ensemble.", name, "=", value));
  const auto grid = arguments.options.find("grid");
  if (grid == arguments.options.end()) return assignments;
  std::vector<std::string> quoted;
  for (const std::string& list : grid->second) {
    std::string text;
    for (const char letter : list) {
      if (letter == '"' || letter == '\\') text += '\\';
      text += letter;
    }
    quoted.push_back("\"" + text + "\"");
  }
  assignments.push_back(core::text("ensemble.grid=[", core::join(quoted, ", "), "]"));
  return assignments;
}

// `threads` where it is set, OMP_NUM_THREADS where that is, else what is left for each.
int threads_of_member(const Job& job, std::size_t programs, int cores) {
  if (job.settings.threads > 0) return static_cast<int>(job.settings.threads);
  const char* chosen = std::getenv("OMP_NUM_THREADS");
  if (chosen != nullptr && std::atoi(chosen) > 0) return std::atoi(chosen);
  return std::max(1, cores / static_cast<int>(std::max<std::size_t>(1, programs)));
}

MemberSetting member_setting(const Job& job, const std::string& folder, std::size_t members) {
  const EnsembleConfig& config = job.settings.ensemble;
  const int cores = nn::allowed_processors();
  const auto ranks = static_cast<std::size_t>(config.ranks);
  MemberSetting setting{folder, 1, 1, config.launcher};
  setting.threads = threads_of_member(job, members * ranks, cores);
  const std::size_t taken = static_cast<std::size_t>(setting.threads) * ranks;
  setting.at_once = config.at_once > 0
                        ? static_cast<std::size_t>(config.at_once)
                        : std::max<std::size_t>(1, static_cast<std::size_t>(cores) / taken);
  return setting;
}

std::size_t count(const record::Study& study, State state) {
  return static_cast<std::size_t>(
      std::count_if(study.members.begin(), study.members.end(),
                    [&](const record::StudyMember& member) { return member.state == state; }));
}

void say_failures(const record::Study& study) {
  for (const record::StudyMember& member : study.members)
    if (member.state == State::failed)
      std::cout << member.name << " failed: " << member.reason << '\n';
}

}  // namespace

core::ExitCode ensemble(const Workloads& workloads, const Arguments& arguments) {
  const std::vector<std::string> assignments = with_options(arguments);
  const Job job = read_job(workloads, arguments.source, assignments);
  StudyPlan plan = plan_ensemble(workloads, arguments.source, assignments, job);
  core::Log log;
  const record::RunDirectory folder(job.settings.run, job.settings.workload);
  core::write_file(folder.file(files::config.name), job.effective_config);
  log.add_file(folder.file(files::log.name));
  record::Study study = plan.study;
  for (record::StudyMember& member : study.members) member = seen_on_disk(folder.path(), member);
  const auto save = [&] { record::write_study(folder.file(files::study.name), study); };
  save();

  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < study.members.size(); ++i) all.push_back(i);
  const MemberSetting setting = member_setting(job, folder.path(), count(study, State::pending));
  log.info(core::text(study.members.size(), " trainings of ", job.settings.workload, ", ",
                      count(study, State::done), " of them done; ", setting.at_once,
                      " at a time, each on ", study.ranks, study.ranks == 1 ? " rank" : " ranks",
                      " with ", setting.threads, setting.threads == 1 ? " thread" : " threads"));
  bool finished = true;
  {
    const InterruptGuard interrupt;
    StudyProgress progress(log, "trainings");
    finished = train_members(setting, plan, all, study, progress, save, {});
  }
  const bool analysed = write_ensemble(job, folder.path(), study, log);
  say_failures(study);
  std::cout << "run folder: " << folder.path() << std::endl;
  if (!finished || count(study, State::pending) > 0) return core::ExitCode::stopped_early;
  return analysed && count(study, State::failed) == 0 ? core::ExitCode::done
                                                      : core::ExitCode::failed;
}

}  // namespace sagips::cli

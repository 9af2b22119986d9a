#include "sagips/study/members.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>

#include "sagips/comm/mpi_communicator.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/process/process_pool.hpp"
#include "sagips/core/text.hpp"
#include "sagips/record/results.hpp"
#include "sagips/record/run_directory.hpp"
#include "sagips/record/run_files.hpp"
#include "sagips/record/run_status.hpp"

namespace sagips::study {

namespace {

using State = record::StudyMember::State;
namespace files = record::run_files;

/// How a member's process has ended, for the study.
struct MemberEnd {
  State state = State::done;
  std::string reason{};
};

MemberEnd end_of(const core::Ending& ending, const std::string& log) {
  if (ending.signal != 0)  // nothing is wrong with it that we know of
    return {State::pending,
            core::text("ended by signal ", ending.signal, " (", strsignal(ending.signal), ")")};
  switch (static_cast<core::ExitCode>(ending.exit_code)) {
    case core::ExitCode::done:
      return {};
    case core::ExitCode::stopped_early:
      return {State::pending, "stopped early"};
    default:
      std::string reason = last_error(log);
      if (reason.empty()) reason = core::text("exit code ", ending.exit_code, "; see ", log);
      return {State::failed, std::move(reason)};
  }
}

}  // namespace

core::ChildProgram child_of_study(const std::vector<std::string>& started, int ranks,
                                  const std::string& launcher, int threads) {
  core::ChildProgram program;
  if (ranks > 1)
    for (std::string word : core::split(launcher, ' ')) {
      const auto place = word.find("{ranks}");
      if (place != std::string::npos) word.replace(place, 7, core::text(ranks));
      if (!word.empty()) program.arguments.push_back(word);
    }
  program.arguments.insert(program.arguments.end(), started.begin(), started.end());
  program.environment = {{"OMP_NUM_THREADS", core::text(threads)}};
  program.hidden = comm::launcher_variables();
  return program;
}

std::string last_error(const std::string& log) {
  const std::string mark = "sagips: error: ";
  std::string output;
  try {
    output = core::read_file(log);
  } catch (const core::Error&) {
    return {};
  }
  const auto place = output.rfind(mark);
  if (place == std::string::npos) return {};
  const auto first = place + mark.size();
  return output.substr(first, output.find('\n', first) - first);
}

core::ChildProgram member_program(const MemberSetting& setting, const record::StudyMember& member,
                                  const std::vector<std::string>& assignments) {
  core::ChildProgram program =
      child_of_study(setting.program, setting.ranks, setting.launcher, setting.threads);
  program.arguments.push_back("train");
  program.arguments.push_back(member_source(setting));
  for (std::string& assignment : member_assignments(setting, assignments))
    program.arguments.push_back(std::move(assignment));
  program.log = member_log(setting, member);
  program.advice = "Look at ensemble.launcher.";
  return program;
}

std::string member_source(const MemberSetting& setting) {
  return core::text(setting.folder, "/", files::members.name, "/", files::config.name);
}

std::string member_log(const MemberSetting& setting, const record::StudyMember& member) {
  return core::text(setting.folder, "/", files::members.name, "/logs/", member.name, ".txt");
}

std::vector<std::string> member_assignments(const MemberSetting& setting,
                                            std::vector<std::string> own) {
  own.push_back(core::text("run.folder=", setting.folder, "/", files::members.name));
  return own;
}

int threads_of_member(const run::Job& job, std::size_t processes, int cores) {
  if (job.settings.threads > 0) return static_cast<int>(job.settings.threads);
  const char* chosen = std::getenv("OMP_NUM_THREADS");
  if (chosen != nullptr && std::atoi(chosen) > 0) return std::atoi(chosen);
  return std::max(1, cores / static_cast<int>(std::max<std::size_t>(1, processes)));
}

std::size_t at_once_of(std::int64_t asked, int cores, std::size_t busy_cores) {
  return asked > 0 ? static_cast<std::size_t>(asked)
                   : std::max<std::size_t>(1, static_cast<std::size_t>(cores) / busy_cores);
}

record::StudyMember seen_on_disk(const std::string& study_folder, record::StudyMember before) {
  const std::string folder = study_folder + "/" + before.folder;
  const auto run = record::read_run_record(folder);
  before.state = State::pending;
  before.reason.clear();
  if (run && run->status != record::RunStatus::finished) return before;
  try {
    const record::Results results =
        record::read_results_json(core::text(folder, "/", files::results.name));
    if (results.complete) before.state = State::done;
  } catch (const core::Error&) {  // none yet
  }
  return before;
}

bool is_in_use(const std::string& folder) try {
  return std::filesystem::exists(folder) && !record::RunDirectory::lock(folder);
} catch (const core::StorageError&) {
  return false;  // nobody is seen there; whoever works there next says what is wrong with it
}

void remove_finished_run(const std::string& folder) {
  const auto run = record::read_run_record(folder);
  if (!run || run->status != record::RunStatus::finished) return;
  std::error_code problem;
  for (const auto& entry : std::filesystem::directory_iterator(folder, problem))
    if (entry.path().filename() != files::status.name && !problem)
      std::filesystem::remove_all(entry.path(), problem);
  if (!problem) std::filesystem::remove_all(folder, problem);
  if (problem)
    throw core::StorageError(folder, core::text("cannot be removed (", problem.message(),
                                                "). Give the right to write there."));
}

MemberQueue::MemberQueue(std::string study_folder, record::Study& study,
                         const std::vector<std::size_t>& numbers, const std::string& claims,
                         core::Log& log)
    : study_folder_(std::move(study_folder)), study_(study), log_(log) {
  for (const std::size_t number : numbers)
    if (study_.members[number].state == State::pending) pending_.push_back(number);
  if (!claims.empty()) claims_.emplace(claims, 0);
}

std::string MemberQueue::folder_of(std::size_t number) const {
  return core::text(study_folder_, "/", study_.members[number].folder);
}

bool MemberQueue::is_of_another(std::size_t number) const {
  return claims_ && !is_taken(number) && !claims_->owns(static_cast<std::int64_t>(number) + 1, 0);
}

bool MemberQueue::is_taken(std::size_t number) const {
  return std::find(taken_.begin(), taken_.end(), number) != taken_.end();
}

// Whoever is first to claim it has it for as long as the job lives.
bool MemberQueue::is_own(std::size_t number) {
  if (is_taken(number)) return true;
  if (claims_ && !claims_->claim({.number = static_cast<std::int64_t>(number) + 1})) return false;
  taken_.push_back(number);
  return true;
}

std::optional<std::size_t> MemberQueue::take() {
  for (auto one = pending_.begin(); one != pending_.end();) {
    const std::size_t number = *one;
    record::StudyMember& member = study_.members[number];
    const std::string folder = folder_of(number);
    // claimed by nobody before its folder is free: whoever comes first then has it
    if (!is_of_another(number) && is_in_use(folder)) {
      // at the first look it may be another taker that looks just now
      if (++waited_for_[number] == 2)
        log_.info(core::text(member.name, ": a process of an earlier start is still in ", folder,
                             ", and is waited for"));
      ++one;
      continue;
    }
    one = pending_.erase(one);
    if (!is_own(number)) continue;
    member = seen_on_disk(study_folder_, member);  // its process may just have finished it
    if (member.state == State::done) continue;
    try {
      remove_finished_run(folder);  // it was stopped without a checkpoint
      return number;
    } catch (const core::StorageError& problem) {  // of this one alone: others train meanwhile
      member.state = State::failed;
      member.reason = problem.what();
      log_.warning("member-failed", core::text(member.name, " failed: ", member.reason));
    }
  }
  return {};
}

bool MemberQueue::note_end(std::size_t number, State state, const std::string& reason,
                           bool by_signal) {
  record::StudyMember& member = study_.members[number];
  // a launcher that is told to stop fails behind a whole training
  member = seen_on_disk(study_folder_, member);
  if (member.state == State::done) return true;
  member.state = state;
  member.reason = reason;
  if (!by_signal && (state != State::failed || !is_in_use(folder_of(number)))) return true;
  member.state = State::pending;
  if (!came_again_.insert(number).second) return true;
  pending_.insert(pending_.begin(), number);
  return false;
}

bool train_members(const MemberSetting& setting, const StudyPlan& plan, record::Study& study,
                   MemberQueue& queue, const StudyOptions& options,
                   const std::function<void()>& changed, core::Log& log) {
  std::filesystem::create_directories(
      core::text(setting.folder, "/", files::members.name, "/logs"));
  using Clock = std::chrono::steady_clock;
  std::map<std::size_t, Clock::time_point> begun;
  core::PoolWatch watch;
  watch.next = [&]() -> std::optional<core::NumberedProgram> {
    const auto number = queue.take();
    if (!number) return {};
    return core::NumberedProgram{
        *number, member_program(setting, study.members[*number], plan.assignments[*number])};
  };
  watch.is_over = [&] { return queue.is_empty(); };
  watch.begun = [&](std::size_t number) { begun[number] = Clock::now(); };
  const auto note = [&](std::size_t number, const MemberEnd& end, bool by_signal) {
    const record::StudyMember& member = study.members[number];
    const bool has_ended = queue.note_end(number, end.state, end.reason, by_signal);
    if (member.state == State::done)
      log.info(core::text(
          member.name, ": done after ",
          core::duration(std::chrono::duration<double>(Clock::now() - begun[number]).count())));
    else if (!options.requests.stop())
      log.warning(
          "member-failed",
          core::text(member.name, member.state == State::failed ? " failed: " : ": ", member.reason,
                     !has_ended                       ? "; it is tried once more"
                     : member.state == State::pending ? "; the same command goes on with it"
                                                      : ""));
    begun.erase(number);
    changed();
  };
  watch.ended = [&](std::size_t number, const core::Ending& ending) {
    note(number, end_of(ending, member_log(setting, study.members[number])),
         ending.signal != 0 && !options.requests.stop());
  };
  watch.refused = [&](std::size_t number, const std::string& reason) {
    note(number, {State::failed, reason}, false);
  };
  watch.waiting = [&] {
    if (options.progress) options.progress(progress_of(study, begun.size()));
  };
  watch.interrupted = options.requests.stop;
  watch.usr1_requested = options.requests.checkpoint;
  return core::run_side_by_side(setting.at_once, watch);
}

}  // namespace sagips::study

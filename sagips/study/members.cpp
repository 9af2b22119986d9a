#include "sagips/study/members.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <thread>

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

void note_end(const core::Ending& ending, const std::string& log, record::StudyMember& member) {
  member.reason.clear();
  if (ending.signal != 0) {
    member.state = State::pending;  // nothing is wrong with it that we know of
    member.reason = core::text("ended by signal ", ending.signal, " (", strsignal(ending.signal),
                               "; the same command goes on with it)");
    return;
  }
  switch (static_cast<core::ExitCode>(ending.exit_code)) {
    case core::ExitCode::done:
      member.state = State::done;
      return;
    case core::ExitCode::stopped_early:
      member.state = State::pending;
      member.reason = "stopped early";
      return;
    default:
      member.state = State::failed;
      member.reason = last_error(log);
      if (member.reason.empty())
        member.reason = core::text("exit code ", ending.exit_code, "; see ", log);
  }
}

// A study that was killed has told its members to stop, and they may still be about it.
std::optional<record::RunDirectory> locked(const std::string& folder) {
  constexpr auto lock_timeout = std::chrono::seconds(10);
  constexpr auto poll_interval = std::chrono::milliseconds(50);
  const auto start = std::chrono::steady_clock::now();
  while (std::filesystem::exists(folder)) {
    if (auto lock = record::RunDirectory::lock(folder)) return lock;
    if (std::chrono::steady_clock::now() - start > lock_timeout) break;
    std::this_thread::sleep_for(poll_interval);
  }
  return {};
}

// Their programs; those of `numbers` that are pending once there is room for them stay there.
std::vector<core::ChildProgram> programs_of(const MemberSetting& setting, const StudyPlan& plan,
                                            std::vector<std::size_t>& numbers,
                                            record::Study& study) {
  std::vector<core::ChildProgram> programs;
  std::erase_if(numbers, [&](std::size_t number) {
    record::StudyMember& member = study.members[number];
    if (member.state == State::pending) member = make_room(setting.folder, member);
    if (member.state != State::pending) return true;
    programs.push_back(member_program(setting, member, study.ranks, plan.assignments[number]));
    return false;
  });
  return programs;
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
                                  int ranks, const std::vector<std::string>& assignments) {
  core::ChildProgram program =
      child_of_study(setting.program, ranks, setting.launcher, setting.threads);
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

record::StudyMember make_room(const std::string& study_folder, record::StudyMember member) {
  const std::string folder = core::text(study_folder, "/", member.folder);
  const auto lock = locked(folder);
  member = seen_on_disk(study_folder, std::move(member));  // its process may just have finished it
  const auto run = record::read_run_record(folder);
  if (!lock || member.state == State::done || !run || run->status != record::RunStatus::finished)
    return member;
  std::error_code problem;
  std::filesystem::remove_all(folder, problem);
  if (problem)
    throw core::StorageError(folder, core::text("cannot be removed (", problem.message(),
                                                "). Give the right to write there."));
  return member;
}

bool train_members(const MemberSetting& setting, const StudyPlan& plan,
                   const std::vector<std::size_t>& numbers, record::Study& study,
                   const StudyOptions& options, const std::function<void()>& changed,
                   core::Log& log) {
  std::filesystem::create_directories(
      core::text(setting.folder, "/", files::members.name, "/logs"));
  std::vector<std::size_t> pending = numbers;
  const std::vector<core::ChildProgram> programs = programs_of(setting, plan, pending, study);
  using Clock = std::chrono::steady_clock;
  std::map<std::size_t, Clock::time_point> begun;
  core::PoolWatch watch;
  watch.begun = [&](std::size_t i) { begun[i] = Clock::now(); };
  watch.ended = [&](std::size_t i, const core::Ending& ending) {
    record::StudyMember& member = study.members[pending[i]];
    note_end(ending, programs[i].log, member);
    // a launcher that is told to stop fails behind a whole training
    if (member.state != State::done)
      if (const record::StudyMember seen = seen_on_disk(setting.folder, member);
          seen.state == State::done)
        member = seen;
    const double time_s = std::chrono::duration<double>(Clock::now() - begun[i]).count();
    if (member.state == State::done)
      log.info(core::text(member.name, ": done after ", core::duration(time_s)));
    else if (!options.requests.stop())
      log.warning("member-failed",
                  core::text(member.name, member.state == State::failed ? " failed: " : ": ",
                             member.reason));
    begun.erase(i);
    changed();
  };
  watch.refused = [&](std::size_t i, const std::string& reason) {
    record::StudyMember& member = study.members[pending[i]];
    member.state = State::failed;
    member.reason = reason;
    log.warning("member-failed", core::text(member.name, " failed: ", reason));
    changed();
  };
  watch.waiting = [&] {
    if (options.progress) options.progress(progress_of(study, begun.size()));
  };
  watch.interrupted = options.requests.stop;
  watch.usr1_requested = options.requests.checkpoint;
  return core::run_side_by_side(programs, setting.at_once, watch);
}

}  // namespace sagips::study

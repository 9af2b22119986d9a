#include "sagips/study/group_members.hpp"

#include <algorithm>
#include <exception>

#include "sagips/core/log.hpp"
#include "sagips/core/text.hpp"
#include "sagips/run/train.hpp"

namespace sagips::study {

namespace {

using State = record::StudyMember::State;

/// How one rank's part of a training ended.
struct RankEnd {
  core::ExitCode code = core::ExitCode::done;
  std::string reason;
};

// What the ranks have to say goes into the member's log.
RankEnd train_here(const run::Workloads& workloads, const std::string& source,
                   const std::vector<std::string>& assignments, comm::Ranks& ranks,
                   const run::Requests& requests, const std::string& log_file) {
  core::Log log({.terminal = false});
  const auto failed = [&](const std::exception_ptr& problem) -> RankEnd {
    // the first to fail says why; the others only hear that somebody has
    const bool first = ranks.status().claim_failure();
    try {
      std::rethrow_exception(problem);
    } catch (const std::exception& error) {
      const std::string reason = error.what();
      log.error(core::text("rank ", ranks.rank(), ": ", reason));
      return {core::ExitCode::failed, first ? reason.substr(0, reason.find('\n')) : std::string()};
    }
  };
  try {
    log.add_file(log_file);
    const run::Job job = run::read_any_job(workloads, source, assignments);
    const run::Results trained = run::train(job, ranks, {.requests = requests}, log);
    if (trained.failure) return failed(trained.failure);
    return {trained.complete ? core::ExitCode::done : core::ExitCode::stopped_early, {}};
  } catch (const std::exception&) {
    return failed(std::current_exception());
  }
}

// The worst end of all ranks of a group, with the reason of the one that gave it. collective
RankEnd together(comm::Communicator& group, const RankEnd& mine) {
  constexpr std::size_t longest = 512;
  struct Note {
    int code = 0;
    char reason[longest] = {};
  };
  Note note;
  note.code = static_cast<int>(mine.code);
  mine.reason.copy(note.reason, longest - 1);
  std::vector<Note> all(static_cast<std::size_t>(group.size()));
  group.all_gather(std::as_bytes(std::span(&note, 1)), std::as_writable_bytes(std::span(all)));
  RankEnd worst;
  for (const Note& one : all) {
    const auto code = static_cast<core::ExitCode>(one.code);
    if (code == core::ExitCode::failed || worst.code == core::ExitCode::done) worst.code = code;
    if (worst.reason.empty()) worst.reason = one.reason;
  }
  return worst;
}

void note_end(const RankEnd& end, record::StudyMember& member) {
  member.reason = end.reason;
  member.state = end.code == core::ExitCode::done            ? State::done
                 : end.code == core::ExitCode::stopped_early ? State::pending
                                                             : State::failed;
  if (member.state == State::pending) member.reason = "stopped early";
}

}  // namespace

bool train_in_groups(const run::Workloads& workloads, const MemberSetting& setting,
                     const StudyPlan& plan, const std::vector<std::size_t>& pending,
                     record::Study& study, comm::Ranks& ranks, const run::Requests& requests,
                     const std::function<void(std::size_t member)>& ended) {
  const int groups = ranks.size() / study.ranks;
  const int group = std::min(ranks.rank() / study.ranks, groups);  // the last one stays idle
  const auto part = ranks.communicator().split(group);
  if (group == groups) return true;
  for (std::size_t i = static_cast<std::size_t>(group); i < pending.size();
       i += static_cast<std::size_t>(groups)) {
    record::StudyMember& member = study.members[pending[i]];
    RankEnd mine;
    if (part->rank() == 0) make_room(setting.folder, member);
    {
      // messages that a failed member has left on their way must not meet the next one's
      comm::Ranks own(part->split(0));
      mine = train_here(workloads, member_source(setting),
                        member_assignments(setting, plan.assignments[pending[i]]), own, requests,
                        member_log(setting, member));
    }
    const RankEnd end = together(*part, mine);
    note_end(end, member);
    if (part->rank() == 0) ended(pending[i]);
    if (end.code == core::ExitCode::stopped_early) return false;
  }
  return true;
}

}  // namespace sagips::study

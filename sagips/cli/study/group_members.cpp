#include "sagips/cli/study/group_members.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>

#include "sagips/cli/commands.hpp"

namespace sagips::cli {

namespace {

using State = record::StudyMember::State;

/// What is printed goes into a file as long as this lives.
class PrintedInto {
 public:
  explicit PrintedInto(const std::string& path) {
    flush();
    out_ = ::dup(STDOUT_FILENO);
    error_ = ::dup(STDERR_FILENO);
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (file < 0) return;  // then it is printed where it always is
    ::dup2(file, STDOUT_FILENO);
    ::dup2(file, STDERR_FILENO);
    ::close(file);
  }
  ~PrintedInto() {
    flush();
    ::dup2(out_, STDOUT_FILENO);
    ::dup2(error_, STDERR_FILENO);
    ::close(out_);
    ::close(error_);
  }
  PrintedInto(const PrintedInto&) = delete;
  PrintedInto& operator=(const PrintedInto&) = delete;

 private:
  static void flush() {
    std::cout.flush();
    std::cerr.flush();
    std::fflush(nullptr);
  }
  int out_ = -1, error_ = -1;
};

/// How one rank's part of a training ended.
struct RankEnd {
  core::ExitCode code = core::ExitCode::done;
  std::string reason;
};

RankEnd train_here(const Workloads& workloads, Arguments arguments, comm::Ranks& ranks) {
  arguments.ranks = &ranks;
  try {
    return {train(workloads, arguments), {}};
  } catch (const std::exception& error) {
    // the first to fail says why; the others only hear that somebody has
    const bool first = ranks.board().claim_failure();
    const std::string reason = error.what();
    std::cerr << "sagips: error: rank " << ranks.rank() << ": " << reason << std::endl;
    return {core::ExitCode::failed, first ? reason.substr(0, reason.find('\n')) : std::string()};
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

bool train_in_groups(const Workloads& workloads, const MemberSetting& setting,
                     const StudyPlan& plan, const std::vector<std::size_t>& pending,
                     record::Study& study, comm::Ranks& ranks,
                     const std::function<void(std::size_t member)>& ended) {
  const int groups = ranks.size() / study.ranks;
  const int group = std::min(ranks.rank() / study.ranks, groups);  // the last one stays idle
  const auto part = ranks.communicator().split(group);
  if (group == groups) return true;
  for (std::size_t i = static_cast<std::size_t>(group); i < pending.size();
       i += static_cast<std::size_t>(groups)) {
    record::StudyMember& member = study.members[pending[i]];
    Arguments arguments;
    arguments.source = member_source(setting);
    arguments.assignments = member_assignments(setting, plan.assignments[pending[i]]);
    RankEnd mine;
    if (part->rank() == 0) make_room(setting.folder, member);
    {
      // messages that a failed member has left on their way must not meet the next one's
      comm::Ranks own(part->split(0));
      const PrintedInto log(member_log(setting, member));
      mine = train_here(workloads, arguments, own);
    }
    const RankEnd end = together(*part, mine);
    note_end(end, member);
    if (part->rank() == 0) ended(pending[i]);
    if (end.code == core::ExitCode::stopped_early) return false;
  }
  return true;
}

}  // namespace sagips::cli

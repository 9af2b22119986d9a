#pragma once
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sagips/comm/ranks.hpp"
#include "sagips/core/process/child_process.hpp"
#include "sagips/record/trials.hpp"
#include "sagips/study/plan.hpp"
#include "sagips/study/study_run.hpp"

namespace sagips::study {

/// Where a study's members run and with what.
struct MemberSetting {
  std::string folder;  ///< of the study
  int ranks = 1;       ///< of each member
  int threads = 1;     ///< of each rank
  std::size_t at_once = 1;
  std::string launcher;  ///< of members with several ranks
  /// Words that start the program whose `train` a member is; empty: this process trains them all.
  std::vector<std::string> program{};
};

/// Threads of each of so many processes: `threads` where it is set, OMP_NUM_THREADS where that is, else
/// what is left of the cores for each.
int threads_of_member(const run::Job& job, std::size_t processes, int cores);

/// How many processes of so many busy cores each run at the same time: `asked` where that is above 0, else
/// as many as the cores allow.
std::size_t at_once_of(std::int64_t asked, int cores, std::size_t busy_cores);

/// A program as a child, through the launcher where it is to have several ranks; its command follows.
core::ChildProgram child_of_study(const std::vector<std::string>& program, int ranks,
                                  const std::string& launcher, int threads);
/// The last line of a program's output that tells of an error, without its mark; empty: none does.
std::string last_error(const std::string& log);

/// The config that members start from.
std::string member_source(const MemberSetting& setting);
/// What is printed by a member's training; where its folder is, with the rest of its config.
std::string member_log(const MemberSetting& setting, const record::StudyMember& member);
std::vector<std::string> member_assignments(const MemberSetting& setting,
                                            std::vector<std::string> own);

/// The program that is a member's training.
core::ChildProgram member_program(const MemberSetting& setting, const record::StudyMember& member,
                                  const std::vector<std::string>& assignments);

/// What a member's run folder says of it: done when it has finished, else pending.
record::StudyMember seen_on_disk(const std::string& study_folder, record::StudyMember before);

/// Whether a process is in a run folder: it trains, or is about to stop.
bool is_in_use(const std::string& folder);

/// Removes the folder of a run that has finished, which cannot go on; of others nothing. One that a killed
/// process has left half removed has finished still. throws: StorageError
void remove_finished_run(const std::string& folder);

/// The members of a study that are to be trained, for each who takes some of them: a process with children,
/// or the first rank of a group. A member is given to one of those of a job; one in whose folder a process of
/// an earlier start still is, is given once that has gone.
class MemberQueue {
 public:
  /// numbers: of members, among which those are taken that are pending
  /// study: tells what becomes of those taken here; outlives this
  /// claims: folder in which the takers of a job tell what is theirs, empty at first; "": there is one taker
  MemberQueue(std::string study_folder, record::Study& study,
              const std::vector<std::size_t>& numbers, const std::string& claims, core::Log& log);

  /// The number of a member that can be trained now; nothing: none at this time. One whose
  /// folder cannot be made ready has failed.
  std::optional<std::size_t> take();
  /// Whether none is left to take.
  bool is_empty() const { return pending_.empty(); }
  /// How a member has ended that was taken. It is pending and comes once more where a signal has ended it,
  /// or another process was in its folder: false then.
  bool note_end(std::size_t number, record::StudyMember::State state, const std::string& reason,
                bool by_signal = false);
  const std::vector<std::size_t>& taken() const { return taken_; }

 private:
  bool is_of_another(std::size_t number) const;
  bool is_taken(std::size_t number) const;
  bool is_own(std::size_t number);
  std::string folder_of(std::size_t number) const;

  std::string study_folder_;
  record::Study& study_;
  std::vector<std::size_t> pending_, taken_;
  std::optional<record::TrialStore> claims_;
  std::map<std::size_t, int> waited_for_;  ///< how often each was found in use
  std::set<std::size_t> came_again_;
  core::Log& log_;
};

/// Trains what the queue of a study gives, each member as a process of its own; several ranks through the
/// launcher. After each end `changed` is called. Returns false when it was interrupted: those that ran have
/// stopped with a checkpoint and are pending.
bool train_members(const MemberSetting& setting, const StudyPlan& plan, record::Study& study,
                   MemberQueue& queue, const StudyOptions& options,
                   const std::function<void()>& changed, core::Log& log);

}  // namespace sagips::study

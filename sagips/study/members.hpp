#pragma once
#include <string>
#include <vector>

#include "sagips/comm/ranks.hpp"
#include "sagips/core/process/child_process.hpp"
#include "sagips/study/plan.hpp"
#include "sagips/study/study_run.hpp"

namespace sagips::study {

/// Where a study's members run and with what.
struct MemberSetting {
  std::string folder;  ///< of the study
  int threads = 1;     ///< of each rank of a member
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
                                  int ranks, const std::vector<std::string>& assignments);

/// What a member's run folder says of it: done when it has finished, else pending.
record::StudyMember seen_on_disk(const std::string& study_folder, record::StudyMember before);

/// Makes room for a member that is to be trained, and returns what its folder says of it: one that was
/// stopped without a checkpoint has ended for good as a run, so its folder is removed and it begins
/// anew. Waits for a process that still writes there. throws: StorageError
record::StudyMember make_room(const std::string& study_folder, record::StudyMember member);

/// Trains the members with these numbers that are pending, each as a process of its own; several ranks
/// through the launcher. What becomes of them stands in `study` afterwards; after each end `changed` is
/// called. Returns false when it was interrupted: those that ran have stopped with a checkpoint and are
/// pending.
bool train_members(const MemberSetting& setting, const StudyPlan& plan,
                   const std::vector<std::size_t>& numbers, record::Study& study,
                   const StudyOptions& options, const std::function<void()>& changed,
                   core::Log& log);

}  // namespace sagips::study

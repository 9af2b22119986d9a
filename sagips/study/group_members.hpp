#pragma once
#include <functional>
#include <string>
#include <vector>

#include "sagips/core/log.hpp"
#include "sagips/study/members.hpp"

namespace sagips::study {

/// What each rank of a group does; the ranks of that work have no other messages. Returns false when it was
/// interrupted.
using GroupWork = std::function<bool(comm::Ranks& ranks, core::Log& log)>;

/// The worst end of all ranks of a group, with the reason of the one that failed first.
struct GroupEnd {
  enum class State { done, interrupted, failed } state = State::done;
  std::string reason{};
};

/// The worst of how all ranks have ended. collective
GroupEnd worst_end(comm::Ranks& ranks, const GroupEnd& mine);

/// Whether a group of so many ranks would span nodes and share one of them with another group.
bool groups_cross_nodes(const comm::Ranks& ranks, std::int64_t ranks_of_group);

/// Work that may fail without ending the job. What it says goes to a file. collective
/// throws: CommError when a rank of the group has died or is suspended
GroupEnd work_in_group(comm::Ranks& group, const std::string& log_file, const GroupWork& work);

/// The ranks of a job in groups of `study.ranks`: each group trains its share of the members in its
/// own processes, one after the other. What becomes of them is in `study` on the group's first rank.
///
/// A member that fails is reported and the group goes on: on one node its ranks hear of it at once,
/// on several after `ranks.timeout_s`. Ranks that fill no group stay idle.
/// sharing: ranks on this one's processors. throws: CommError when a rank has died or is suspended
/// Returns false when it was interrupted. collective over `ranks`
bool train_in_groups(const run::Workloads& workloads, const MemberSetting& setting,
                     const StudyPlan& plan, const std::vector<std::size_t>& pending,
                     record::Study& study, comm::Ranks& ranks, int sharing,
                     const run::Requests& requests,
                     const std::function<void(std::size_t member)>& ended);

}  // namespace sagips::study

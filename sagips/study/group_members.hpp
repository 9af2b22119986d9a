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

/// What blocks of ranks work at, each at one piece after the other.
struct BlockWork {
  /// What `next` says in place of a piece's number.
  static constexpr std::int64_t none_now = -1, all_over = -2, interrupted = -3;
  std::function<std::int64_t()> next;  ///< on the first rank of a block
  std::function<std::string(std::int64_t piece)>
      log_of;  ///< the file to which all that is said goes
  std::function<bool(std::int64_t piece, comm::Ranks& own, core::Log& log)> work;  ///< a GroupWork
  std::function<void(std::int64_t piece, const GroupEnd& end)> ended;  ///< on the first rank
};

/// Works in blocks of so many ranks of this job until the first rank of each says that all is over. The
/// blocks share nothing; ranks that fill none stay idle. A piece that fails costs the others nothing: on
/// one node its ranks hear of it at once, on several after `ranks.timeout_s`. Returns false when it was
/// interrupted. collective
/// throws: CommError when a rank of the block has died or is suspended
bool work_in_blocks(comm::Ranks& ranks, std::int64_t ranks_of_block, const BlockWork& work);

/// Trains the members that a queue gives in groups of ranks of this job, in its own processes.
/// sharing: ranks on this one's processors
/// Returns false when it was interrupted. collective over `ranks`
bool train_in_groups(const run::Workloads& workloads, const MemberSetting& setting,
                     const StudyPlan& plan, const record::Study& study, MemberQueue& queue,
                     comm::Ranks& ranks, int sharing, const run::Requests& requests,
                     const std::function<void(std::size_t member)>& ended);

}  // namespace sagips::study

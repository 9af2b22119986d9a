#pragma once
#include <functional>
#include <vector>

#include "sagips/study/members.hpp"

namespace sagips::study {

/// The ranks of a job in groups of `study.ranks`: each group trains its share of the members in its
/// own processes, one after the other. What becomes of them is in `study` on the group's first rank.
///
/// A member that fails is reported and the group goes on: on one node its ranks hear of it at once,
/// on several after `ranks.timeout_s`. Ranks that fill no group stay idle.
/// Returns false when it was interrupted. collective over `ranks`
bool train_in_groups(const run::Workloads& workloads, const MemberSetting& setting,
                     const StudyPlan& plan, const std::vector<std::size_t>& pending,
                     record::Study& study, comm::Ranks& ranks, const run::Requests& requests,
                     const std::function<void(std::size_t member)>& ended);

}  // namespace sagips::study

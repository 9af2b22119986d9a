#include "sagips/study/group_members.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <map>
#include <set>
#include <thread>

#include "sagips/core/log.hpp"
#include "sagips/core/text.hpp"
#include "sagips/run/train.hpp"
#include "sagips/study/over_ranks.hpp"

namespace sagips::study {

namespace {

constexpr auto nap = std::chrono::milliseconds(20);

// What the ranks have to say goes into the log.
GroupEnd work_here(comm::Ranks& ranks, const std::string& log_file, const GroupWork& work) {
  core::Log log({.terminal = false});
  try {
    log.add_file(log_file);
    return {work(ranks, log) ? GroupEnd::State::done : GroupEnd::State::interrupted, {}};
  } catch (const std::exception& error) {
    // the first to fail says why; the others only hear that somebody has
    const bool first = ranks.status().claim_failure();
    const std::string reason = error.what();
    log.error(core::text("rank ", ranks.rank(), ": ", reason));
    return {GroupEnd::State::failed, first ? reason.substr(0, reason.find('\n')) : std::string()};
  }
}

}  // namespace

bool groups_cross_nodes(const comm::Ranks& ranks, std::int64_t ranks_of_group) {
  std::map<int, std::set<std::int64_t>> groups_on, nodes_of;  // by node, by group
  const auto& nodes = ranks.communicator().nodes();
  for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
    const std::int64_t group = static_cast<std::int64_t>(rank) / ranks_of_group;
    if ((group + 1) * ranks_of_group > ranks.size()) break;  // these stay idle
    groups_on[nodes[rank]].insert(group);
    nodes_of[static_cast<int>(group)].insert(nodes[rank]);
  }
  return std::any_of(groups_on.begin(), groups_on.end(), [&](const auto& node) {
    return node.second.size() > 1 &&
           std::any_of(node.second.begin(), node.second.end(), [&](std::int64_t group) {
             return nodes_of[static_cast<int>(group)].size() > 1;
           });
  });
}

GroupEnd worst_end(comm::Ranks& ranks, const GroupEnd& mine) {
  const auto as_text = [](const GroupEnd& end) {
    return core::text(static_cast<int>(end.state), " ", end.reason);
  };
  const auto from_text = [](const std::string& text) {
    return GroupEnd{static_cast<GroupEnd::State>(std::stoi(text)), text.substr(text.find(' ') + 1)};
  };
  GroupEnd worst;
  for (const std::string& one : collect_texts(ranks, as_text(mine))) {
    GroupEnd end = from_text(one);
    worst.state = std::max(worst.state, end.state);
    if (worst.reason.empty()) worst.reason = std::move(end.reason);
  }
  return from_text(ranks.broadcast(as_text(worst)));
}

GroupEnd work_in_group(comm::Ranks& group, const std::string& log_file, const GroupWork& work) {
  // messages that failed work has left on their way must not meet the next one's
  comm::Ranks own(group.communicator().split(0));
  own.timeout().set_config(group.timeout().config());
  own.communicator().keep_memory();
  // before `own` goes, which all do together
  GroupEnd end = worst_end(group, work_here(own, log_file, work));
  if (end.state == GroupEnd::State::failed) own.communicator().leave_memory();
  return end;
}

bool work_in_blocks(comm::Ranks& ranks, std::int64_t ranks_of_block, const BlockWork& work) {
  const auto size = static_cast<int>(ranks_of_block);
  const int blocks = ranks.size() / size;
  const int number = std::min(ranks.rank() / size, blocks);  // the last one stays idle
  auto split = ranks.communicator().split(number);
  if (number == blocks) return true;
  comm::Ranks block(std::move(split));
  block.timeout().set_config(ranks.timeout().config());
  const SignsOfLife signs(block);
  for (;;) {
    const std::int64_t piece = std::stoll(
        block.broadcast(core::text(block.is_first() ? work.next() : BlockWork::none_now)));
    if (piece == BlockWork::all_over || piece == BlockWork::interrupted)
      return piece == BlockWork::all_over;
    if (piece == BlockWork::none_now) {
      std::this_thread::sleep_for(nap);
      continue;
    }
    const GroupEnd end =
        work_in_group(block, work.log_of(piece),
                      [&](comm::Ranks& own, core::Log& log) { return work.work(piece, own, log); });
    if (block.is_first()) work.ended(piece, end);
  }
}

bool train_in_groups(const run::Workloads& workloads, const MemberSetting& setting,
                     const StudyPlan& plan, const record::Study& study, MemberQueue& queue,
                     comm::Ranks& ranks, int sharing, const run::Requests& requests,
                     const std::function<void(std::size_t member)>& ended) {
  BlockWork work;
  bool interrupted = false;
  work.next = [&]() -> std::int64_t {
    if (interrupted || (requests.stop() && !queue.is_empty())) return BlockWork::interrupted;
    if (const auto member = queue.take()) return static_cast<std::int64_t>(*member);
    return queue.is_empty() ? BlockWork::all_over : BlockWork::none_now;
  };
  work.log_of = [&](std::int64_t member) {
    return member_log(setting, study.members[static_cast<std::size_t>(member)]);
  };
  work.work = [&](std::int64_t member, comm::Ranks& own, core::Log& log) {
    const run::Job job = run::read_any_job(
        workloads, member_source(setting),
        member_assignments(setting, plan.assignments[static_cast<std::size_t>(member)]));
    const run::Results trained =
        run::train(job, own, {.requests = requests, .sharing = sharing}, log);
    if (trained.failure) std::rethrow_exception(trained.failure);
    return trained.complete;
  };
  work.ended = [&](std::int64_t piece, const GroupEnd& end) {
    using State = record::StudyMember::State;
    const auto member = static_cast<std::size_t>(piece);
    interrupted = end.state == GroupEnd::State::interrupted;
    queue.note_end(member,
                   end.state == GroupEnd::State::failed ? State::failed
                   : interrupted                        ? State::pending
                                                        : State::done,
                   interrupted ? "stopped early" : end.reason);
    ended(member);
  };
  return work_in_blocks(ranks, setting.ranks, work);
}

}  // namespace sagips::study

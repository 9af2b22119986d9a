#include "sagips/study/ways.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <utility>

#include "sagips/core/error.hpp"
#include "sagips/core/process/child_process.hpp"
#include "sagips/core/text.hpp"
#include "sagips/nn/device.hpp"
#include "sagips/record/run_files.hpp"
#include "sagips/study/idle_communicator.hpp"
#include "sagips/study/members.hpp"

namespace sagips::study {

namespace {

// The same threads for each rank of every way, or their times could not be compared.
MemberSetting setting_of_way(const run::Job& job, const std::string& folder, std::int64_t most,
                             const TrainingWay& way, std::int64_t at_once,
                             const std::vector<std::string>& program) {
  const int cores = nn::allowed_processors();
  MemberSetting setting{.folder = folder,
                        .ranks = static_cast<int>(way.ranks),
                        .launcher = launcher_of(job, way),
                        .program = program};
  setting.threads = threads_of_member(job, static_cast<std::size_t>(most), cores);
  setting.at_once =
      at_once_of(at_once, cores, static_cast<std::size_t>(setting.threads * way.ranks));
  return setting;
}

// What starts the ranks, behind `env NAME=VALUE` where that comes first; behind options of env what follows is not known.
std::string launched_program(const std::string& launcher) {
  std::string program;
  for (const std::string& word : core::split(launcher, ' ')) {
    if (word.empty()) continue;
    if (program.empty())
      program = word;
    else if (word.starts_with('-'))
      return program;
    else if (word.find('=') == std::string::npos)
      return word;
    if (program != "env" && !program.ends_with("/env")) return program;
  }
  return program;
}

// Why exchanges cannot be made between so many ranks of a node. The first and the last may have other tasks.
std::optional<core::ConfigError> refusal_of(const TrainingWay& way, std::int64_t ranks_per_node,
                                            optim::Optimizer& optimizer, std::uint64_t seed) try {
  for (const std::int64_t rank : {std::int64_t{0}, way.ranks - 1}) {
    IdleCommunicator idle(rank, way.ranks, ranks_per_node);
    comm::Ranks ranks(idle);
    train::RankExchange(ranks, optimizer, way.exchange, seed);
  }
  return {};
} catch (const core::ConfigError& problem) {
  return problem;
}

}  // namespace

const std::string& launcher_of(const run::Job& job, const TrainingWay& way) {
  return way.launcher.empty() ? job.of<EnsembleConfig>().launcher : way.launcher;
}

bool may_have_several_nodes(const std::string& launcher) {
  for (const char* name : {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "COBALT_JOBID"})
    if (std::getenv(name) != nullptr) return true;
  return launcher != EnsembleConfig{}.launcher;
}

std::size_t WaysPlan::add(TrainingWay way, analysis::ScalingRow row) {
  for (std::size_t w = 0; w < ways.size(); ++w)
    if (ways[w].ranks == way.ranks && ways[w].launcher == way.launcher &&
        ways[w].assignments == way.assignments)
      return w;
  study.study.variants.push_back({way.label, way.assignments});
  row.variant = way.label;
  row.ranks = way.ranks;
  rows.push_back(std::move(row));
  ways.push_back(std::move(way));
  return ways.size() - 1;
}

void WaysPlan::add_members(const run::Job& job, std::int64_t count) {
  for (std::size_t w = 0; w < ways.size(); ++w)
    for (std::int64_t m = 1; m <= count; ++m) {
      add_member(study, job, w, ways[w].name + "_" + numbered("seed", static_cast<std::size_t>(m)),
                 "seeds", {core::text("run.seed=", job.settings.run.seed + m - 1)});
      way_of.push_back(w);
    }
}

std::int64_t WaysPlan::most_ranks() const {
  std::int64_t most = 1;
  for (const TrainingWay& way : ways) most = std::max(most, way.ranks);
  return most;
}

void read_ways(const run::Workloads& workloads, const std::string& source,
               const std::vector<std::string>& assignments, WaysPlan& plan,
               const std::function<void(const run::Job&, std::int64_t ranks)>& check) {
  for (TrainingWay& way : plan.ways) {
    std::vector<std::string> all = assignments;
    all.insert(all.end(), way.assignments.begin(), way.assignments.end());
    const run::Job job = run::read_any_job(workloads, source, all);
    job.settings.loop.check();
    way.exchange = job.exchange_choice();
    train::traits_of(way.exchange, static_cast<int>(way.ranks));
    if (check) check(job, way.ranks);
  }
}

// Nodes are not known before the ranks are there: all ranks are on one, or each is on its own.
void check_exchanges(const run::Job& job, const WaysPlan& plan, optim::Optimizer& optimizer,
                     bool elsewhere, core::Log& log) {
  for (const TrainingWay& way : plan.ways) {
    if (way.ranks == 1) continue;
    const auto together = refusal_of(way, way.ranks, optimizer, job.seed());
    const bool may_be_apart = elsewhere || may_have_several_nodes(launcher_of(job, way));
    const auto apart = may_be_apart ? refusal_of(way, 1, optimizer, job.seed()) : together;
    if (together && apart) throw core::ConfigError(*together);
    if (together || apart)
      log.warning("refused-by-nodes", core::text(way.label, ": refused where ",
                                                 together ? "all ranks are on one node: "
                                                          : "ranks are on several nodes: ",
                                                 (together ? *together : *apart).what()));
  }
}

void check_launchers(const run::Job& job, const WaysPlan& plan) {
  for (const TrainingWay& way : plan.ways) {
    if (way.ranks == 1) continue;
    const std::string& launcher = launcher_of(job, way);
    const std::string where = way.launcher.empty() ? "ensemble.launcher" : "--launcher";
    const std::string program = launched_program(launcher);
    if (!core::is_program(program))
      throw core::ConfigError(
          where, core::text("there is no program '", core::excerpt(program), "' here to start ",
                            way.ranks, " ranks. Install it, or correct the name."));
  }
}

void warn_of_few_cores(const run::Job& job, const WaysPlan& plan, core::Log& log) {
  const std::int64_t cores = nn::allowed_processors(), most = plan.most_ranks();
  if (most > cores && job.of<EnsembleConfig>().launcher == EnsembleConfig{}.launcher)
    log.warning("ranks-share-cores",
                core::text(most, " ranks share ", cores, cores == 1 ? " core" : " cores",
                           " (they take turns: residuals by epoch stand, times and rates say "
                           "little). Compare times on a machine with a core for each rank."));
}

record::Study seen_on_disk(const std::string& folder, const WaysPlan& plan) {
  record::Study study = plan.study.study;
  for (record::StudyMember& member : study.members) member = seen_on_disk(folder, member);
  return study;
}

bool train_ways(const run::Job& job, const std::string& folder, const WaysPlan& plan,
                record::Study& study, std::int64_t at_once, const StudyOptions& options,
                core::Log& log) {
  std::map<std::pair<std::int64_t, std::string>, std::vector<std::size_t>> alike;
  for (std::size_t i = 0; i < study.members.size(); ++i) {
    const TrainingWay& way = plan.ways[plan.way_of[i]];
    alike[{way.ranks, way.launcher}].push_back(i);
  }
  const auto save = [&] {
    save_study(core::text(folder, "/", record::run_files::study.name), study, log);
  };
  save();
  options.requests.begun();
  for (const auto& [kind, numbers] : alike) {
    const MemberSetting setting =
        setting_of_way(job, folder, plan.most_ranks(), plan.ways[plan.way_of[numbers.front()]],
                       at_once, options.program);
    MemberQueue queue(folder, study, numbers, "", log);
    if (!train_members(setting, plan.study, study, queue, options, save, log)) return false;
    save();
  }
  return true;
}

}  // namespace sagips::study

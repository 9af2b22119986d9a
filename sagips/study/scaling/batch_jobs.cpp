#include "sagips/study/scaling/batch_jobs.hpp"

#include <filesystem>
#include <map>

#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"
#include "sagips/record/run_files.hpp"
#include "sagips/study/members.hpp"

namespace sagips::study {

namespace {

using core::text;

std::string command_line(const core::ChildProgram& program) {
  std::vector<std::string> words;
  for (const std::string& word : program.arguments) words.push_back(core::shell_word(word));
  return core::join(words, " ") + " > " + core::shell_word(program.log) + " 2>&1\n";
}

std::string script_of(std::int64_t ranks, std::size_t count, const std::string& list,
                      std::int64_t threads) {
  return text("#!/bin/sh\n",
              "# One training a task, on nodes of its own: others would disturb its times.\n",
              "#SBATCH --job-name=sagips-ranks-", ranks, "\n#SBATCH --ntasks=", ranks,
              "\n#SBATCH --array=1-", count, "\n#SBATCH --exclusive\n#SBATCH --output=/dev/null\n",
              "export OMP_NUM_THREADS=",
              threads > 0 ? text(threads) : std::string("\"${SLURM_CPUS_PER_TASK:-1}\""),
              "\neval \"$(sed -n \"${SLURM_ARRAY_TASK_ID}p\" ", core::shell_word(list), ")\"\n");
}

}  // namespace

void write_batch_jobs(const run::Job& job, const std::string& folder, const WaysPlan& plan,
                      record::Study& study, const StudyOptions& options, core::Log& log) {
  save_study(text(folder, "/", record::run_files::study.name), study, log);
  std::map<std::int64_t, std::pair<std::string, std::size_t>> lists;
  for (std::size_t i = 0; i < study.members.size(); ++i) {
    record::StudyMember& member = study.members[i];
    if (member.state != record::StudyMember::State::pending) continue;
    const TrainingWay& way = plan.ways[plan.way_of[i]];
    const MemberSetting setting{.folder = folder,
                                .ranks = static_cast<int>(way.ranks),
                                .launcher = launcher_of(job, way),
                                .program = options.program};
    auto& [lines, count] = lists[way.ranks];
    lines += command_line(member_program(setting, member, plan.study.assignments[i]));
    ++count;
  }
  const std::string members = text(folder, "/", record::run_files::members.name);
  for (const std::string& made :
       {text(folder, "/", record::run_files::jobs.name), members + "/logs"})
    std::filesystem::create_directories(made);
  for (const auto& [ranks, list] : lists) {
    const std::string stem = text(folder, "/", record::run_files::jobs.name, "/ranks_", ranks);
    core::write_file(stem + ".txt", list.first);
    core::write_file(stem + ".sh",
                     script_of(ranks, list.second, stem + ".txt", job.settings.threads));
    log.info(text("submit ", list.second, " trainings: sbatch ", stem, ".sh"));
  }
  if (!lists.empty())
    log.info("the same command gathers what they have done, as often as it is called");
}

}  // namespace sagips::study

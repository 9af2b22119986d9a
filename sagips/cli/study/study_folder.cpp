#include "sagips/cli/study/study_folder.hpp"

#include <algorithm>
#include <filesystem>
#include <iostream>

#include "sagips/core/config_difference.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"
#include "sagips/record/run_files.hpp"

namespace sagips::cli {

namespace {

void check_changes(const Job& job, const std::vector<std::string>& may_change) {
  const std::string config = core::text(job.settings.run.folder, "/", job.settings.workload, "/",
                                        job.settings.run.name, "/", record::run_files::config.name);
  if (job.settings.run.name.empty() || !std::filesystem::exists(config)) return;
  for (const std::string& change : core::config_differences(
           core::read_file(config), job.effective_config, config, {"run.folder", "run.name"}))
    if (std::none_of(may_change.begin(), may_change.end(),
                     [&](const std::string& key) { return change.rfind(key + ":", 0) == 0; }))
      throw core::ConfigError(
          config, core::text("its members were begun with another config (they could not be "
                             "compared): ",
                             change, ". Begin a study of another name."));
}

}  // namespace

record::OpenedRun open_study(const Job& job, const std::string& command, const Arguments& arguments,
                             const std::vector<std::string>& may_change) {
  const record::Start start = record::start_of(arguments.options.count("fresh") > 0,
                                               arguments.options.count("override") > 0);
  if (start == record::Start::with_changes) check_changes(job, may_change);
  return record::open_run(job.settings.run, {job.settings.workload, command, job.effective_config},
                          start);
}

void save_study(const std::string& path, const record::Study& study, core::Log& log) {
  try {
    record::write_study(path, study);
  } catch (const core::StorageError& error) {
    log.warning(error.what());
  }
}

std::size_t count(const record::Study& study, record::StudyMember::State state) {
  return static_cast<std::size_t>(
      std::count_if(study.members.begin(), study.members.end(),
                    [&](const record::StudyMember& member) { return member.state == state; }));
}

void say_failures(const record::Study& study) {
  for (const record::StudyMember& member : study.members)
    if (member.state == record::StudyMember::State::failed)
      std::cout << member.name << " failed: " << member.reason << '\n';
}

}  // namespace sagips::cli

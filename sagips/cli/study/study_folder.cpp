#include "sagips/cli/study/study_folder.hpp"

#include <filesystem>

#include "sagips/core/config_difference.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"
#include "sagips/record/run_files.hpp"

namespace sagips::cli {

namespace {

void check_changes(const Job& job, const std::string& group) {
  const std::string config = core::text(job.settings.run.folder, "/", job.settings.workload, "/",
                                        job.settings.run.name, "/", record::run_files::config.name);
  if (job.settings.run.name.empty() || !std::filesystem::exists(config)) return;
  for (const std::string& change : core::config_differences(
           core::read_file(config), job.effective_config, config, {"run.folder", "run.name"}))
    if (change.rfind(group + ".", 0) != 0)
      throw core::ConfigError(
          config, core::text("its members were begun with another config (they could not be "
                             "compared): ",
                             change, ". Begin a study of another name."));
}

}  // namespace

record::OpenedRun open_study(const Job& job, const std::string& command, const std::string& group,
                             const Arguments& arguments) {
  const record::Start start = record::start_of(arguments.options.count("fresh") > 0,
                                               arguments.options.count("override") > 0);
  if (start == record::Start::with_changes) check_changes(job, group);
  return record::open_run(job.settings.run, {job.settings.workload, command, job.effective_config},
                          start);
}

}  // namespace sagips::cli

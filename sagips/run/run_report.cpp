#include "sagips/run/run_report.hpp"

#include "sagips/analysis/report/report.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"
#include "sagips/record/run_files.hpp"

namespace sagips::run {

std::string write_run_report(const std::string& folder, core::Log& log) {
  log.flush();
  std::string path = core::text(folder, "/", record::run_files::report.name);
  try {
    core::write_file(path, analysis::report::report_page({folder}));
    return path;
  } catch (const std::exception& problem) {
    log.warning("no-report", core::text("no report: ", problem.what()));
    return {};
  }
}

}  // namespace sagips::run

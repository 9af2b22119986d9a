#include "sagips/analysis/report/report.hpp"

#include <filesystem>
#include <iostream>

#include "sagips/cli/commands.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"
#include "sagips/record/run_files.hpp"
#include "sagips/record/timeline.hpp"
#include "sagips/run/files_read.hpp"

namespace sagips::cli {

namespace {

// A page of one run goes into its folder, one of several into the current folder.
std::string default_path(const std::vector<std::string>& folders) {
  const char* const name = record::run_files::report.name;
  return folders.size() == 1 ? core::text(folders.front(), "/", name) : name;
}

}  // namespace

core::ExitCode report(const Workloads&, const Arguments& arguments) {
  std::vector<std::string> folders{arguments.source};
  folders.insert(folders.end(), arguments.assignments.begin(), arguments.assignments.end());
  const std::string figures = option(arguments, "figures");
  std::string path = option(arguments, "out");
  if (path.empty()) path = default_path(folders);
  if (std::error_code ignored; std::filesystem::is_directory(path, ignored))
    throw core::ConfigError(path, "is a folder (a report is one file). Name a file, e.g. --out " +
                                      path + "/report.html.");
  run::refuse_to_replace({.runs = folders}, "--out", {path});
  for (const std::string& folder : folders) {
    try {
      record::join_timeline(folder);  // of a run that was killed
    } catch (const core::Error& problem) {
      std::cerr << "no trace: " << problem.what() << '\n';
    }
  }
  const std::string page = analysis::report::report_page(folders, figures);
  core::write_file(path, page);
  std::cout << "report: " << path << " (" << core::significant(double(page.size()) / 1e6, 2)
            << " MB)\n";
  if (!figures.empty()) std::cout << "figures: " << figures << '\n';
  return core::ExitCode::done;
}

}  // namespace sagips::cli

#include <cmath>
#include <iostream>
#include <optional>

#include "sagips/analysis/table.hpp"
#include "sagips/cli/commands.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"
#include "sagips/nn/device.hpp"
#include "sagips/record/run_files.hpp"
#include "sagips/run/outcome.hpp"
#include "sagips/run/run_environment.hpp"
#include "sagips/run/run_figures.hpp"
#include "sagips/run/run_report.hpp"

namespace sagips::cli {

namespace {

std::string fit_table(const record::Results& results) {
  std::vector<std::vector<std::string>> rows;
  for (record::ParameterResult row : results.parameters) {
    row.error = row.fit_error;
    const std::string truth = row.truth ? core::significant(*row.truth, 5) : "";
    if (row.fixed) {
      rows.push_back(
          {row.name, row.unit, truth, core::significant(row.recovered, 6) + " fixed", "", "", ""});
      continue;
    }
    if (row.open) {
      rows.push_back({row.name, row.unit, truth, "not fixed", "", "", ""});
      continue;
    }
    row.recovered = *row.fit_value;
    rows.push_back({row.name, row.unit, truth, analysis::recovered_text(row),
                    analysis::limit_text(row), analysis::pull_text(row),
                    row.floor ? core::significant(*row.floor * std::abs(*row.truth), 3) : ""});
  }
  return analysis::plain_table({"parameter", "unit", "true", "fit", "95 %", "pull", "floor"},
                               rows) +
         "error: from the inverse Hessian, or both sides from the profile where -2 ln L is no "
         "parabola; 95 %: one-sided limit, where an end of the range is near; "
         "pull: (fit - true) / error; floor: Cramer-Rao\n";
}

}  // namespace

core::ExitCode fit(const Workloads& workloads, const Arguments& arguments) {
  Job job = run::read_job(workloads, arguments.source, arguments.assignments);
  core::Log log({.quiet = arguments.quiet});
  say_without_effect(workloads, job, arguments, {.command = "fit", .trains = false}, log);
  job.settings.data.needs_gradient = false;  // the density's is taken, not the pipeline's
  nn::device_from_name(job.settings.device);
  const int threads = nn::set_threads(job.settings.threads);
  const env::Environment environment =
      problem::load_data(*job.workload, job.settings.data, job.seed()).all();
  const optim::FitResult fitted =
      optim::fit_maximum_likelihood(environment, job.settings.solvers.fit, job.seed());

  const record::RunDirectory folder(job.settings.run, job.settings.workload);
  core::write_file(folder.file(record::run_files::config.name), job.effective_config);
  log.add_file(folder.file(record::run_files::log.name));
  record::write_environment(folder.file(record::run_files::environment.name),
                            run::run_environment(*arguments.ranks, threads));
  const record::Results results = run::fit_results(job, environment, fitted, log);
  run::warn_of_doubts(fitted, log);
  if (!job.settings.data.data.bootstrap) run::warn_of_equal_events(environment, log);
  const std::string results_file = folder.file(record::run_files::results.name);
  run::write_results(results_file, results, log);
  record::write_summary_csv(folder.file(record::run_files::summary.name), results);
  record::write_covariance(folder.path(), results);
  std::optional<run::FigureWriter> draw;
  if (job.settings.run.figures) {
    draw.emplace(folder, job.settings.figures, log);
    run::draw_fit_figures(*draw, job, environment, results, fitted.covariance);
  }
  if (draw) draw->finish();
  run::write_results(results_file, results, log);  // with what was said of the pictures
  std::cout << fit_table(results) << '\n'
            << "-ln L = " << core::fixed(fitted.negative_log_likelihood, 3) << " for "
            << core::with_thousands(results.events) << " events\n";
  if (draw) std::cout << "figures: " << folder.file(record::run_files::figures.name) << '\n';
  if (job.settings.run.figures) say_report(run::write_run_report(folder.path(), log));
  say_folder(arguments, folder.path());
  return core::ExitCode::done;
}

}  // namespace sagips::cli

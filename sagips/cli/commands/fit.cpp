#include "sagips/run/fit.hpp"

#include <cmath>
#include <iostream>

#include "sagips/analysis/table.hpp"
#include "sagips/cli/commands.hpp"
#include "sagips/core/text.hpp"

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
  run::warn_without_effect(workloads, job, {.command = "fit", .trains = false}, *arguments.ranks,
                           log);
  const run::Fitted fitted = run::fit(job, *arguments.ranks, log);
  std::cout << fit_table(fitted.results) << '\n'
            << "-ln L = " << core::fixed(fitted.negative_log_likelihood, 3) << " for "
            << core::with_thousands(fitted.results.events) << " events\n";
  if (!fitted.figures.empty()) std::cout << "figures: " << fitted.figures << '\n';
  say_report(fitted.page);
  say_folder(arguments, fitted.folder);
  return core::ExitCode::done;
}

}  // namespace sagips::cli

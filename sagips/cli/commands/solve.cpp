#include "sagips/run/solve.hpp"

#include <iostream>
#include <memory>
#include <optional>

#include "sagips/analysis/table.hpp"
#include "sagips/cli/commands.hpp"
#include "sagips/cli/interrupt.hpp"
#include "sagips/cli/solve_display.hpp"
#include "sagips/core/text.hpp"
#include "sagips/run/outcome.hpp"

namespace sagips::cli {

namespace {

void show(const run::Solved& solved, const Arguments& arguments) {
  const record::Results& results = solved.results;
  std::cout << analysis::result_table(results) << '\n';
  if (!results.others.empty()) std::cout << analysis::others_table(results) << '\n';
  if (!results.errors_from.empty()) std::cout << "errors: " << results.errors_from << '\n';
  std::cout << run::goodness_lines(results.goodness) << results.method << ": "
            << results.finish_reason << " after " << core::with_thousands(solved.evaluations)
            << " evaluations of the pipeline, " << core::significant(results.time_s, 3) << " s\n";
  if (!solved.figures.empty()) std::cout << "figures: " << solved.figures << '\n';
  say_report(solved.page);
  say_folder(arguments, solved.folder);
}

}  // namespace

core::ExitCode solve(const Workloads& workloads, const Arguments& arguments) {
  comm::Ranks& ranks = *arguments.ranks;
  Job job = run::read_job(workloads, arguments.source, arguments.assignments);
  const std::string& method = job.inverse().solve.method;
  optim::solvers().get(method, "solve.method");
  core::Log log({.quiet = arguments.quiet});
  run::warn_without_effect(
      workloads, job,
      {.command = "solve", .trains = false, .methods = {method}, .ranks = ranks.size()}, ranks,
      log);
  run::SolveOptions options{start_of(arguments), requests()};
  // A display for each part: what is logged between them needs a line of its own.
  if (!arguments.quiet)
    options.show = [&log](const optim::SolveProgress& progress, double limit_s) {
      return std::make_shared<SolveDisplay>(progress, log, limit_s);
    };
  std::optional<InterruptGuard> interrupt;
  options.requests.begun = [&interrupt] { interrupt.emplace(); };
  const run::Solved solved = run::solve(job, ranks, options, log);
  if (!ranks.is_first()) return core::ExitCode::done;
  show(solved, arguments);
  return solved.complete ? core::ExitCode::done : core::ExitCode::stopped_early;
}

}  // namespace sagips::cli

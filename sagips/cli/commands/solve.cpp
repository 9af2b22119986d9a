#include <algorithm>
#include <iostream>
#include <limits>
#include <memory>
#include <optional>

#include "sagips/analysis/table.hpp"
#include "sagips/cli/commands.hpp"
#include "sagips/cli/interrupt.hpp"
#include "sagips/cli/solve_display.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"
#include "sagips/nn/device.hpp"
#include "sagips/optim/goodness.hpp"
#include "sagips/optim/resampling.hpp"
#include "sagips/record/run_files.hpp"
#include "sagips/run/figure_writer.hpp"
#include "sagips/run/loading.hpp"
#include "sagips/run/outcome.hpp"
#include "sagips/run/rank_agreement.hpp"
#include "sagips/run/run_environment.hpp"
#include "sagips/run/run_figures.hpp"
#include "sagips/run/run_report.hpp"
#include "sagips/train/collectives.hpp"

namespace sagips::cli {

std::string visits_header(const env::ParameterSet& parameters) {
  return "time_s,evaluations,score," + core::join(parameters.names(), ",") + "\n";
}

std::string visit_row(const optim::Visit& visit) {
  std::vector<std::string> cells = {core::round_trip(visit.time_s), core::text(visit.evaluations),
                                    core::round_trip(visit.score)};
  for (const double value : visit.values) cells.push_back(core::round_trip(value));
  return core::join(cells, ",") + "\n";
}

namespace {

void add_spread(record::Results& results, const optim::Resampled& resampled,
                std::optional<double> record::ParameterResult::*member, const std::string& what,
                core::Log& log) {
  if (resampled.failures > 0)
    log.warning("repetitions-failed",
                core::text(resampled.failures, " of ", resampled.failures + resampled.solutions,
                           " ", what, " gave no solution and do not count in the errors."));
  if (resampled.errors.empty()) return;
  for (std::size_t i = 0; i < results.parameters.size(); ++i)
    if (!results.parameters[i].fixed) results.parameters[i].*member = resampled.errors[i];
}

// A test that cannot be made costs no solution.
void add_tests(const Job& job, const env::Environment& environment, const optim::Solution& solution,
               record::Results& results, core::Log& log) {
  const run::SolveConfig& config = job.settings.solve;
  try {
    for (const auto& test : optim::event_tests(environment, solution.values, config.test,
                                               config.test_events, config.permutations, job.seed()))
      results.goodness.push_back({test.name, test.value, test.degrees_of_freedom, test.p_value});
  } catch (const core::Error& error) {
    log.warning("no-test",
                core::text("no test between measured and synthetic events: ", error.what()));
  }
}

/// What slow simulators have given stays in a folder that the same command opens again.
struct KeptRun {
  KeptRun(const Job& job, const env::Environment& environment, const std::string& data,
          record::Start start, core::Log& log)
      : run(record::open_run(job.settings.run,
                             {job.settings.workload, "solve", job.effective_config, data}, start)) {
    log.add_file(run.directory.file(record::run_files::log.name));
    const std::string folder = run.directory.folder(record::run_files::answers.name);
    std::int64_t known = 0;
    for (const env::Channel& channel : environment.channels)
      known += channel.pipeline.keep_answers(folder + "/" + channel.name);
    if (run.resumed)
      log.info(
          core::text("resuming ", run.directory.path(), ": ", known,
                     " answers of the simulators are there; --fresh begins a new run instead"));
  }
  record::OpenedRun run;
};

// What rank 0 leaves and says.
void write(const Job& job, const env::Environment& environment, record::Results& results,
           const optim::Solution& solution, const std::string& visits, const Arguments& arguments,
           const std::vector<record::NamedText>& surroundings, const std::optional<KeptRun>& kept,
           core::Log& log) {
  std::optional<record::RunDirectory> made;
  if (!kept) {
    made.emplace(job.settings.run, job.settings.workload);
    core::write_file(made->file(record::run_files::config.name), job.effective_config);
    log.add_file(made->file(record::run_files::log.name));
  }
  const record::RunDirectory& folder = kept ? kept->run.directory : *made;
  record::write_environment(folder.file(record::run_files::environment.name), surroundings);
  core::write_file(folder.file(record::run_files::visits.name), visits);
  const std::string results_file = folder.file(record::run_files::results.name);
  run::write_results(results_file, results, log);
  record::write_summary_csv(folder.file(record::run_files::summary.name), results);
  record::write_covariance(folder.path(), results);
  std::optional<run::FigureWriter> draw;
  if (job.settings.run.figures) {
    draw.emplace(folder, job.settings.figures, log);
    run::draw_fit_figures(*draw, job, environment, results, solution.covariance);
  }
  // where it stopped says nothing about whether the pipeline describes the data
  if (job.settings.solve.test_events > 0 && solution.converged) {
    add_tests(job, environment, solution, results, log);  // while the pictures are drawn
  }
  if (draw) draw->finish();
  std::cout << analysis::result_table(results) << '\n';
  if (!results.others.empty()) std::cout << analysis::others_table(results) << '\n';
  if (!results.errors_from.empty()) std::cout << "errors: " << results.errors_from << '\n';
  std::cout << run::goodness_lines(results.goodness) << std::flush;
  run::warn_of_misfit(results.goodness, log);
  run::warn_of_doubts(solution, log);
  run::warn_of_remarks(environment, log);
  if (!job.settings.data.data.bootstrap) run::warn_of_equal_events(environment, log);
  run::write_results(results_file, results, log);
  std::cout << results.method << ": " << results.finish_reason << " after "
            << core::with_thousands(solution.evaluations) << " evaluations of the pipeline, "
            << core::significant(solution.time_s, 3) << " s\n";
  if (draw) std::cout << "figures: " << folder.file(record::run_files::figures.name) << '\n';
  if (job.settings.run.figures) say_report(run::write_run_report(folder.path(), log));
  say_folder(arguments, folder.path());
}

}  // namespace

core::ExitCode solve(const Workloads& workloads, const Arguments& arguments) {
  comm::Ranks& ranks = *arguments.ranks;
  Job job = run::read_job(workloads, arguments.source, arguments.assignments);
  const run::SolveConfig& config = job.settings.solve;
  const optim::SolverEntry entry = optim::solvers().get(config.method, "solve.method");
  const auto solver = entry.make(job.settings.solvers);
  core::Log log({.quiet = arguments.quiet});
  say_without_effect(
      workloads, job, arguments,
      {.command = "solve", .trains = false, .methods = {config.method}, .ranks = ranks.size()},
      log);
  job.settings.data.needs_gradient = entry.needs_gradient(job.settings.solvers);
  run::check_agreement(ranks, job.effective_config);
  ranks.timeout().set_config({.timeout_s = job.settings.ranks.timeout_s,
                              .alarmed = [] { return InterruptGuard::requested(); }});
  nn::device_from_name(job.settings.device);
  const int threads = nn::set_threads(job.settings.threads, run::ranks_on_these_processors(ranks));
  // A display for each part: what is logged between them needs a line of its own.
  const auto shown = [&](const optim::SolveProgress& of, double limit_s) {
    return ranks.is_first() && !arguments.quiet ? std::make_unique<SolveDisplay>(of, log, limit_s)
                                                : nullptr;
  };
  const problem::LoadedData data = [&] {
    optim::SolveProgress loading;
    loading.phase = "reads the data and tries the pipeline";
    const auto display = shown(loading, std::numeric_limits<double>::infinity());
    return run::load_data(job, ranks);
  }();
  const env::Environment environment = data.all(run::parts_share(job, ranks));
  std::optional<KeptRun> kept;
  if (environment.processes() > 0 && ranks.size() == 1)
    kept.emplace(job, environment, data.print(), start_of(arguments), log);
  optim::SolveProgress progress;
  optim::SolveContext context;
  context.seed = job.seed();
  context.place = {ranks.rank(), ranks.size()};
  if (config.minutes > 0) context.time_limit_s = config.minutes * 60;
  std::string visits = visits_header(environment.parameters);
  context.observe = [&visits](const optim::Visit& visit) { visits += visit_row(visit); };
  context.interrupted = [] { return InterruptGuard::requested(); };
  context.progress = &progress;
  if (ranks.size() > 1)
    context.add_up = [&ranks](std::span<double> numbers) { train::add_up(ranks, numbers); };
  const InterruptGuard interrupt;
  auto display = shown(progress, context.time_limit_s);
  optim::Solution solution;
  try {
    solution = solver->solve(environment, context);
  } catch (const core::ConfigError&) {  // nothing was asked of the simulators: no folder stays
    if (kept && !kept->run.resumed) kept->run.directory.discard();
    throw;
  } catch (const core::Error&) {  // the same command goes on with the answers that there are
    if (kept) kept->run.directory.finish(record::RunStatus::failed);
    throw;
  }
  optim::Resampled bootstraps, seeds;
  if (config.bootstraps > 0)
    bootstraps = optim::over_bootstraps(*solver, environment, context, solution, config.bootstraps);
  if (config.seeds > 0) seeds = optim::over_seeds(*solver, environment, context, config.seeds);
  display.reset();
  double events = run::event_count(environment);
  if (context.add_up) context.add_up({&events, 1});
  if (!ranks.is_first()) return core::ExitCode::done;

  record::Results results = run::solve_results(job, environment, solution, events, log);
  if (!solution.converged && InterruptGuard::requested()) results.finish_reason = "interrupted";
  add_spread(results, bootstraps, &record::ParameterResult::bootstrap_error, "bootstraps", log);
  add_spread(results, seeds, &record::ParameterResult::seed_error, "seeds", log);
  write(job, environment, results, solution, visits, arguments,
        run::run_environment(ranks, threads), kept, log);
  if (kept)
    kept->run.directory.finish(solution.converged ? record::RunStatus::finished
                                                  : record::RunStatus::stopped);
  return solution.converged ? core::ExitCode::done : core::ExitCode::stopped_early;
}

}  // namespace sagips::cli

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <iostream>

#include "sagips/analysis/figures/methods_over_time.hpp"
#include "sagips/analysis/table.hpp"
#include "sagips/cli/commands.hpp"
#include "sagips/cli/interrupt.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"
#include "sagips/nn/device.hpp"
#include "sagips/record/run_files.hpp"
#include "sagips/run/outcome.hpp"
#include "sagips/run/training_setup.hpp"

namespace sagips::cli {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t most_judged = 60;  // points of a method that are judged one by one

/// What one method did within its budget.
struct Attempt {
  std::string method;
  std::vector<optim::Visit> visits;
  double time_s = 0;
  std::string end;
};

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

Attempt attempt_solver(const Job& job, const env::Environment& environment,
                       const std::string& method, double budget_s) {
  Attempt attempt{method, {}, 0, ""};
  const auto solver = optim::solvers().get(method, "compare.methods").make(job.settings.solvers);
  optim::SolveContext context;
  context.seed = job.seed();
  context.time_limit_s = budget_s;
  context.observe = [&](const optim::Visit& visit) { attempt.visits.push_back(visit); };
  context.interrupted = InterruptGuard::requested;
  const optim::Solution solution = solver->solve(environment, context);
  attempt.visits.push_back(
      {solution.time_s, solution.evaluations, solution.values, solution.score});
  attempt.time_s = solution.time_s;
  attempt.end = solution.converged            ? "converged"
                : InterruptGuard::requested() ? "interrupted"
                                              : "out of time";
  return attempt;
}

// The networks' mean proposal at each evaluation; making them counts as time, looking does not.
Attempt attempt_gan(const Job& job, const env::Environment& environment, double budget_s) {
  Attempt attempt{"gan", {}, 0, ""};
  const auto began = Clock::now();
  run::TrainingSetup setup(job, environment, job.seed());
  optim::SolveContext context;
  context.seed = job.seed();
  context.time_limit_s = budget_s;
  context.interrupted = InterruptGuard::requested;
  setup.begin(job, environment, context);
  const double made_s = seconds_since(began);
  const train::Evaluator evaluator(job.settings.evaluation, environment, job.seed());
  setup.loop.minutes = std::max(budget_s - made_s, 1e-3) / 60;
  train::Loop::Callbacks callbacks;
  callbacks.evaluate = [&] {
    return evaluator.parameters(setup.gan.predict(job.settings.evaluation.samples));
  };
  callbacks.interrupted = InterruptGuard::requested;
  callbacks.observers.push_back([&](const record::Event& event) {
    const auto* seen = std::get_if<record::Evaluated>(&event);
    if (!seen) return;
    optim::Visit visit{made_s + seen->time_s, seen->epoch, {}, 0};
    for (const record::ParameterState& state : seen->parameters)
      visit.values.push_back(state.value);
    attempt.visits.push_back(std::move(visit));
  });
  const train::LoopResult result = train::Loop(setup.loop, setup.gan, callbacks).run();
  attempt.time_s = made_s + result.time_s;
  attempt.end = result.reason;
  return attempt;
}

/// How far a point is from the goal.
struct Measure {
  std::string label;
  std::function<double(const std::vector<double>&)> of;
  double floor = 0;  ///< what the data allow; 0: not known
};

Measure mean_residual(const env::ParameterSet& parameters, const record::Results& floors) {
  Measure measure;
  measure.label = "mean |residual| [%]";
  measure.of = [&parameters](const std::vector<double>& values) {
    double sum = 0, count = 0;
    for (const std::size_t i : parameters.free()) {
      const double truth = *parameters.all()[i].truth;
      if (truth == 0) continue;
      sum += std::abs((truth - values[i]) / truth);
      ++count;
    }
    return 100 * sum / count;
  };
  double count = 0;
  for (const record::ParameterResult& row : floors.parameters)
    if (row.floor) {
      // E|x| of a normal number is sqrt(2 / pi) of its width
      measure.floor += 100 * *row.floor * std::sqrt(2 / M_PI);
      ++count;
    }
  if (count > 0) measure.floor /= count;
  return measure;
}

// A residual is relative: it needs a truth that is not zero.
bool has_sizable_truth(const env::ParameterSet& parameters) {
  return parameters.truth_known() &&
         std::any_of(parameters.free().begin(), parameters.free().end(),
                     [&](std::size_t i) { return *parameters.all()[i].truth != 0; });
}

// Without a truth: how well the moments of the data are met.
Measure moment_distance(const Job& job, const env::Environment& environment) {
  Measure measure;
  measure.label = "sqrt(chi2 / degrees of freedom) of the moments";
  measure.of = [&](const std::vector<double>& values) {
    optim::SolveContext context;
    context.seed = job.seed();
    try {
      const optim::GoodnessOfFit fit =
          optim::MomentSolver(job.settings.solvers.moments)
              .goodness(environment, context, torch::tensor(values, torch::kFloat64));
      return std::sqrt(fit.value / fit.degrees_of_freedom);
    } catch (const std::exception&) {  // this point has no covariance
      return std::nan("");
    }
  };
  return measure;
}

std::vector<optim::Visit> thinned(const std::vector<optim::Visit>& visits) {
  if (visits.size() <= most_judged) return visits;
  std::vector<optim::Visit> kept;
  for (std::size_t i = 0; i < most_judged; ++i)
    kept.push_back(visits[i * (visits.size() - 1) / (most_judged - 1)]);
  return kept;
}

analysis::MethodCourse course_of(const Attempt& attempt, const Measure& measure) {
  analysis::MethodCourse course{attempt.method, {}, {}};
  for (const optim::Visit& visit : thinned(attempt.visits)) {
    course.time_s.push_back(visit.time_s);
    course.distance.push_back(measure.of(visit.values));
  }
  return course;
}

std::string table(const std::vector<Attempt>& attempts,
                  const std::vector<analysis::MethodCourse>& courses, const Measure& measure) {
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < attempts.size(); ++i)
    rows.push_back({attempts[i].method, core::significant(attempts[i].time_s, 3),
                    courses[i].distance.empty() ? std::string()
                                                : core::significant(courses[i].distance.back(), 3),
                    attempts[i].end});
  return analysis::plain_table({"method", "time [s]", measure.label, "end"}, rows);
}

// What each method says about each parameter.
std::string answers(const std::vector<Attempt>& attempts, const env::ParameterSet& parameters,
                    const record::Results& floors) {
  std::vector<std::string> header = {"parameter", "true"};
  for (const Attempt& attempt : attempts) header.push_back(attempt.method);
  header.push_back("floor");
  std::vector<std::vector<std::string>> rows;
  for (const std::size_t i : parameters.free()) {
    const env::Parameter& parameter = parameters.all()[i];
    std::vector<std::string> row = {
        parameter.unit.empty() ? parameter.name
                               : core::text(parameter.name, " [", parameter.unit, "]"),
        parameter.truth ? core::significant(*parameter.truth, 5) : std::string()};
    for (const Attempt& attempt : attempts)
      row.push_back(attempt.visits.empty() ? std::string()
                                           : core::significant(attempt.visits.back().values[i], 5));
    const auto& floor = floors.parameters[i].floor;
    row.push_back(floor ? core::significant(*floor * std::abs(*parameter.truth), 2)
                        : std::string());
    rows.push_back(std::move(row));
  }
  return analysis::plain_table(header, rows);
}

std::string csv(const std::vector<Attempt>& attempts, const env::ParameterSet& parameters) {
  std::string content = "method," + visits_header(parameters);
  for (const Attempt& attempt : attempts)
    for (const optim::Visit& visit : attempt.visits)
      content += attempt.method + "," + visit_row(visit);
  return content;
}

}  // namespace

void CompareConfig::fields(core::FieldList& list) {
  list.add("methods", methods, "one after the other: gan, or a solver; see `sagips list`");
  list.add("minutes", minutes, "time limit of each method", core::Range::positive());
}

core::ExitCode compare(const Workloads& workloads, const Arguments& arguments) {
  Job job = run::read_job(workloads, arguments.source, arguments.assignments);
  const CompareConfig& config = job.of<CompareConfig>();
  const auto known = optim::solvers();
  if (config.methods.empty())
    throw core::ConfigError("compare.methods", "names no method. Name some, e.g. [moments, gan].");
  for (const std::string& method : config.methods)
    if (method != "gan") known.get(method, "compare.methods");
  const bool trains = std::count(config.methods.begin(), config.methods.end(), "gan") > 0;
  core::Log log;
  say_without_effect(workloads, job, arguments,
                     {.command = "compare", .trains = trains, .methods = config.methods}, log);
  nn::device_from_name(job.settings.device);
  nn::set_threads(job.settings.threads);
  const env::Environment environment =
      problem::load_data(*job.workload, job.settings.data, job.seed()).all();
  const record::RunDirectory folder(job.settings.run, job.settings.workload);
  core::write_file(folder.file(record::run_files::config.name), job.effective_config);
  log.add_file(folder.file(record::run_files::log.name));
  const InterruptGuard interrupt;

  const double budget_s = config.minutes * 60;
  std::vector<Attempt> attempts;
  for (const std::string& method : config.methods) {
    if (InterruptGuard::requested()) break;
    try {
      attempts.push_back(method == "gan" ? attempt_gan(job, environment, budget_s)
                                         : attempt_solver(job, environment, method, budget_s));
    } catch (const std::exception& error) {  // one method's failure is a result, too
      const std::string why = error.what();
      log.warning("no-answer",
                  core::text(method, " gave no answer: ", why.substr(0, why.find('\n'))));
      continue;
    }
    log.info(core::text(method, ": ", attempts.back().end, " after ",
                        core::duration(attempts.back().time_s)));
  }
  if (attempts.empty() && !InterruptGuard::requested())
    throw core::Error("no method gave an answer; the warnings say why. Set other compare.methods.");
  core::write_file(folder.file(record::run_files::visits.name),
                   csv(attempts, environment.parameters));
  const record::Results floors = run::known_results(job, environment, log);
  const Measure measure = has_sizable_truth(environment.parameters)
                              ? mean_residual(environment.parameters, floors)
                              : moment_distance(job, environment);
  std::vector<analysis::MethodCourse> courses;
  for (const Attempt& attempt : attempts) courses.push_back(course_of(attempt, measure));
  std::string figure;
  if (job.settings.run.figures && !courses.empty()) {
    std::string problem;
    const std::string stem = folder.folder(record::run_files::figures.name) + "/methods_over_time";
    if (analysis::write_figure(analysis::sized(analysis::methods_over_time(courses, measure.label,
                                                                           measure.floor, budget_s),
                                               job.settings.figures),
                               stem, problem))
      figure = stem + ".png";
    else
      log.warning("no-figure", "no figure: " + problem);
  }
  std::cout << answers(attempts, environment.parameters, floors) << '\n'
            << table(attempts, courses, measure);
  if (measure.floor > 0)
    std::cout << "floor: " << core::significant(measure.floor, 3)
              << " (what the data allow on average, Cramer-Rao)\n";
  if (!figure.empty()) std::cout << "distance over time: " << figure << '\n';
  std::cout << "run folder: " << folder.path() << std::endl;
  if (attempts.empty()) return core::ExitCode::failed;
  return InterruptGuard::requested() ? core::ExitCode::stopped_early : core::ExitCode::done;
}

}  // namespace sagips::cli

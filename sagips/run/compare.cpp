#include "sagips/run/compare.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <optional>

#include "sagips/core/error.hpp"
#include "sagips/core/exception_watch.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"
#include "sagips/nn/device.hpp"
#include "sagips/nn/script.hpp"
#include "sagips/problem/loaded_data.hpp"
#include "sagips/record/run_files.hpp"
#include "sagips/run/figure_writer.hpp"
#include "sagips/run/found_results.hpp"
#include "sagips/run/outcome.hpp"
#include "sagips/run/solve.hpp"
#include "sagips/run/training_setup.hpp"

namespace sagips::run {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t most_judged = 60;  // points of a method that are judged one by one

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

Attempt attempt_solver(const Job& job, const env::Environment& environment,
                       const std::string& method, double budget_s, const Requests& requests) {
  Attempt attempt{.method = method};
  const auto solver = optim::solvers().get(method, "compare.methods").make(job.inverse().solvers);
  optim::SolveContext context;
  context.seed = job.seed();
  context.time_limit_s = budget_s;
  context.observe = [&](const optim::Visit& visit) { attempt.visits.push_back(visit); };
  context.interrupted = requests.stop;
  const optim::Solution solution = solver->solve(environment, context);
  attempt.visits.push_back(
      {solution.time_s, solution.evaluations, solution.values, solution.score});
  attempt.time_s = solution.time_s;
  attempt.end = solution.converged ? "converged" : requests.stop() ? "interrupted" : "out of time";
  return attempt;
}

// The networks' mean proposal at each evaluation; making them counts as time, looking does not.
Attempt attempt_gan(const Job& job, const env::Environment& environment, double budget_s,
                    const Requests& requests) {
  Attempt attempt{.method = "gan"};
  const auto began = Clock::now();
  TrainingSetup setup(job, environment, job.seed());
  optim::SolveContext context;
  context.seed = job.seed();
  context.time_limit_s = budget_s;
  context.interrupted = requests.stop;
  setup.begin(job, environment, context);
  const double made_s = seconds_since(began);
  const train::Evaluator evaluator(job.inverse().evaluation, environment, job.seed());
  setup.loop.minutes = std::max(budget_s - made_s, 1e-3) / 60;
  train::Loop::Callbacks callbacks;
  callbacks.evaluate = [&] {
    return evaluator.parameters(setup.gan.predict(job.inverse().evaluation.samples));
  };
  callbacks.interrupted = requests.stop;
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
  attempt.end = result.reason.text;
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
          optim::MomentSolver(job.inverse().solvers.moments)
              .goodness(environment, context, torch::tensor(values, torch::kFloat64));
      return std::sqrt(fit.value / fit.degrees_of_freedom);
    } catch (const std::exception&) {  // this point has no covariance
      core::pass_on_raised();
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

analysis::MethodLearningCurve learning_curve_of(const Attempt& attempt, const Measure& measure) {
  analysis::MethodLearningCurve curve{attempt.method, {}, {}};
  for (const optim::Visit& visit : thinned(attempt.visits)) {
    curve.time_s.push_back(visit.time_s);
    curve.distance.push_back(measure.of(visit.values));
  }
  return curve;
}

// first: the visits that count of each method
std::string csv(const std::vector<Attempt>& attempts, const env::ParameterSet& parameters,
                const auto& first) {
  std::string content = "method," + visits_header(parameters);
  for (const Attempt& attempt : attempts)
    for (auto visit = first(attempt); visit != attempt.visits.end(); ++visit)
      content += attempt.method + "," + visit_row(*visit);
  return content;
}

// What a method did, or nothing and a warning: one method's failure is a result, too.
std::optional<Attempt> attempt(const Job& job, const env::Environment& environment,
                               const std::string& method, const Requests& requests,
                               core::Log& log) {
  const double budget_s = job.of<CompareConfig>().minutes * 60;
  try {
    Attempt made = method == "gan" ? attempt_gan(job, environment, budget_s, requests)
                                   : attempt_solver(job, environment, method, budget_s, requests);
    log.info(core::text(method, ": ", made.end, " after ", core::duration(made.time_s)));
    return made;
  } catch (const std::exception& error) {
    core::pass_on_raised();
    log.warning("no-answer", core::text(method, " gave no answer: ", nn::first_line(error)));
    return std::nullopt;
  }
}

// Returns the path of the picture; empty: there is none.
std::string drawn(const Job& job, const record::RunDirectory& folder, const Compared& compared,
                  core::Log& log) {
  if (!job.settings.run.figures || compared.attempts.empty()) return {};
  std::vector<analysis::MethodLearningCurve> curves;
  for (const Attempt& one : compared.attempts) curves.push_back(one.learning_curve);
  FigureWriter draw(folder, job.settings.figures, log);
  draw(analysis::methods_over_time(curves, compared.distance, compared.floor,
                                   job.of<CompareConfig>().minutes * 60),
       "methods_over_time");
  return draw.finish();
}

}  // namespace

void CompareConfig::fields(core::FieldList& list) {
  list.add("methods", methods, "one after the other: gan, or a solver; see `sagips list`");
  list.add("minutes", minutes, "time limit of each method", core::Range::positive());
}

void CompareConfig::check() const {
  const auto known = optim::solvers();
  if (methods.empty())
    throw core::ConfigError("compare.methods", "names no method. Name some, e.g. [moments, gan].");
  for (const std::string& method : methods)
    if (method != "gan") known.get(method, "compare.methods");
}

Compared compare(const Job& job, const Requests& requests, core::Log& log) {
  job.of<CompareConfig>().check();
  nn::set_threads(job.settings.threads);
  const env::Environment environment =
      problem::load_data(*job.inverse().workload, job.inverse().data, job.seed()).all();
  const record::RunDirectory folder = new_run(job, log);
  requests.begun();
  Compared compared{.folder = folder.path()};
  for (const std::string& method : job.of<CompareConfig>().methods) {
    if (requests.stop()) break;
    if (auto made = attempt(job, environment, method, requests, log))
      compared.attempts.push_back(std::move(*made));
  }
  compared.complete = !requests.stop();
  if (compared.attempts.empty() && compared.complete)
    throw core::Error("no method gave an answer; the warnings say why. Set other compare.methods.");
  core::write_file(folder.file(record::run_files::visits.name),
                   csv(compared.attempts, environment.parameters,
                       [](const Attempt& one) { return one.visits.begin(); }));
  if (compared.complete)
    core::write_file(folder.file(record::run_files::compared.name),
                     csv(compared.attempts, environment.parameters, [](const Attempt& one) {
                       return one.visits.empty() ? one.visits.end() : one.visits.end() - 1;
                     }));
  compared.known = known_results(job, environment, log);
  const Measure measure = has_sizable_truth(environment.parameters)
                              ? mean_residual(environment.parameters, compared.known)
                              : moment_distance(job, environment);
  compared.distance = measure.label;
  compared.floor = measure.floor;
  for (Attempt& one : compared.attempts) one.learning_curve = learning_curve_of(one, measure);
  compared.figure = drawn(job, folder, compared, log);
  return compared;
}

}  // namespace sagips::run

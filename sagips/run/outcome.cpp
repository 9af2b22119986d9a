#include "sagips/run/outcome.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/core/version.hpp"
#include "sagips/data/numbers.hpp"
#include "sagips/run/judge_networks.hpp"

namespace sagips::run {

double event_count(const env::Environment& environment) {
  double count = 0;
  for (const env::Channel& channel : environment.channels)
    count += static_cast<double>(channel.training.size() +
                                 (channel.held_out.values.defined() ? channel.held_out.size() : 0));
  return count;
}

namespace {

bool densities_known(const env::Environment& environment) {
  return std::all_of(environment.channels.begin(), environment.channels.end(),
                     [](const env::Channel& channel) { return channel.density.has_value(); });
}

void warn_of_missing(core::Log& log, const std::string& missing, const std::string& why) {
  log.warning("no-fit", core::text(missing, ": ", why.substr(0, why.find('\n'))));
}

// Nothing instead of an answer that cannot be had, and one line that says why: the training stands.
template <class Answer>
std::optional<Answer> or_warning(core::Log& log, const std::string& missing,
                                 const std::function<Answer()>& ask) {
  try {
    return ask();
  } catch (const std::exception& problem) {
    warn_of_missing(log, missing, problem.what());
    return std::nullopt;
  }
}

// Cramer-Rao errors in physical units at a point, where densities are known; empty otherwise.
std::vector<double> floors_at(const Job& job, const env::Environment& environment,
                              const torch::Tensor& physical, double events, core::Log& log) {
  if (!densities_known(environment)) return {};
  const bool has_reference =
      std::any_of(environment.channels.begin(), environment.channels.end(),
                  [](const env::Channel& channel) { return !channel.training.reference.empty(); });
  return or_warning<std::vector<double>>(log, "no Cramer-Rao floor beside the results",
                                         [&] {
                                           return optim::cramer_rao_errors(
                                               environment,
                                               has_reference ? job.inverse().solvers.fit.reference
                                                             : optim::ReferenceUse::ignore,
                                               physical, events);
                                         })
      .value_or(std::vector<double>{});
}

// At the truth, where that is known.
std::vector<double> floors(const Job& job, const env::Environment& environment, double events,
                           core::Log& log) {
  if (!environment.parameters.truth_known()) return {};
  std::vector<double> found =
      floors_at(job, environment, environment.parameters.truth(), events, log);
  std::vector<std::string> open;
  for (std::size_t i = 0; i < found.size(); ++i)
    if (!std::isfinite(found[i])) open.push_back(environment.parameters.all()[i].name);
  if (!open.empty())
    log.warning("no-floor",
                core::text("no Cramer-Rao floor of ", core::join(open, ", "),
                           ": these events do not fix ", open.size() > 1 ? "them." : "it."));
  return found;
}

record::Results common_results(const Job& job, const env::Environment& environment, double events,
                               const std::vector<double>& floors) {
  record::Results results;
  results.workload = job.settings.workload;
  results.version = std::string(core::version());
  results.git_hash = std::string(core::git_hash());
  results.data_origin = data_origin(environment);
  results.seed = job.settings.run.seed;
  results.events = static_cast<std::int64_t>(events);
  for (std::size_t i = 0; i < environment.parameters.all().size(); ++i) {
    const env::Parameter& parameter = environment.parameters.all()[i];
    record::ParameterResult row;
    row.name = parameter.name;
    row.unit = parameter.unit;
    row.fixed = parameter.fixed.has_value();
    row.truth = parameter.truth;
    if (parameter.periodic) row.period = parameter.high - parameter.low;
    if (!floors.empty() && !row.fixed && row.truth && *row.truth != 0 && std::isfinite(floors[i]))
      row.floor = floors[i] / std::abs(*row.truth);
    results.parameters.push_back(row);
  }
  return results;
}

// covariance: of the free parameters; undefined: the method gives none
void add_correlations(record::Results& results, const torch::Tensor& covariance,
                      const std::string& of) {
  if (!covariance.defined() || covariance.numel() == 0) return;
  const torch::Tensor dense = covariance.to(torch::kFloat64);
  const torch::Tensor errors = dense.diagonal().clamp_min(0).sqrt();
  record::CorrelationResult result{.of = of, .names = {}, .values = {}};
  for (const record::ParameterResult& row : results.parameters)
    if (!row.fixed) result.names.push_back(row.name);
  if (static_cast<std::int64_t>(result.names.size()) != dense.size(0)) return;
  result.values =
      record::SquareMatrix(data::numbers_of(dense / (errors.unsqueeze(0) * errors.unsqueeze(1))));
  result.covariance = record::SquareMatrix(data::numbers_of(dense));
  results.correlations.push_back(std::move(result));
}

void add_fit(record::Results& results, const optim::FitResult& fit) {
  add_correlations(results, fit.covariance, "errors of the maximum-likelihood fit");
  for (std::size_t i = 0; i < results.parameters.size(); ++i) {
    if (results.parameters[i].fixed || fit.open[i]) continue;
    results.parameters[i].fit_value = fit.values[i];
    results.parameters[i].fit_error = fit.errors[i];
  }
}

// Limits, and what the data leave open or is to be doubted: what belongs to `recovered`.
void add_estimate(record::Results& results, const optim::Estimate& estimate,
                  const std::vector<env::Parameter>& parameters) {
  constexpr double close = 2 * optim::closest_to_end;
  results.open_directions = estimate.open_directions;
  for (std::size_t i = 0; i < estimate.open.size(); ++i) {
    record::ParameterResult& row = results.parameters[i];
    if (row.fixed) continue;
    row.open = estimate.open[i];
    row.lower_limit = estimate.lower_limits[i];
    row.upper_limit = estimate.upper_limits[i];
    const double place =
        (row.recovered - parameters[i].low) / (parameters[i].high - parameters[i].low);
    if (!row.open && !parameters[i].periodic)
      row.at_end = place < close ? "lower" : place > 1 - close ? "upper" : "";
    if (row.open) row.error.reset();
    if (!estimate.asymmetric[i]) continue;
    // who reads one number is not told less than the table says
    for (std::optional<double>* error : {&row.error, &row.fit_error})
      if (*error) *error = std::max(**error, estimate.largest_error(i));
    row.error_below = estimate.asymmetric[i]->below;
    row.error_above = estimate.asymmetric[i]->above;
  }
}

}  // namespace

std::string data_origin(const env::Environment& environment) {
  if (environment.channels.size() == 1) return environment.channels.front().training.origin;
  std::vector<std::string> origins;
  for (const env::Channel& channel : environment.channels)
    origins.push_back(channel.name + ": " + channel.training.origin);
  return core::join(origins, "; ");
}

Oracle oracle_fit(const Job& job, const env::Environment& all, double events, core::Log& log) {
  if (!densities_known(all)) return {};
  Oracle oracle;
  oracle.floors = floors(job, all, events, log);
  oracle.fit = or_warning<optim::FitResult>(log, "no fit beside the trained values", [&] {
    return optim::fit_maximum_likelihood(all, job.inverse().solvers.fit, job.seed(), false);
  });
  return oracle;
}

record::Results training_results(const Job& job, const env::Environment& environment,
                                 const TrainingRecord& training, const Oracle& oracle) {
  record::Results results =
      common_results(job, environment, event_count(environment), oracle.floors);
  results.finish_reason = training.finished.reason.text;
  results.complete = training.finished.complete;
  results.epochs = training.finished.epochs;
  results.time_s = training.finished.time_s;
  for (std::size_t i = 0; i < results.parameters.size(); ++i) {
    results.parameters[i].recovered = training.last.parameters[i].value;
    results.parameters[i].spread = training.last.parameters[i].spread;
    results.parameters[i].residual_start = training.first.parameters[i].residual;
    results.parameters[i].residual_end = training.last.parameters[i].residual;
  }
  for (const auto& distance : training.first.metrics)
    results.numbers.push_back({distance.name + "_start", distance.value});
  for (const auto& distance : training.last.metrics)
    results.numbers.push_back({distance.name + "_end", distance.value});
  if (oracle.fit) add_fit(results, *oracle.fit);
  return results;
}

record::Results fit_results(const Job& job, const env::Environment& environment,
                            const optim::FitResult& fit, core::Log& log) {
  const double events = event_count(environment);
  record::Results results =
      common_results(job, environment, events, floors(job, environment, events, log));
  const std::vector<env::Parameter>& parameters = environment.parameters.all();
  results.finish_reason = "fit converged";
  for (std::size_t i = 0; i < results.parameters.size(); ++i) {
    record::ParameterResult& row = results.parameters[i];
    row.recovered = fit.values[i];
    if (!row.fixed) row.residual_end = parameters[i].relative_residual(row.recovered);
  }
  add_fit(results, fit);
  add_estimate(results, fit, parameters);
  results.numbers = {{"negative_log_likelihood", fit.negative_log_likelihood},
                     {"edm", fit.edm},
                     {"evaluations", static_cast<double>(fit.evaluations)},
                     {"starts", static_cast<double>(fit.starts)}};
  return results;
}

record::Results known_results(const Job& job, const env::Environment& environment, core::Log& log) {
  const double events = event_count(environment);
  return common_results(job, environment, events, floors(job, environment, events, log));
}

namespace {

// An error below the smallest that is possible at the answer is wrong, however it was found.
void check_errors(const Job& job, const env::Environment& environment,
                  const optim::Solution& solution, double events, record::Results& results,
                  core::Log& log) {
  constexpr double too_small = 0.8;  // of the bound
  if (solution.errors.empty()) return;
  const std::vector<double> least =
      floors_at(job, environment, torch::tensor(solution.values, torch::kFloat64), events, log);
  for (std::size_t i = 0; i < least.size(); ++i)
    if (solution.errors[i] < too_small * least[i]) {
      log.warning("small-error",
                  core::text("the error of '", results.parameters[i].name, "' is ",
                             core::significant(solution.errors[i] / least[i], 2),
                             " of the smallest that is possible (Cramer-Rao, at this answer). Do "
                             "not trust it."));
    }
}

}  // namespace

record::Results solve_results(const Job& job, const env::Environment& environment,
                              const optim::Solution& solution, double events, core::Log& log) {
  record::Results results =
      common_results(job, environment, events, floors(job, environment, events, log));
  results.method = job.inverse().solve.method;
  results.finish_reason = solution.converged ? "converged" : "stopped by its limit";
  results.complete = solution.converged;
  results.time_s = solution.time_s;
  results.errors_from = solution.errors_from;
  const std::vector<env::Parameter>& parameters = environment.parameters.all();
  for (std::size_t i = 0; i < results.parameters.size(); ++i) {
    record::ParameterResult& row = results.parameters[i];
    row.recovered = solution.values[i];
    if (row.fixed) continue;
    if (!solution.errors.empty()) row.error = solution.errors[i];
    row.residual_end = parameters[i].relative_residual(row.recovered);
  }
  add_estimate(results, solution, parameters);
  add_correlations(results, solution.covariance, "errors: " + solution.errors_from);
  check_errors(job, environment, solution, events, results, log);
  results.goodness = goodness_results(solution.goodness);
  for (const optim::Solution& other : solution.others)
    results.others.push_back({other.values, other.errors, other.score});
  results.numbers = {{"score", solution.score},
                     {"evaluations", static_cast<double>(solution.evaluations)},
                     {"starts", static_cast<double>(solution.starts)}};
  return results;
}

namespace {

std::string goodness_text(const record::GoodnessResult& one) {
  std::string line = core::text(one.name, " = ", core::significant(one.value, 4));
  if (one.degrees_of_freedom > 0)
    line += core::text(" for ", std::llround(one.degrees_of_freedom), " degrees of freedom");
  return line + core::text(", p = ", core::significant(one.p_value, 3));
}

void tell_of_distance(const Judgement& judged, core::Log& log) {
  if (!judged.is_far()) return;
  const std::string far = core::text(
      "the networks are up to ", core::significant(judged.largest_distance, 2), " errors (",
      judged.farthest, ") from where the moments of the same data have their minimum");
  if (judged.finishes)
    log.info(far + "; the values are the moments'");
  else
    log.warning("far-from-minimum",
                core::text(far,
                           " (no errors are stated). Train longer, begin with "
                           "generator.start=moments, or set generator.finish=moments."));
}

// Errors of the minimum, and the networks' distance from it where their answer stays.
void add_errors(record::Results& results, const std::vector<env::Parameter>& parameters,
                const Judgement& judged) {
  results.errors_from = judged.finishes
                            ? "covariance of the moments"
                            : "covariance of the moments, and the networks' distance from them";
  std::vector<double> distances;  // of the free parameters
  for (std::size_t i = 0; i < results.parameters.size(); ++i) {
    record::ParameterResult& row = results.parameters[i];
    if (row.fixed) continue;
    distances.push_back(judged.finishes ? 0 : judged.distances[i]);
    row.error = std::hypot(judged.minimum.errors[i], distances.back());
    if (!judged.finishes) continue;
    row.recovered = judged.minimum.values[i];
    row.residual_end = parameters[i].relative_residual(row.recovered);
  }
  if (judged.minimum.covariance.defined()) {
    const torch::Tensor shift = torch::tensor(distances, torch::kFloat64);
    add_correlations(results, judged.minimum.covariance + torch::outer(shift, shift),
                     "errors: " + results.errors_from);
  }
  add_estimate(results, judged.minimum, parameters);
}

}  // namespace

bool judge_training(const Job& job, const env::Environment& environment, record::Results& results,
                    core::Log& log) {
  std::vector<double> values;
  for (const record::ParameterResult& row : results.parameters) values.push_back(row.recovered);
  const Judgement judged = judge_networks(job, environment, values);
  results.method = "gan";
  for (const std::string& problem : judged.problems)
    warn_of_missing(log, "no errors beside the trained values", problem);
  if (!judged.is_made) return true;
  results.goodness = goodness_results(judged.goodness);
  results.numbers.push_back({"networks_distance", judged.largest_distance});
  tell_of_distance(judged, log);
  if (judged.is_far() && !judged.finishes) return false;
  add_errors(results, environment.parameters.all(), judged);
  warn_of_doubts(judged.minimum, log);
  if (judged.finishes) {
    results.method = "gan, finished by moments";
    warn_of_misfit(results.goodness, log);
  }
  return true;
}

std::vector<record::GoodnessResult> goodness_results(const std::vector<optim::GoodnessOfFit>& all) {
  std::vector<record::GoodnessResult> results;
  for (const optim::GoodnessOfFit& one : all)
    results.push_back({one.name, one.value, one.degrees_of_freedom, one.p_value});
  return results;
}

void write_results(const std::string& path, record::Results results, const core::Log& log) {
  results.warnings = log.warnings();
  record::write_results_json(path, results);
}

std::string goodness_lines(const std::vector<record::GoodnessResult>& goodness) {
  std::string lines;
  for (const record::GoodnessResult& one : goodness) {
    lines += goodness_text(one);
    if (one.p_value < record::in_tension && one.p_value >= record::improbable)
      lines += ": in tension with the data";
    lines += '\n';
  }
  return lines;
}

void warn_of_misfit(const std::vector<record::GoodnessResult>& goodness, core::Log& log) {
  for (const record::GoodnessResult& one : goodness)
    if (one.p_value < record::improbable)
      log.warning("misfit",
                  core::text("the pipeline does not describe these data: ", goodness_text(one),
                             " (values and errors mean little then). Look at the figures of the "
                             "observables, and at what the pipeline leaves out."));
}

void warn_of_remarks(const env::Environment& environment, core::Log& log) {
  for (const env::Channel& channel : environment.channels)
    for (const std::string& remark : channel.pipeline.remarks())
      log.warning("remark", remark + ".");
}

void warn_of_equal_events(const env::Environment& environment, core::Log& log) {
  constexpr double noticeable = 1e-4;  // of several continuous observables: chance makes none
  constexpr double of_one = 0.1;       // whose numbers may be rounded
  for (const env::Channel& channel : environment.channels) {
    const data::EqualEvents found = data::equal_events(channel.training.values);
    const double least = found.continuous > 1 ? noticeable : of_one;
    if (found.continuous == 0 ||
        static_cast<double>(found.equal) <= least * static_cast<double>(found.events))
      continue;
    log.warning(
        "repeated-events",
        core::text(core::with_thousands(found.equal), " of ", core::with_thousands(found.events),
                   " events", environment.channels.size() > 1 ? " of '" + channel.name + "'" : "",
                   " are equal to another one (errors take them for independent). See "
                   "whether a file was joined twice, or numbers were rounded."));
  }
}

void warn_of_doubts(const optim::Estimate& estimate, core::Log& log) {
  if (!estimate.open_directions.empty())
    log.warning(
        "not-fixed",
        core::text(optim::describe_open_directions(estimate.open_directions),
                   "; the others are answered. Fix a parameter, add a data set or reference "
                   "numbers, or let features be learned: moments.features.learned=true."));
  for (const core::Warning& doubt : estimate.warnings) log.warning(doubt.code, doubt.text + ".");
}

}  // namespace sagips::run

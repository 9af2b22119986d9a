#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>

#include "sagips/analysis/ensemble.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"
#include "sagips/env/compare/event_rows.hpp"
#include "sagips/nn/script.hpp"
#include "sagips/optim/likelihood/likelihood.hpp"
#include "sagips/optim/resampling.hpp"
#include "sagips/problem/loaded_data.hpp"
#include "sagips/record/run_files.hpp"
#include "sagips/run/outcome.hpp"
#include "sagips/run/training_setup.hpp"
#include "sagips/study/experiments.hpp"

namespace sagips::study {

namespace {

using Estimates = std::vector<record::ExperimentEstimate>;

constexpr std::int64_t noise_vectors = 500;     // whose proposals are averaged
constexpr std::uint64_t seed_step = 1'000'003;  // between members, as optim::over_seeds has it

/// The data of one experiment and the seed of all that is done with them.
struct Toys {
  problem::DataSettings data;
  std::uint64_t seed = 0;
};

// The data of all experiments, before each has a seed of its own.
problem::DataSettings data_of(const run::Job& job, const std::string& method) {
  problem::DataSettings data = job.inverse().data;
  if (method != "gan")
    data.needs_gradient =
        optim::solvers().get(method, "closure.method").needs_gradient(job.inverse().solvers);
  return data;
}

Toys toys_of(const run::Job& job, std::int64_t number) {
  Toys toys{data_of(job, job.of<ClosureConfig>().method), 0};
  const std::uint64_t first = toys.data.data.seed_or(job.seed());
  toys.seed = first + static_cast<std::uint64_t>(number);
  toys.data.data.seed = static_cast<std::int64_t>(toys.seed);
  return toys;
}

std::string truth_file(const std::string& folder) {
  return core::text(folder, "/", record::run_files::truth.name);
}

/// A solver and what it is given.
struct Task {
  std::unique_ptr<optim::Solver> solver;
  env::Environment environment;
  optim::SolveContext context{};
};

Task task_of(const run::Job& job, const std::string& method, env::Environment environment,
             std::uint64_t seed, const run::Requests& requests) {
  Task task{optim::solvers().get(method, "closure.method").make(job.inverse().solvers),
            std::move(environment)};
  task.context.seed = seed;
  if (job.inverse().solve.minutes > 0) task.context.time_limit_s = job.inverse().solve.minutes * 60;
  task.context.interrupted = requests.stop;
  return task;
}

// As `sagips solve` does.
void warn_of(const optim::Solution& solution, core::Log& log) {
  run::warn_of_misfit(run::goodness_results(solution.goodness), log);
  run::warn_of_doubts(solution, log);
}

std::vector<std::string> warning_codes(const optim::Solution& solution) {
  core::Log log({.terminal = false});
  warn_of(solution, log);
  std::set<std::string> codes;
  for (const core::Warning& one : log.warnings()) codes.insert(one.code);
  return {codes.begin(), codes.end()};
}

void by_solver(const run::Job& job, const Toys& toys, const run::Requests& requests,
               record::Experiment& experiment) {
  const run::SolveConfig& config = job.inverse().solve;
  const auto [solver, environment, context] = task_of(
      job, job.of<ClosureConfig>().method,
      problem::load_data(*job.inverse().workload, toys.data, toys.seed).all(), toys.seed, requests);
  const optim::Solution solution = solver->solve(environment, context);
  if (!solution.converged) throw core::Error("the solver was stopped by its limit");
  experiment.warnings = warning_codes(solution);
  Estimates& estimates = experiment.estimates;
  if (!solution.errors.empty()) {
    std::vector<double> errors;  // of the truth's side
    for (std::size_t i = 0; i < solution.errors.size(); ++i) {
      const env::Parameter& parameter = environment.parameters.all()[i];
      errors.push_back(solution.error_towards(
          i, parameter.nearest(parameter.truth.value_or(0), solution.values[i])));
    }
    estimates.push_back({solution.errors_from, solution.values, errors});
  }
  const auto add = [&](const optim::Resampled& resampled, const std::string& kind) {
    if (resampled.errors.empty()) throw core::Error("no errors from the " + kind);
    estimates.push_back({kind, solution.values, resampled.errors});
  };
  if (config.bootstraps > 0)
    add(optim::over_bootstraps(*solver, environment, context, solution, config.bootstraps),
        "spread over bootstraps");
  if (config.seeds > 0)
    add(optim::over_seeds(*solver, environment, context, config.seeds), "spread over seeds");
  if (estimates.empty())
    throw core::Error(
        "this method states no errors. Ask for solve.bootstraps=20 or solve.seeds=20.");
}

// Proposals of one short training, [noise vectors, parameters].
std::vector<float> train_one(const run::Job& job, const problem::LoadedData& data,
                             std::uint64_t seed, const run::Requests& requests) {
  run::TrainingSetup setup(job, data.training(), seed);
  optim::SolveContext context;
  context.seed = seed;
  context.interrupted = requests.stop;
  setup.begin(job, setup.environment, context);
  train::Loop::Callbacks callbacks;
  callbacks.evaluate = [] { return record::Evaluated{}; };  // nobody looks before the end
  callbacks.interrupted = requests.stop;
  train::Loop(setup.loop, setup.gan, callbacks).run();
  const torch::Tensor rows =
      setup.gan.predict(noise_vectors).to(torch::kCPU, torch::kFloat32).contiguous();
  return {rows.data_ptr<float>(), rows.data_ptr<float>() + rows.numel()};
}

std::vector<analysis::EnsembleParameter> train_several(
    const run::Job& job, std::int64_t count, const run::Requests& requests,
    const std::function<std::vector<float>(std::int64_t member)>& train) {
  analysis::Ensemble ensemble;
  const std::vector<env::Parameter> parameters = job.inverse().workload->parameters();
  for (const env::Parameter& parameter : parameters) ensemble.parameters.push_back(parameter.name);
  ensemble.truth.resize(ensemble.parameters.size());  // its mean and spread need none
  for (std::int64_t m = 0; m < count && !requests.stop(); ++m) {
    std::vector<float> rows = train(m);
    // on the turn of the first one, so that means lie among the values
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::size_t p = i % parameters.size();
      const float first = ensemble.members.empty() ? rows[p] : ensemble.members[0][p];
      rows[i] = static_cast<float>(parameters[p].nearest(rows[i], first));
    }
    ensemble.members.push_back(std::move(rows));
  }
  return ensemble.members.empty() ? std::vector<analysis::EnsembleParameter>{}
                                  : analysis::summarise(ensemble);
}

std::vector<double> column(const std::vector<analysis::EnsembleParameter>& parameters,
                           double analysis::EnsembleParameter::*number) {
  std::vector<double> values;
  for (const analysis::EnsembleParameter& one : parameters) values.push_back(one.*number);
  return values;
}

void by_networks(const run::Job& job, const Toys& toys, const run::Requests& requests,
                 record::Experiment& experiment) {
  const ClosureConfig& config = job.of<ClosureConfig>();
  const auto events = problem::read_events(*job.inverse().workload, toys.data, toys.seed);
  const problem::LoadedData data(*job.inverse().workload, toys.data, toys.seed, events);
  const auto seeds = train_several(job, config.members, requests, [&](std::int64_t m) {
    return train_one(job, data, toys.seed + static_cast<std::uint64_t>(m) * seed_step, requests);
  });
  const auto bootstraps = train_several(job, config.bootstraps, requests, [&](std::int64_t m) {
    problem::DataSettings again = toys.data;
    again.data.bootstrap = true;
    again.data.bootstrap_seed =
        static_cast<std::int64_t>(toys.seed + static_cast<std::uint64_t>(m + 1) * seed_step);
    return train_one(job, problem::LoadedData(*job.inverse().workload, again, toys.seed, events),
                     toys.seed, requests);
  });
  if (requests.stop()) return;
  const std::vector<double> values = column(seeds, &analysis::EnsembleParameter::value);
  const std::vector<double> chance = column(seeds, &analysis::EnsembleParameter::deviation);
  Estimates& estimates = experiment.estimates;
  estimates = {{"eq. (8) over seeds", values, column(seeds, &analysis::EnsembleParameter::spread)},
               {"means over seeds", values, chance}};
  if (config.bootstraps > 1) {
    const auto from_data = column(bootstraps, &analysis::EnsembleParameter::deviation);
    std::vector<double> both;
    for (std::size_t i = 0; i < from_data.size(); ++i)
      both.push_back(
          std::hypot(from_data[i], chance[i] / std::sqrt(static_cast<double>(config.members))));
    estimates.push_back({"means over bootstraps", values, from_data});
    estimates.push_back({"bootstraps and seeds", values, both});
  }
  optim::SolveContext context;
  context.seed = toys.seed;
  const optim::Solution judged =
      optim::MomentSolver(job.inverse().solvers.moments)
          .judge(data.all(), context, torch::tensor(values, torch::kFloat64));
  estimates.push_back({"covariance of the moments", values, judged.errors});
  experiment.warnings = warning_codes(judged);
}

}  // namespace

std::optional<record::Experiment> run_experiment(const run::Job& job, std::int64_t number,
                                                 const run::Requests& requests) {
  const auto start = std::chrono::steady_clock::now();
  const std::clock_t processor_start = std::clock();
  record::Experiment experiment;
  experiment.number = number;
  try {
    const Toys toys = toys_of(job, number);
    const bool gan = job.of<ClosureConfig>().method == "gan";
    (gan ? by_networks : by_solver)(job, toys, requests, experiment);
  } catch (const std::exception& error) {
    experiment.failure = nn::first_line(error);
  }
  if (!experiment.failure.empty()) {
    experiment.estimates.clear();
    experiment.warnings.clear();
  }
  if (requests.stop()) return std::nullopt;
  experiment.time_s =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  experiment.core_s =
      static_cast<double>(std::clock() - processor_start) / static_cast<double>(CLOCKS_PER_SEC);
  return experiment;
}

std::string check_closure(const run::Job& job) {
  const ClosureConfig& config = job.of<ClosureConfig>();
  if (config.method != "gan") optim::solvers().get(config.method, "closure.method");
  if (config.method == "gan" && config.bootstraps == 1)
    throw core::ConfigError("closure.bootstraps",
                            "one bootstrap has no spread. Take two or more, or 0 for none.");
  job.settings.loop.check();
  const Toys toys = toys_of(job, 0);  // what is wrong with the pipeline is said at once
  const problem::LoadedData data =
      problem::load_data(*job.inverse().workload, toys.data, toys.seed);
  if (config.method == "likelihood")  // a density may be missing
    optim::Likelihood(data.all(), job.inverse().solvers.fit.reference);
  return data.fingerprint();
}

bool solve_file(const run::Job& job, const std::string& folder, const run::Requests& requests,
                core::Log& log) {
  if (std::filesystem::exists(truth_file(folder))) return true;
  const ClosureConfig& config = job.of<ClosureConfig>();
  const std::string method = config.method == "gan" ? job.inverse().solve.method : config.method;
  const problem::DataSettings data = data_of(job, method);
  const auto events = problem::read_events(*job.inverse().workload, data, job.seed());
  const auto [solver, environment, context] = task_of(
      job, method, problem::LoadedData(*job.inverse().workload, data, job.seed(), events).all(),
      job.seed(), requests);
  const optim::Solution solution = solver->solve(environment, context);
  if (requests.stop()) return false;
  if (!solution.converged)
    throw core::Error(core::text(method,
                                 " was stopped by its limit before it had solved the data "
                                 "(toy data are made with its values). Raise "
                                 "solve.minutes."));
  warn_of(solution, log);
  std::map<std::string, double> values;
  std::vector<std::string> told;
  for (std::size_t i = 0; i < solution.values.size(); ++i) {
    const std::string& name = environment.parameters.all()[i].name;
    values[name] = solution.values[i];
    told.push_back(core::text(name, " = ", core::significant(solution.values[i], 4)));
  }
  std::vector<run::OtherEvents> toys;
  std::vector<std::string> counts;
  for (std::size_t k = 0; k < events.size(); ++k) {
    // of all that the file holds: data.fraction is a share of toy data as well
    const std::int64_t count = std::llround(env::EventRows::of(events[k]).effective_size());
    const std::string& channel = environment.channels[k].name;
    toys.push_back({channel, count});
    counts.push_back(core::text(core::with_thousands(count), " events",
                                events.size() > 1 ? " of " + channel : ""));
  }
  core::write_file(truth_file(folder), run::other_events(job, toys, "toy", values));
  log.info(core::text("data solved by ", method, ": ", core::join(told, ", "),
                      "; each experiment makes ", core::join(counts, ", "), " with these values"));
  return true;
}

void take_truth(run::Job& job, const std::string& folder) {
  if (std::filesystem::exists(truth_file(folder)))
    run::change_job(job, core::ConfigDocument::from_file(truth_file(folder)));
}

}  // namespace sagips::study

#include "sagips/run/solve.hpp"

#include <limits>
#include <optional>
#include <utility>

#include "sagips/core/error.hpp"
#include "sagips/core/exception_watch.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"
#include "sagips/nn/device.hpp"
#include "sagips/optim/goodness.hpp"
#include "sagips/optim/resampling.hpp"
#include "sagips/record/run_files.hpp"
#include "sagips/run/found_results.hpp"
#include "sagips/run/loading.hpp"
#include "sagips/run/outcome.hpp"
#include "sagips/run/rank_agreement.hpp"
#include "sagips/run/run_environment.hpp"
#include "sagips/train/collectives.hpp"

namespace sagips::run {

namespace {

namespace files = record::run_files;

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
  const SolveConfig& config = job.inverse().solve;
  try {
    for (const auto& test : optim::event_tests(environment, solution.values, config.test,
                                               config.test_events, config.permutations, job.seed()))
      results.goodness.push_back({test.name, test.value, test.degrees_of_freedom, test.p_value});
  } catch (const core::Error& error) {
    core::pass_on_raised();
    log.warning("no-test",
                core::text("no test between measured and synthetic events: ", error.what()));
  }
}

// What slow simulators have given stays in a folder that the same command opens again.
record::OpenedRun open_kept(const Job& job, const env::Environment& environment,
                            const std::string& data, record::Start start, core::Log& log) {
  record::OpenedRun run = record::open_run(
      job.settings.run, {job.settings.workload, "solve", job.effective_config, data}, start);
  log.add_file(run.directory.file(files::log.name));
  const std::string folder = run.directory.folder(files::answers.name);
  std::int64_t known = 0;
  for (const env::Channel& channel : environment.channels)
    known += channel.pipeline.keep_answers(folder + "/" + channel.name);
  if (run.resumed)
    log.info(core::text("resuming ", run.directory.path(), ": ", known,
                        " answers of the simulators are there; --fresh begins a new run instead"));
  return run;
}

/// A solver at work on a job: its data, what it has looked at, and what it leaves.
class SolverRun {
 public:
  SolverRun(const Job& job, comm::Ranks& ranks, const SolveOptions& options, core::Log& log)
      : job_(job),
        ranks_(ranks),
        options_(options),
        log_(log),
        entry_(optim::solvers().get(job.inverse().solve.method, "solve.method")),
        solver_(entry_.make(job.inverse().solvers)) {}

  Solved operator()() {
    prepare();
    solve();
    double events = event_count(environment_);
    if (context_.add_up) context_.add_up({&events, 1});
    if (!ranks_.is_first()) return {};
    record::Results results = solve_results(job_, environment_, solution_, events, log_);
    if (!solution_.converged && options_.requests.stop()) results.finish_reason = "interrupted";
    add_spread(results, bootstraps_, &record::ParameterResult::bootstrap_error, "bootstraps", log_);
    add_spread(results, seeds_, &record::ParameterResult::seed_error, "seeds", log_);
    return write(std::move(results));
  }

 private:
  std::shared_ptr<void> shown(const optim::SolveProgress& progress, double limit_s) const {
    return ranks_.is_first() && options_.show ? options_.show(progress, limit_s) : nullptr;
  }
  void prepare();
  void solve();
  Solved write(record::Results results);

  const Job& job_;
  comm::Ranks& ranks_;
  const SolveOptions& options_;
  core::Log& log_;
  optim::SolverEntry entry_;
  std::unique_ptr<optim::Solver> solver_;
  int threads_ = 1;
  env::Environment environment_;
  std::optional<record::OpenedRun> kept_;
  optim::SolveProgress progress_;
  optim::SolveContext context_;
  std::string visits_;
  optim::Solution solution_;
  optim::Resampled bootstraps_, seeds_;
};

void SolverRun::prepare() {
  check_agreement(ranks_, job_.effective_config);
  ranks_.timeout().set_config(
      {.timeout_s = job_.settings.ranks.timeout_s, .alarmed = options_.requests.stop});
  nn::take_turn(place_on_node(ranks_));
  const torch::Device device = job_.settings.made_device();
  threads_ = nn::set_threads(job_.settings.threads, ranks_on_these_processors(ranks_));
  const problem::LoadedData data = [this] {
    optim::SolveProgress loading;
    loading.phase = "reads the data and tries the pipeline";
    const auto display = shown(loading, std::numeric_limits<double>::infinity());
    return load_data(job_, ranks_, log_, entry_.needs_gradient(job_.inverse().solvers));
  }();
  environment_ = data.all(parts_share(job_, ranks_));
  for (env::Channel& channel : environment_.channels) channel.pipeline.work_on(device);
  if (environment_.processes() > 0 && ranks_.size() == 1)
    kept_.emplace(open_kept(job_, environment_, data.fingerprint(), options_.start, log_));
  else if (ranks_.is_first())
    require_free_name(job_);
  context_.seed = job_.seed();
  context_.place = {ranks_.rank(), ranks_.size()};
  if (const double minutes = job_.inverse().solve.minutes; minutes > 0)
    context_.time_limit_s = minutes * 60;
  visits_ = visits_header(environment_.parameters);
  context_.observe = [this](const optim::Visit& visit) { visits_ += visit_row(visit); };
  context_.interrupted = options_.requests.stop;
  context_.progress = &progress_;
  if (ranks_.size() > 1)
    context_.add_up = [this](std::span<double> numbers) { train::add_up(ranks_, numbers); };
}

void SolverRun::solve() {
  options_.requests.begun();
  const auto display = shown(progress_, context_.time_limit_s);
  try {
    solution_ = solver_->solve(environment_, context_);
  } catch (const core::ConfigError&) {  // nothing was asked of the simulators: no folder stays
    if (kept_ && !kept_->resumed) kept_->directory.discard();
    throw;
  } catch (const core::Error&) {  // the same command goes on with the answers that there are
    if (kept_) kept_->directory.finish(record::RunStatus::failed);
    throw;
  }
  const SolveConfig& config = job_.inverse().solve;
  if (config.bootstraps > 0)
    bootstraps_ =
        optim::over_bootstraps(*solver_, environment_, context_, solution_, config.bootstraps);
  if (config.seeds > 0) seeds_ = optim::over_seeds(*solver_, environment_, context_, config.seeds);
}

Solved SolverRun::write(record::Results results) {
  std::optional<record::RunDirectory> made;
  if (!kept_) made.emplace(new_run(job_, log_));
  const record::RunDirectory& folder = kept_ ? kept_->directory : *made;
  record::write_environment(folder.file(files::environment.name),
                            run_environment(ranks_, threads_, job_.settings.made_device()));
  core::write_file(folder.file(files::visits.name), visits_);
  FoundResults found(job_, folder, log_);
  found.begin(environment_, results, solution_.covariance);
  // where it stopped says nothing about whether the pipeline describes the data
  if (job_.inverse().solve.test_events > 0 && solution_.converged)
    add_tests(job_, environment_, solution_, results, log_);  // while the pictures are drawn
  warn_of_misfit(results.goodness, log_);
  warn_of_doubts(solution_, log_);
  warn_of_remarks(environment_, log_);
  found.finish(environment_, results);
  const std::string page = found.page();
  if (kept_)
    kept_->directory.finish(solution_.converged ? record::RunStatus::finished
                                                : record::RunStatus::stopped);
  return {folder.path(),       std::move(results), solution_.evaluations,
          solution_.converged, found.figures(),    page};
}

}  // namespace

std::string visits_header(const env::ParameterSet& parameters) {
  return "time_s,evaluations,score," + core::join(parameters.names(), ",") + "\n";
}

std::string visit_row(const optim::Visit& visit) {
  std::vector<std::string> cells = {core::round_trip(visit.time_s), core::text(visit.evaluations),
                                    core::round_trip(visit.score)};
  for (const double value : visit.values) cells.push_back(core::round_trip(value));
  return core::join(cells, ",") + "\n";
}

Solved solve(const Job& job, comm::Ranks& ranks, const SolveOptions& options, core::Log& log) {
  return SolverRun(job, ranks, options, log)();
}

}  // namespace sagips::run

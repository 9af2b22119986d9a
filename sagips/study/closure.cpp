#include "sagips/study/closure.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "sagips/comm/mpi_communicator.hpp"
#include "sagips/core/process/process_pool.hpp"
#include "sagips/core/text.hpp"
#include "sagips/nn/device.hpp"
#include "sagips/record/run_files.hpp"
#include "sagips/run/effects.hpp"
#include "sagips/run/rank_agreement.hpp"
#include "sagips/study/over_ranks.hpp"

namespace sagips::study {

namespace {

namespace files = record::run_files;
using core::text;
constexpr auto look_every = std::chrono::milliseconds(500);

// Tensors of an experiment are too small for threads to pay, unless the config names some.
int threads_of_worker(const run::Job& job) {
  return job.settings.threads > 0 ? static_cast<int>(job.settings.threads) : 1;
}

std::string log_of_worker(const std::string& folder, std::size_t worker) {
  return text(folder, "/", files::experiments.name, "/worker_", worker, ".txt");
}

core::ChildProgram worker_program(const run::Job& job, const std::string& folder,
                                  std::size_t worker, const StudyOptions& options) {
  core::ChildProgram program{.arguments = options.program,
                             .environment = {{"OMP_NUM_THREADS", text(threads_of_worker(job))}},
                             .log = log_of_worker(folder, worker),
                             .hidden = comm::launcher_variables()};
  for (std::string word :
       {std::string("closure"), text(folder, "/", files::config.name), std::string("--worker")})
    program.arguments.push_back(std::move(word));
  return program;
}

// Calls `options.progress` now and then with what the folder holds.
class Look {
 public:
  Look(const StudyOptions& options, const std::string& folder, std::size_t all, std::size_t running)
      : options_(options), folder_(folder), all_(all), running_(running) {}

  void operator()() {
    const auto now = std::chrono::steady_clock::now();
    if (!options_.progress || now - looked_ < look_every) return;
    looked_ = now;
    const ExperimentCount seen = count_experiments(folder_);
    options_.progress({all_, seen.made - seen.failed, running_, seen.failed});
  }

 private:
  const StudyOptions& options_;
  const std::string& folder_;
  std::size_t all_, running_;
  std::chrono::steady_clock::time_point looked_ = std::chrono::steady_clock::now() - look_every;
};

// A worker that a signal ends is replaced, as often as there are workers: the next one goes on behind the
// experiment that it had, which nobody has made then. Returns false when it was interrupted.
bool run_workers(const run::Job& job, const std::string& folder, std::size_t count,
                 const StudyOptions& options, core::Log& log, bool& has_gap) {
  Look look(options, folder, static_cast<std::size_t>(job.of<ClosureConfig>().experiments), count);
  std::size_t begun = 0, wanted = count;
  core::PoolWatch watch;
  watch.next = [&]() -> std::optional<core::NumberedProgram> {
    if (begun == wanted) return {};
    const std::size_t worker = begun++;
    return core::NumberedProgram{worker, worker_program(job, folder, worker, options)};
  };
  watch.is_over = [&] { return begun == wanted; };
  watch.waiting = std::ref(look);
  watch.ended = [&](std::size_t i, const core::Ending& ending) {
    if (options.requests.stop()) return;
    if (ending.exit_code != 0)
      log.warning("worker-failed", text("worker ", i, " ended with exit code ", ending.exit_code,
                                        "; see ", log_of_worker(folder, i)));
    if (ending.signal == 0) return;
    log.warning("worker-failed", text("worker ", i, " was ended by signal ", ending.signal));
    wanted = std::min(wanted + 1, 2 * count);
    has_gap = true;
  };
  watch.interrupted = options.requests.stop;
  return core::run_side_by_side(count, watch);
}

// Each rank makes experiments in its own process. collective
bool share_out(const run::Job& job, const std::string& folder, comm::Ranks& ranks,
               const StudyOptions& options) {
  nn::set_threads(threads_of_worker(job));
  Look look(options, folder, static_cast<std::size_t>(job.of<ClosureConfig>().experiments),
            static_cast<std::size_t>(ranks.size()));
  run::Requests requests = options.requests;
  if (ranks.is_first())
    requests.stop = [&] {
      look();
      return options.requests.stop();
    };
  const bool finished = make_experiments(job, folder, requests);
  const auto all = collect_texts(ranks, finished ? "finished" : "interrupted");
  return std::all_of(all.begin(), all.end(),
                     [](const std::string& one) { return one == "finished"; });
}

void say_start(const run::Job& job, const std::string& folder, std::size_t at_once,
               core::Log& log) {
  const ExperimentCount before = count_experiments(folder);
  const ClosureConfig& config = job.of<ClosureConfig>();
  log.info(text(folder, ": ", config.experiments, " closure experiments with ", config.method, ", ",
                before.made - before.failed, " of them done",
                before.failed > 0 ? text(", ", before.failed, " failed and tried again") : "", "; ",
                at_once, " at a time"));
}

// Returns false when it was interrupted. collective
bool make_all(const run::Job& job, const std::string& folder, comm::Ranks& ranks,
              const StudyOptions& options, core::Log& log) {
  if (ranks.size() > 1 || options.program.empty()) return share_out(job, folder, ranks, options);
  const auto all = static_cast<std::size_t>(job.of<ClosureConfig>().experiments);
  const auto cores =
      static_cast<std::size_t>(std::max(1, nn::allowed_processors() / threads_of_worker(job)));
  const std::size_t count = std::min(all, cores);
  say_start(job, folder, count, log);
  const std::map<std::int64_t, int> before = attempts_of(folder);
  for (int times = 1; times <= 2; ++times) {
    bool has_gap = false;
    if (!run_workers(job, folder, count, options, log, has_gap)) return false;
    if (!has_gap) break;
    forget_unfinished(folder, before);  // what a signal ended is tried once more
  }
  return true;
}

// What the study found, on the first rank.
ClosureEnd conclude(const run::Job& job, StudyRun& run, bool finished, core::Log& log) {
  ClosureEnd end = write_experiments(job, run.path(), log);
  end.folder = run.path();
  end.made = count_experiments(end.folder);
  const auto all = static_cast<std::size_t>(job.of<ClosureConfig>().experiments);
  const std::size_t missing = all - std::min(all, end.made.made);
  if (missing > 0)
    log.warning("experiments-missing",
                text(missing, " experiments are missing; the same command goes on"));
  else if (end.made.failed > 0)
    log.warning("experiments-failed",
                text(end.made.failed, " experiments failed; the same command tries them again"));
  const bool has_ended = missing == 0 && end.made.failed == 0;
  end.page = run.finish(has_ended ? StudyEnd::State::complete : StudyEnd::State::stopped);
  if (missing > 0 && !finished)
    end.state = StudyEnd::State::stopped;
  else if (missing > 0 || end.summaries.empty())
    end.state = StudyEnd::State::failed;
  end.warnings = log.warnings();
  return end;
}

}  // namespace

bool closure_worker(run::Job job, const std::string& folder, const run::Requests& requests) {
  take_truth(job, folder);
  nn::set_threads(threads_of_worker(job));
  return make_experiments(job, folder, requests);
}

ClosureEnd closure(const run::Workloads& workloads, run::Job job, comm::Ranks& ranks,
                   const StudyOptions& options, core::Log& log) {
  const std::string data = check_closure(job);
  const std::string& method = job.of<ClosureConfig>().method;
  run::warn_without_effect(workloads, job,
                           {.command = "closure",
                            .trains = method == "gan",
                            // data of a file are solved first
                            .methods = {method, data.empty() ? method : job.inverse().solve.method},
                            .waiting_ranks = ranks.size()},
                           ranks, log);
  run::check_agreement(ranks, job.effective_config);
  StudyRun run(job, ranks, log, "closure", data, options.start, {"closure.experiments"},
               threads_of_worker(job));
  options.requests.begun();
  ranks.timeout().set_config({.timeout_s = job.settings.ranks.timeout_s, .alarmed = {}});
  bool is_solved = true, is_ready = true, finished = true;
  {
    const SignsOfLife signs(ranks);
    if (ranks.is_first()) {
      run.folder().folder(files::experiments.name);
      nn::set_threads(job.settings.threads);
      // measured events, while the other ranks wait
      is_solved = data.empty() || solve_file(job, run.path(), options.requests, log);
      is_ready = is_solved && await_earlier_workers(run.path(), options.requests, log);
    }
    is_ready = !ranks.broadcast(is_ready ? "ready" : "").empty();
    if (is_ready) {
      take_truth(job, run.path());
      finished = make_all(job, run.path(), ranks, options, log);
      if (ranks.is_first()) forget_claims(run.path());
    }
  }
  if (!ranks.is_first()) return {};
  if (is_ready) return conclude(job, run, finished, log);
  run.folder().finish(record::RunStatus::stopped);
  if (!is_solved) log.info("the data are not solved yet; the same command begins again");
  ClosureEnd end;
  end.folder = run.path();
  end.state = StudyEnd::State::stopped;
  return end;
}

}  // namespace sagips::study

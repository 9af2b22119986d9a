#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>

#include "sagips/cli/commands.hpp"
#include "sagips/cli/interrupt.hpp"
#include "sagips/cli/job_ranks.hpp"
#include "sagips/comm/mpi_communicator.hpp"
#include "sagips/core/process/process_pool.hpp"
#include "sagips/core/text.hpp"
#include "sagips/nn/device.hpp"
#include "sagips/record/run_files.hpp"
#include "sagips/run/rank_agreement.hpp"
#include "sagips/run/run_environment.hpp"
#include "sagips/run/run_report.hpp"
#include "sagips/study/experiments.hpp"
#include "sagips/study/over_ranks.hpp"
#include "sagips/study/progress.hpp"
#include "sagips/study/study_folder.hpp"

namespace sagips::cli {

namespace {

namespace files = record::run_files;
constexpr auto look_every = std::chrono::milliseconds(500);

// Tensors of an experiment are too small for threads to pay, unless the config names some.
int threads_of_worker(const Job& job) {
  return job.settings.threads > 0 ? static_cast<int>(job.settings.threads) : 1;
}

// A child of `sagips closure`: its share of the experiments of a folder.
core::ExitCode work(const Workloads& workloads, const Arguments& arguments) {
  Job job = run::read_job(workloads, arguments.source, arguments.assignments);
  const std::string folder = std::filesystem::path(arguments.source).parent_path().string();
  study::take_truth(job, folder);
  nn::set_threads(threads_of_worker(job));
  const InterruptGuard interrupt;
  const CheckpointSignal checkpoint;  // each experiment that has ended is one
  const study::WorkShare share = study::parse_share(option(arguments, "worker"));
  return study::make_experiments(job, folder, share, requests()) ? core::ExitCode::done
                                                                 : core::ExitCode::stopped_early;
}

std::vector<core::ChildProgram> workers(const Job& job, const std::string& folder,
                                        std::size_t count) {
  std::vector<core::ChildProgram> programs;
  for (std::size_t i = 0; i < count; ++i)
    programs.push_back(
        {{core::own_program(), "closure", core::text(folder, "/", files::config.name), "--worker",
          core::text(i, "/", count)},
         {{"OMP_NUM_THREADS", core::text(threads_of_worker(job))}},
         core::text(folder, "/", files::experiments.name, "/worker_", i, ".txt"),
         comm::launcher_variables()});
  return programs;
}

// Returns false when it was interrupted.
bool run_workers(const Job& job, const std::string& folder, core::Log& log) {
  const auto all = static_cast<std::size_t>(job.of<study::ClosureConfig>().experiments);
  const auto cores =
      static_cast<std::size_t>(std::max(1, nn::allowed_processors() / threads_of_worker(job)));
  const std::size_t count = std::min(all, cores);
  const study::ExperimentCount before = study::count_experiments(folder);
  log.info(core::text(
      folder, ": ", all, " closure experiments with ", job.of<study::ClosureConfig>().method, ", ",
      before.made - before.failed, " of them done",
      before.failed > 0 ? core::text(", ", before.failed, " failed and tried again") : "", "; ",
      count, " at a time"));
  study::StudyProgress progress(log, "experiments");
  core::PoolWatch watch;
  auto looked = std::chrono::steady_clock::now() - look_every;
  watch.waiting = [&] {
    const auto now = std::chrono::steady_clock::now();
    if (now - looked < look_every) return;
    looked = now;
    const study::ExperimentCount seen = study::count_experiments(folder);
    progress.show({all, seen.made - seen.failed, count, seen.failed});
  };
  watch.ended = [&](std::size_t i, const core::Ending& ending) {
    if (ending.exit_code != 0 && !InterruptGuard::requested())
      progress.warning("worker-failed", core::text("worker ", i, " ended with exit code ",
                                                   ending.exit_code, "; see ", folder, "/",
                                                   files::experiments.name, "/worker_", i, ".txt"));
    if (ending.signal != 0 && !InterruptGuard::requested())
      progress.warning("worker-failed",
                       core::text("worker ", i, " was ended by signal ", ending.signal));
  };
  watch.interrupted = [] { return InterruptGuard::requested(); };
  return core::run_side_by_side(workers(job, folder, count), count, watch);
}

// Measured events, while the other ranks wait. Returns false when it was interrupted.
bool solve_first(const Job& job, const std::string& folder, core::Log& log) {
  nn::set_threads(job.settings.threads);
  return study::solve_file(job, folder, requests(), log);
}

// Each rank of a job makes its share in its own process. collective
bool share_out(const Job& job, const std::string& folder, comm::Ranks& ranks) {
  nn::set_threads(threads_of_worker(job));
  const bool finished =
      study::make_experiments(job, folder, {ranks.rank(), ranks.size()}, requests());
  const auto all = study::collect_texts(ranks, finished ? "finished" : "interrupted");
  return std::all_of(all.begin(), all.end(),
                     [](const std::string& one) { return one == "finished"; });
}

}  // namespace

core::ExitCode closure(const Workloads& workloads, const Arguments& arguments) {
  if (arguments.options.count("worker") > 0) return work(workloads, arguments);
  comm::Ranks& ranks = *arguments.ranks;
  std::vector<std::string> assignments = arguments.assignments;
  assign_options(assignments, arguments, "closure", {"experiments", "method", "members"});
  Job job = run::read_job(workloads, arguments.source, assignments);
  const std::string print = study::check_closure(job);
  const std::string& method = job.of<study::ClosureConfig>().method;
  core::Log log({.quiet = arguments.quiet});
  // data of a file are solved first
  say_without_effect(workloads, job, arguments,
                     {.command = "closure",
                      .trains = method == "gan",
                      .methods = {method, print.empty() ? method : job.settings.solve.method},
                      .waiting_ranks = ranks.size()},
                     log);
  run::check_agreement(ranks, job.effective_config);
  std::optional<record::OpenedRun> opened;
  if (ranks.is_first()) {
    opened.emplace(
        study::open_study(job, "closure", print, start_of(arguments), {"closure.experiments"}));
    log.add_file(opened->directory.file(files::log.name));
    opened->directory.folder(files::experiments.name);
    record::write_environment(opened->directory.file(files::environment.name),
                              run::run_environment(ranks, threads_of_worker(job)));
  }
  bool finished = true;
  std::string folder;
  {
    const InterruptGuard interrupt;
    const CheckpointSignal checkpoint;  // each experiment that has ended is one
    ranks.timeout().set_config({.timeout_s = job.settings.ranks.timeout_s, .alarmed = {}});
    const study::SignsOfLife signs(ranks);
    if (ranks.is_first() && (print.empty() || solve_first(job, opened->directory.path(), log)))
      folder = opened->directory.path();
    folder = ranks.broadcast(folder);
    if (folder.empty()) {
      if (opened) opened->directory.finish(record::RunStatus::stopped);
      log.info("the data are not solved yet; the same command begins again");
      return core::ExitCode::stopped_early;
    }
    study::take_truth(job, folder);
    finished = ranks.size() > 1 ? share_out(job, folder, ranks) : run_workers(job, folder, log);
  }
  if (!ranks.is_first()) return core::ExitCode::done;

  const bool any = study::write_closure(job, folder, std::cout, log);
  const auto all = static_cast<std::size_t>(job.of<study::ClosureConfig>().experiments);
  const study::ExperimentCount made = study::count_experiments(folder);
  const std::size_t missing = all - std::min(all, made.made);
  say_folder(arguments, folder);
  if (missing > 0)
    log.warning("experiments-missing",
                core::text(missing, " experiments are missing; the same command goes on"));
  else if (made.failed > 0)
    log.warning("experiments-failed",
                core::text(made.failed, " experiments failed; the same command tries them again"));
  const bool ended = missing == 0 && made.failed == 0;
  opened->directory.finish(ended ? record::RunStatus::finished : record::RunStatus::stopped);
  if (job.settings.run.figures) say_report(run::write_run_report(folder, log));
  *arguments.warnings = log.warnings();
  if (missing > 0 && !finished) return core::ExitCode::stopped_early;
  return missing == 0 && any ? core::ExitCode::done : core::ExitCode::failed;
}

}  // namespace sagips::cli

#include <unistd.h>

#include <functional>
#include <iostream>

#include "sagips/analysis/table.hpp"
#include "sagips/cli/commands.hpp"
#include "sagips/cli/display.hpp"
#include "sagips/cli/interrupt.hpp"
#include "sagips/cli/outcome.hpp"
#include "sagips/cli/proposals.hpp"
#include "sagips/cli/run_figures.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"
#include "sagips/nn/device.hpp"
#include "sagips/record/metrics.hpp"
#include "sagips/record/run_files.hpp"

namespace sagips::cli {

namespace {

constexpr std::int64_t stored_proposals = 10000;

// Keeps what the final table needs.
record::Observer keeper(TrainingRecord& kept) {
  return [&kept, seen = false](const record::Event& event) mutable {
    if (const auto* evaluated = std::get_if<record::Evaluated>(&event)) {
      if (!seen) kept.first = *evaluated;
      kept.last = *evaluated;
      seen = true;
    }
    if (const auto* finished = std::get_if<record::RunFinished>(&event)) kept.finished = *finished;
  };
}

record::Observer warner(core::Log& log) {
  return [&log](const record::Event& event) {
    if (const auto* warning = std::get_if<record::Warning>(&event))
      log.warning(core::text("epoch ", warning->epoch, ": ", warning->message));
  };
}

TrainingRecord turn_the_crank(const Job& job, optim::Gan& gan, const train::Evaluator& evaluator,
                              const record::RunDirectory& folder, core::Log& log) {
  TrainingRecord training;
  train::EarlyStop early_stop(job.settings.early_stop);
  record::MetricsWriter metrics(folder.file(record::run_files::metrics.name));
  Display display(STDOUT_FILENO, {});
  log.set_terminal(false);  // the display shows what happens; the file goes on
  const InterruptGuard interrupt;
  train::Loop::Callbacks callbacks;
  callbacks.observers = {keeper(training), warner(log), std::ref(metrics), std::ref(display)};
  callbacks.evaluate = [&] { return evaluator(gan); };
  callbacks.should_stop = [&](const record::Evaluated& evaluated) { return early_stop(evaluated); };
  callbacks.interrupted = [&] { return interrupt.requested(); };
  display(record::RunStarted{job.settings.workload, folder.path(), job.settings.loop.epochs,
                             job.settings.loop.minutes});
  train::Loop(job.settings.loop, gan, callbacks).run();
  log.set_terminal(true);
  return training;
}

void write_outputs(const record::RunDirectory& folder, const record::Results& results,
                   const torch::Tensor& proposals, optim::Gan& gan) {
  record::write_results_json(folder.file(record::run_files::results.name), results);
  record::write_summary_csv(folder.file(record::run_files::summary.name), results);
  write_proposals(folder.file(record::run_files::parameters.name), proposals);
  write_generator(folder, gan.generator());
}

}  // namespace

core::ExitCode train(const Workloads& workloads, const Arguments& arguments) {
  const Job job = read_job(workloads, arguments.source, arguments.assignments);
  job.settings.loop.check();  // before anything is made
  const torch::Device device = nn::device_from_name(job.settings.device);
  const int threads = nn::set_threads(job.settings.threads);
  const env::Environment environment =
      optim::make_environment(*job.workload, job.settings.data, optim::Split::held_out, job.seed());
  optim::Gan gan(job.settings.gan, environment, job.seed(), device);
  const train::Evaluator evaluator(job.settings.evaluation, environment, job.seed());

  core::Log log;
  const record::RunDirectory folder(job.settings.run, job.settings.workload);
  core::write_file(folder.file(record::run_files::config.name), job.effective_config);
  log.add_file(folder.file(record::run_files::log.name));
  log.info(core::text("training ", job.settings.workload, " on ",
                      environment.channels.front().training.origin, " with ", threads,
                      threads == 1 ? " thread" : " threads", ", seed ", job.settings.run.seed));
  const TrainingRecord training = turn_the_crank(job, gan, evaluator, folder, log);
  log.info(core::text("finished: ", training.finished.reason, " after ", training.finished.epochs,
                      " epochs, ", core::duration(training.finished.time_s)));

  const record::Results results =
      training_results(job, environment, training, oracle_fit(job, log));
  const torch::Tensor proposals = gan.predict(stored_proposals);
  write_outputs(folder, results, proposals, gan);
  std::string figure;
  if (job.settings.run.figures)
    figure = draw_run_figures(folder, job, environment, results, proposals, evaluator, log);
  std::cout << '\n' << analysis::result_table(results) << '\n';
  if (!figure.empty()) std::cout << "residuals over time: " << figure << '\n';
  std::cout << "run folder: " << folder.path() << std::endl;
  return training.finished.complete ? core::ExitCode::done : core::ExitCode::stopped_early;
}

}  // namespace sagips::cli

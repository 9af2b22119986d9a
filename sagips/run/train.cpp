#include "sagips/run/train.hpp"

#include <functional>
#include <memory>

#include "sagips/core/text.hpp"
#include "sagips/env/outside/outside_events.hpp"
#include "sagips/nn/device.hpp"
#include "sagips/nn/device_library.hpp"
#include "sagips/run/rank_agreement.hpp"
#include "sagips/run/task.hpp"
#include "sagips/run/training_setup.hpp"

namespace sagips::run {

namespace {

// What one process of a job may use, and a warning when the launcher allows less than is asked for.
int set_threads(const Job& job, comm::Ranks& ranks, int sharing, core::Log& log) {
  if (sharing == 0) sharing = ranks_on_these_processors(ranks);
  const int threads = nn::set_threads(job.settings.threads, sharing);
  const int allowed = nn::allowed_processors();
  if (ranks.is_first() && threads > allowed && ranks.size() > 1)
    log.warning("threads-share-cores",
                core::text(threads, " threads a rank share ", allowed,
                           allowed == 1 ? " processor" : " processors",
                           " that the launcher binds it to (they take turns). Start with --bind-to "
                           "none or --map-by slot:PE=",
                           threads, ", or set threads=", allowed, "."));
  return threads;
}

void note_failure(const std::string& folder) {
  try {
    record::write_run_status(folder, record::RunStatus::failed);
  } catch (const core::StorageError&) {  // what failed is told by its own error
  }
}

// A failure of the problem itself would come again; one of the machine may not.
Training guarded_training(const RunOutputs& outputs, const std::function<Training()>& train) {
  try {
    return train();
  } catch (const comm::CommError&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const core::StateError&) {  // of another version or config: that one may go on
    if (outputs.resumed()) outputs.undo();
    throw;
  } catch (const std::exception&) {
    note_failure(outputs.path());
    throw;
  }
}

void say_start(const Job& job, comm::Ranks& ranks, const Task& task,
               const train::RankExchange& exchange, int threads, core::Log& log) {
  std::string line =
      core::text("training ", task.description(), threads == 1 ? " with " : " with up to ", threads,
                 threads == 1 ? " thread" : " threads", ", seed ", job.settings.run.seed);
  if (ranks.size() > 1)
    line += core::text("; ", ranks.size(), " ranks (", ranks.communicator().description(), "), ",
                       task.share(), " each; ", exchange.description());
  log.info(line);
  if (const std::string device = nn::described(job.settings.made_device()); !device.empty())
    log.info("device: " + device);
}

// throws: ConfigError for what the kind of problem cannot do
std::unique_ptr<Task> make_task(const Job& job, comm::Ranks& ranks, core::Log& log) {
  std::unique_ptr<Task> task = job.problem->task(job, ranks, log);
  if (job.settings.early_stop.restore && !task->keeps_best())
    throw core::ConfigError(
        "early_stop.restore",
        "is for networks that learn from examples (a search for parameters keeps "
        "train.snapshots). Leave it out.");
  check_metric(job.settings.early_stop, job.problem->waits_for_plateau(), task->keeps_best(),
               task->metric_names());
  return task;
}

Beginning beginning_of(RunOutputs& outputs, Task& task) {
  try {
    Beginning beginning = outputs.beginning();
    task.begin(beginning.restored.has_value());
    return beginning;
  } catch (const core::Error&) {  // no checkpoint or file to begin from can be used
    outputs.undo();
    throw;
  }
}

void finish_folder(const Job& job, RunOutputs& outputs, const Training& training) {
  const record::RunFinished& finished = training.record.finished;
  outputs.finish(training.failure ? record::RunStatus::failed
                 : finished.complete || !job.settings.checkpoints.are_written()
                     ? record::RunStatus::finished  // what has no checkpoint cannot go on
                     : record::RunStatus::stopped,
                 finished.reason.kind == record::StopReason::Kind::time_limit &&
                     finished.epochs < job.settings.loop.epochs);
}

// What a training leaves behind, after which its ranks may go. collective
Results results_at_end(const Job& job, comm::Ranks& ranks, Task& task, RunOutputs& outputs,
                       const Training& training, core::Log& log) {
  const record::RunFinished& finished = training.record.finished;
  if (ranks.is_first())
    log.info(core::text("finished: ", training.failure ? "failed" : finished.reason.text, " after ",
                        finished.epochs, " epochs, ", core::duration(finished.time_s)));
  Results results{.folder = outputs.path()};
  results.rows = gather_rows(ranks, training.row);
  const train::ExchangeChoice choice = job.exchange_choice();
  results.exchange = choice.primary;
  const std::string age = age_warning(
      results.exchange, results.rows,
      train::place_of(choice, ranks.communicator()).ranks / choice.config.served.ranks_per_worker);
  if (!age.empty()) log.warning("old-gradients", age);
  try {
    results.results = task.write(outputs, training, results.rows);
  } catch (const core::Error&) {
    if (!training.failure) throw;  // which tells more
  }
  results.figure = outputs.figure();
  results.page = outputs.page();
  finish_folder(job, outputs, training);
  training.agreement->part();
  results.complete = finished.complete;
  results.reason = finished.reason;
  results.failure = training.failure;
  return results;
}

}  // namespace

Results train(const Job& job, comm::Ranks& ranks, const TrainOptions& options, core::Log& log) {
  Timing timing;
  timing.begin("preparation");
  job.settings.loop.check();  // before anything is made
  check_agreement(ranks, job.effective_config);
  ranks.timeout().set_config(
      {.timeout_s = job.settings.ranks.timeout_s, .alarmed = options.requests.stop});
  nn::take_turn(place_on_node(ranks));
  const torch::Device device = job.settings.made_device();
  if (const std::string lack = nn::lack_of_passes(device); !lack.empty() && ranks.is_first())
    log.warning("slow-gpu", core::text("LibTorch works alone on the GPU, without the passes of "
                                       "SAGIPS: ",
                                       lack, ". docs/guides/gpu.md says how to build them."));
  const int threads = set_threads(job, ranks, options.sharing, log);
  const std::unique_ptr<Task> task = make_task(job, ranks, log);
  train::RankExchange exchange(ranks, task->optimizer(), job.exchange_choice(), job.seed());
  RunOutputs outputs(job, ranks, options.start, task->fingerprint(), task->kinds_of_ranks(),
                     threads, log,
                     timing);  // what can be refused has been
  Beginning beginning = beginning_of(outputs, *task);
  const double trained_before_s = beginning.restored ? beginning.restored->time_s : 0;

  if (ranks.is_first()) say_start(job, ranks, *task, exchange, threads, log);
  if (ranks.is_first() && !options.remark.empty()) log.warning("without-effect", options.remark);
  timing.begin("evaluations and records");
  const double on_cpu_before_s = env::CpuTime::total_s();
  const Training training = guarded_training(outputs, [&] {
    return run_training(job, ranks, *task, exchange, std::move(beginning), options, log);
  });
  if (const double took_s = env::CpuTime::total_s() - on_cpu_before_s;
      took_s > 0 && ranks.is_first())
    log.info(core::text("stages that are programs or NumPy functions took ",
                        core::significant(took_s, 2), " s",
                        ", with copies between the CPU and the GPU and the wait for both"));
  if (training.left) {
    if (ranks.is_first()) outputs.finish(record::RunStatus::stopped);
    return {.folder = outputs.path(), .left = true};
  }
  timing.take_out("training", training.record.finished.time_s - trained_before_s);
  return results_at_end(job, ranks, *task, outputs, training, log);
}

}  // namespace sagips::run

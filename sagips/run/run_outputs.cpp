#include "sagips/run/run_outputs.hpp"

#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"
#include "sagips/record/run_files.hpp"
#include "sagips/record/timeline.hpp"
#include "sagips/run/run_environment.hpp"
#include "sagips/run/run_report.hpp"

namespace sagips::run {

RunOutputs::RunOutputs(const Job& job, comm::Ranks& ranks, record::Start start,
                       const std::string& data, int kinds, int threads, core::Log& log,
                       Timing& timing)
    : job_(job), ranks_(ranks), log_(log), timing_(timing), kinds_(kinds) {
  if (ranks.is_first()) {
    record::OpenedRun run = record::open_run(job.settings.run,
                                             {.workload = job.settings.workload,
                                              .command = "train",
                                              .effective_config = job.effective_config,
                                              .data = data,
                                              .goes_on_after_end = true},
                                             start);
    resumed_ = run.resumed;
    before_ = run.before;
    config_before_ = run.config_before;
    folder_.emplace(std::move(run.directory));
    log.add_file(folder_->file(record::run_files::log.name));
    record::write_environment(folder_->file(record::run_files::environment.name),
                              run_environment(ranks, threads, job.settings.made_device()));
    for (const std::string& change : run.changes) log.info("changed config: " + change);
    if (run.has_other_data && job.as<LearningProblem>())
      log.warning(
          "rows-learned-from",
          "the networks may have learned from rows that are kept aside now (metrics are too good "
          "then, and the best network is still the one before)");
    if (ranks.size() > 1) folder_->folder(record::run_files::ranks.name);
    if (job.settings.loop.snapshots > 0) folder_->folder(record::run_files::snapshots.name);
    if (job.settings.run.tensorboard) folder_->folder(record::run_files::tensorboard.name);
    if (job.settings.loop.timeline > 0) folder_->folder(record::run_files::timeline.name);
  }
  path_ = ranks.broadcast(folder_ ? folder_->path() : std::string());  // all know rank 0's
  run_id_ = ranks.broadcast(folder_ ? record::read_run_record(path_).value().id : std::string());
}

Beginning RunOutputs::beginning() const {
  Beginning beginning{path_, run_id_};
  const record::CheckpointStore store(core::text(path_, "/", record::run_files::checkpoints.name),
                                      run_id_, job_.settings.checkpoints.keep);
  beginning.restored = train::restore(
      ranks_, store,
      [this](const std::string& line) { log_.warning("checkpoint-unreadable", line); }, kinds_);
  if (resumed_) say_resumed(beginning.restored);
  const std::int64_t epochs = job_.settings.loop.epochs;
  if (epochs > 0 && beginning.restored && beginning.restored->epoch > epochs)
    log_.warning("epochs-are-over",
                 core::text("train.epochs is ", epochs, ", and ", beginning.restored->epoch,
                            " epochs of this run are over: its results are those of ",
                            beginning.restored->epoch));
  const bool was_over = before_.status == record::RunStatus::finished;
  if (was_over && epochs > 0 && beginning.restored && beginning.restored->epoch >= epochs)
    log_.warning("nothing-trained",
                 "no epoch is left of this run, so that nothing is trained with what has changed "
                 "(train.epochs=N raises the limit)");
  beginning.after_end = !ranks_.broadcast(was_over ? "it was over" : "").empty();
  return beginning;
}

void RunOutputs::undo() const {
  if (!folder_) return;
  if (!resumed_) return folder_->discard();
  core::write_file(folder_->file(record::run_files::config.name), config_before_);
  record::write_run_record(path_, before_);
}

// A run that stopped goes on just as well when nothing says that it stopped.
void RunOutputs::finish(record::RunStatus status, bool epochs_left) const {
  try {
    if (folder_) folder_->finish(status, epochs_left);
  } catch (const core::StorageError& error) {
    if (status == record::RunStatus::finished) throw;
    log_.warning("not-written", error.what());
  }
}

void RunOutputs::say_resumed(const std::optional<train::Restored>& restored) const {
  const std::string how_not = "; --fresh begins a new run instead";
  if (!restored) {
    log_.info(core::text("resuming ", path_, ": it has no checkpoint yet and begins at its start",
                         how_not));
    return;
  }
  const std::int64_t epochs = job_.settings.loop.epochs;
  log_.info(core::text("resuming ", path_, ": epoch ", restored->epoch,
                       epochs > 0 ? core::text(" of ", epochs) : "", ", ",
                       core::duration(restored->time_s), " trained", how_not));
  if (restored->ranks == ranks_.size()) return;
  log_.info(core::text(
      "it was begun on ", restored->ranks, " ranks and goes on on ", ranks_.size(),
      ": rank r takes the networks of rank r mod ", restored->ranks,
      kinds_ > 1 ? " or of another one with its data set" : "",
      ranks_.size() < restored->ranks ? core::text(" (those of ranks ", ranks_.size(), " to ",
                                                   restored->ranks - 1, " are left out)")
                                      : "",
      ", the ", job_.problem->unit(), " are shared out anew, and the exchange begins anew"));
}

// What people look at; a full disk costs no results.
void RunOutputs::write_what_was_seen(const std::vector<RankRow>& rows) const {
  try {
    if (job_.settings.loop.monitor)
      write_machine_use(folder_->file(record::run_files::monitor.name), rows);
    record::join_timeline(folder_->path());
  } catch (const core::Error& error) {
    log_.warning("not-written", error.what());
  }
}

void RunOutputs::write(record::Results& results, const std::vector<RankRow>& rows,
                       const std::function<std::string()>& draw) {
  const std::string file = folder_->file(record::run_files::results.name);
  add_time_and_memory(results, rows);
  write_what_was_seen(rows);
  const std::size_t said = log_.warnings().size();
  write_results(file, results, log_);
  record::write_summary_csv(folder_->file(record::run_files::summary.name), results);
  if (ranks_.size() > 1) write_rank_rows(folder_->file(record::run_files::exchange.name), rows);
  timing_.begin("figures");
  if (job_.settings.run.figures) figure_ = draw();
  write_timing(folder_->file(record::run_files::timing.name), timing_.parts());
  if (job_.settings.run.figures) page_ = write_run_report(folder_->path(), log_);
  if (log_.warnings().size() > said) write_results(file, results, log_);  // of pictures and page
}

}  // namespace sagips::run

#include "sagips/run/live_files.hpp"

#include <cstdio>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/record/run_files.hpp"

namespace sagips::run {

std::string file_of_rank(int rank, const std::string& extension) {
  char name[32];
  std::snprintf(name, sizeof(name), "rank_%04d.", rank);
  return name + extension;
}

LiveFiles::LiveFiles(const Job& job, const comm::Ranks& ranks, optim::Gan& gan,
                     const RankEvaluation& evaluation, std::string folder, core::Log& log)
    : job_(job),
      is_first_(ranks.is_first()),
      rank_(ranks.rank()),
      gan_(gan),
      evaluation_(evaluation),
      folder_(std::move(folder)),
      log_(log) {
  if (job.settings.loop.timeline == 0) return;
  timeline_.emplace(rank_);
  gan_.set_tracer(tracer());
}

void LiveFiles::begin(std::int64_t over) {
  began_ = over;
  if (!is_first_) return;
  const train::LoopConfig& loop = job_.settings.loop;
  if (loop.snapshots > 0)
    snapshots_.emplace(
        core::text(folder_, "/", record::run_files::snapshots.name), over,
        [&loop](std::int64_t epoch) { return loop.snapshot_part(epoch); },
        [this] { return evaluation_.snapshot(); }, log_);
  if (!job_.settings.run.tensorboard) return;
  try {
    tensorboard_.emplace(core::text(folder_, "/", record::run_files::tensorboard.name), over + 1);
  } catch (const core::StorageError& error) {
    log_.warning(error.what());
  }
}

void LiveFiles::operator()(const record::Event& event) {
  if (snapshots_) (*snapshots_)(event);
  to_tensorboard(event);
  if (timeline_) trace(event);
}

void LiveFiles::to_tensorboard(const record::Event& event) {
  if (!tensorboard_) return;
  try {
    (*tensorboard_)(event);
  } catch (const core::StorageError& error) {
    tensorboard_.reset();
    log_.warning(error.what());
  }
}

void LiveFiles::trace(const record::Event& event) {
  if (!std::holds_alternative<record::EpochDone>(event)) return;
  if (++traced_ != job_.settings.loop.timeline) return;
  timeline_->stop();
  gan_.set_tracer(nullptr);
}

// A resumed run leaves the trace of the first epochs alone.
void LiveFiles::end() {
  gan_.set_tracer(nullptr);
  if (!timeline_) return;
  const std::string extension =
      began_ > 0 ? core::text("from_epoch_", began_ + 1, ".json") : "json";
  try {
    timeline_->write(core::text(folder_, "/", record::run_files::timeline.name, "/",
                                file_of_rank(rank_, extension)));
  } catch (const core::StorageError& error) {
    log_.warning(error.what());
  }
}

}  // namespace sagips::run

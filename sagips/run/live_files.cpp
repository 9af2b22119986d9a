#include "sagips/run/live_files.hpp"

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "sagips/comm/clock_offset.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/record/run_files.hpp"

namespace sagips::run {

namespace {

constexpr double metrics_period_s = 0.25;  // of epochs in the metrics

// The clocks are read one after the other; the closest of several readings counts. collective
record::TraceClock trace_clock(comm::Ranks& ranks) {
  using std::chrono::nanoseconds;
  std::int64_t wall_ns = 0, closest_ns = 0;
  for (int reading = 0; reading < 16; ++reading) {
    const std::int64_t before = ranks.communicator().now_ns();
    const auto wall = std::chrono::system_clock::now().time_since_epoch();
    const std::int64_t took = ranks.communicator().now_ns() - before;
    if (reading > 0 && took >= closest_ns) continue;
    closest_ns = took;
    wall_ns = std::chrono::duration_cast<nanoseconds>(wall).count() - before - took / 2;
  }
  const comm::ClockOffset own = comm::clock_offset(ranks);
  const std::vector<std::uint64_t> of_ranks = ranks.gather(static_cast<std::uint64_t>(wall_ns));
  return {static_cast<std::int64_t>(of_ranks.front()) + own.offset_ns, own.uncertainty_ns};
}

}  // namespace

std::string file_of_rank(int rank, const std::string& extension) {
  char name[32];
  std::snprintf(name, sizeof(name), "rank_%04d.", rank);
  return name + extension;
}

void LastingMetrics::operator()(const record::Event& event) {
  if (lost_ && !std::holds_alternative<record::Evaluated>(event)) return;  // try now and then
  try {
    if (!writer_) writer_.emplace(path_, metrics_period_s, bytes_);
    (*writer_)(event);
    if (lost_) writer_->flush();
    bytes_ = writer_->bytes();
    lost_ = false;
  } catch (const core::Error& problem) {
    lose(problem.what());
  }
}

// Whoever is warned may come back here with the warning as an event.
void LastingMetrics::lose(const std::string& problem) {
  const bool is_first = !std::exchange(lost_, true);
  writer_.reset();
  if (is_first) warn_(problem);
}

void LastingMetrics::state(nn::StateList& list) {
  if (list.gives() && writer_) {
    try {
      writer_->flush();
    } catch (const core::StorageError& problem) {
      lose(problem.what());
    }
  }
  list.field("bytes", bytes_);
  if (!list.gives()) writer_.reset();  // the next event cuts the file there
}

void SnapshotWriter::write(std::int64_t epoch, double time_s) {
  if (epoch == last_epoch_) return;
  last_epoch_ = epoch;
  last_part_ = part_(epoch);
  std::optional<record::Snapshot> snapshot = now_();
  if (!snapshot) return;
  snapshot->epoch = epoch;
  snapshot->time_s = time_s;
  try {
    record::write_snapshot(folder_, *snapshot);
  } catch (const core::StorageError& error) {
    log_.warning("no-snapshot", core::text("epoch ", epoch, ": no snapshot: ", error.what()));
  }
}

// The last evaluation comes before the end of the run, whatever ends it.
void SnapshotWriter::operator()(const record::Event& event) {
  if (const auto* evaluated = std::get_if<record::Evaluated>(&event)) {
    if (part_(evaluated->epoch) > last_part_) write(evaluated->epoch, evaluated->time_s);
  } else if (const auto* finished = std::get_if<record::RunFinished>(&event)) {
    if (finished->epochs > 0 && finished->complete) write(finished->epochs, finished->time_s);
  }
}

LiveFiles::LiveFiles(const Job& job, comm::Ranks& ranks, Task& task, std::string folder,
                     core::Log& log)
    : job_(job),
      is_first_(ranks.is_first()),
      rank_(ranks.rank()),
      task_(task),
      folder_(std::move(folder)),
      log_(log) {
  if (job.settings.loop.timeline > 0) {
    timeline_.emplace(rank_, trace_clock(ranks));
    task_.set_tracer(tracer());
  }
  if (!job.settings.loop.monitor) return;
  monitor_.emplace();
  if (!monitor_->problem().empty() && is_first_) log_.info(monitor_->problem());
}

// A restart leaves the pieces of earlier starts alone.
void LiveFiles::begin_trace(std::int64_t over) {
  const std::string folder = core::text(folder_, "/", record::run_files::timeline.name, "/");
  const std::string from = over > 0 ? core::text("from_epoch_", over + 1, ".") : "";
  std::string path = folder + file_of_rank(rank_, from + "json");
  std::error_code ignored;
  for (int start = 2; std::filesystem::exists(path, ignored); ++start)
    path = folder + file_of_rank(rank_, core::text(from, "start_", start, ".json"));
  try {
    timeline_->begin(path, over > 0 ? core::text("goes on with epoch ", over + 1) : "begins");
  } catch (const core::StorageError& error) {
    log_.warning("not-written", error.what());
  }
}

void LiveFiles::begin(std::int64_t over) {
  if (timeline_) begin_trace(over);
  if (!is_first_) return;
  const train::LoopConfig& loop = job_.settings.loop;
  if (loop.snapshots > 0)
    snapshots_.emplace(
        core::text(folder_, "/", record::run_files::snapshots.name), over,
        [&loop](std::int64_t epoch) { return loop.snapshot_part(epoch); },
        [this] { return task_.snapshot(); }, log_);
  if (!job_.settings.run.tensorboard) return;
  try {
    tensorboard_.emplace(core::text(folder_, "/", record::run_files::tensorboard.name), over + 1);
  } catch (const core::StorageError& error) {
    log_.warning("not-written", error.what());
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
    log_.warning("not-written", error.what());
  }
}

void LiveFiles::trace(const record::Event& event) {
  if (!std::holds_alternative<record::EpochDone>(event)) return;
  if (++traced_ != job_.settings.loop.timeline) return;
  timeline_->stop();
  task_.set_tracer(nullptr);
}

void LiveFiles::end() {
  task_.set_tracer(nullptr);
  if (!timeline_) return;
  if (is_first_ && timeline_->left_out() > 0)
    log_.info(core::text("the trace ends before its epochs do: ", timeline_->left_out(),
                         " spans more are left out (train.timeline=N: fewer epochs)"));
  try {
    timeline_->end();
  } catch (const core::StorageError& error) {
    log_.warning("not-written", error.what());
  }
}

}  // namespace sagips::run

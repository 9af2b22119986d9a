#include "sagips/train/checkpoint/checkpoints.hpp"

#include <algorithm>
#include <cstring>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/train/checkpoint/checkpoint_file.hpp"

namespace sagips::train {

namespace {

std::string key_of(std::int64_t number) {
  return number == Checkpoints::last ? "last" : core::text(number);
}

std::string lost_part(int rank) {
  return core::text("rank ", rank,
                    " could not write its part (its disk may be full). Free space there.");
}

/// Adds the time of its scope to a sum.
class Stopwatch {
 public:
  explicit Stopwatch(double& sum_s) : sum_s_(sum_s), start_ns_(comm::now_ns()) {}
  ~Stopwatch() { sum_s_ += static_cast<double>(comm::now_ns() - start_ns_) * 1e-9; }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  double& sum_s_;
  std::int64_t start_ns_;
};

}  // namespace

Checkpoints::Checkpoints(comm::Ranks& ranks, record::CheckpointStore store, Told told)
    : ranks_(ranks),
      store_(std::move(store)),
      told_(std::move(told)),
      heard_(static_cast<std::size_t>(ranks.size())),
      outbox_(ranks, comm::ControlTag::checkpoint,
              [this](std::size_t place, const comm::Outbox::Message& message) {
                Report report;
                std::memcpy(&report, message.content.data(), sizeof report);
                add(static_cast<int>(place), report, lost_part(static_cast<int>(place)));
              }) {}

void Checkpoints::write(std::int64_t number, std::int64_t epoch, double time_s,
                        const nn::State& state) {
  const Stopwatch stopwatch(spent_s_);
  if (ranks_.is_first()) {
    const auto ranks = static_cast<std::size_t>(ranks_.size());
    Pending pending;
    pending.manifest.epoch = epoch;
    pending.manifest.time_s = time_s;
    pending.manifest.parts.resize(ranks);
    pending.there.resize(ranks);
    pending_[number] = std::move(pending);
  }
  Report report{.number = number};
  std::string problem;
  try {
    const auto part = store_.write_part(key_of(number), ranks_.rank(), to_file(state));
    report.bytes = part.bytes;
    report.crc32c = part.crc32c;
    report.good = 1;
  } catch (const core::StorageError& failure) {
    problem = failure.what();
  }
  const auto bytes = comm::bytes_of(report);
  if (!ranks_.is_first()) return outbox_.send({.content = {bytes.begin(), bytes.end()}});
  add(0, report, problem);
  for (int rank = 1; rank < ranks_.size(); ++rank)  // those that were faster
    if (const Report heard = heard_[static_cast<std::size_t>(rank)]; heard.number >= number)
      add(rank, heard, lost_part(rank));
}

// A rank's reports rise: those before this one that it has not sent never come.
void Checkpoints::add(int rank, const Report& report, const std::string& problem) {
  const auto place = static_cast<std::size_t>(rank);
  heard_[place] = report;
  for (auto& [number, pending] : pending_) {
    if (number > report.number || pending.there[place]) continue;
    pending.there[place] = true;
    if (number < report.number)
      take_over(number, pending, rank, report);
    else if (report.good == 0)
      pending.problem = problem;
    else
      pending.manifest.parts[place] = {report.bytes, report.crc32c};
  }
  conclude();
}

// A rank that has ended is where it was; one that left this out by itself is not known to be.
void Checkpoints::take_over(std::int64_t number, Pending& pending, int rank, const Report& report) {
  if (report.number != last || report.good == 0) {
    pending.problem =
        report.good == 0 ? lost_part(rank) : core::text("rank ", rank, " left it out.");
    return;
  }
  try {
    store_.share_part(key_of(last), key_of(number), rank);
    pending.manifest.parts[static_cast<std::size_t>(rank)] = {report.bytes, report.crc32c};
  } catch (const core::StorageError& failure) {
    pending.problem = failure.what();
  }
}

void Checkpoints::conclude() {
  for (auto next = pending_.begin(); next != pending_.end();) {
    const Pending& pending = next->second;
    if (!std::all_of(pending.there.begin(), pending.there.end(), [](bool there) { return there; }))
      return;
    complete(next->first, pending);
    next = pending_.erase(next);
  }
}

void Checkpoints::complete(std::int64_t number, const Pending& pending) {
  const std::int64_t epoch = pending.manifest.epoch;
  try {
    if (!pending.problem.empty()) throw core::Error(pending.problem);
    store_.complete(key_of(number), pending.manifest);
    ++written_;
    told_.info(core::text("checkpoint of epoch ", epoch, " written",
                          warned_ ? ": there is space again" : ""));
    warned_ = false;
  } catch (const core::Error& problem) {
    store_.discard(key_of(number));
    fail(epoch, problem.what());
  }
}

void Checkpoints::fail(std::int64_t epoch, const std::string& problem) {
  if (!warned_)
    told_.warning(core::text("the checkpoint of epoch ", epoch, " could not be written: ", problem,
                             " The run goes on, and the checkpoint before it stays."));
  warned_ = true;
}

void Checkpoints::poll() {
  if (!ranks_.is_first() || pending_.empty()) return;
  const Stopwatch stopwatch(spent_s_);
  take_all();
}

void Checkpoints::take_all() {
  for (std::size_t rank = 1; rank < heard_.size(); ++rank)
    while (outbox_.take(rank)) continue;
}

// All reports are taken meanwhile: checkpoints may be made while ranks that go on are waited for.
void Checkpoints::settle() {
  const Stopwatch stopwatch(spent_s_);
  if (!ranks_.is_first()) return outbox_.wait_until_empty("for a report");
  for (int rank = 1; rank < ranks_.size(); ++rank) {
    comm::Until came([&] {
      take_all();
      return heard_[static_cast<std::size_t>(rank)].number == last;
    });
    ranks_.timeout().wait(
        came, {.partners = {rank}, .what = "with its checkpoint", .however_long = true});
  }
}

}  // namespace sagips::train

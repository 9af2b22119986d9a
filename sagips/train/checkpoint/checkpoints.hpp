#pragma once
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sagips/comm/outbox.hpp"
#include "sagips/nn/state.hpp"
#include "sagips/record/checkpoint_store.hpp"

namespace sagips::train {

/// Writes the checkpoints of a run: each rank its part, rank 0 the manifest when all have reported.
///
/// Nobody waits: rank 0 takes reports when it is polled. A part that cannot be written costs that
/// checkpoint, not the run: the one before it stays, and one warning says so until it works again.
class Checkpoints {
 public:
  /// What rank 0 tells; the other ranks are silent.
  struct Told {
    std::function<void(const std::string&)> info, warning;
  };
  Checkpoints(comm::Ranks& ranks, record::CheckpointStore store, Told told);

  /// The number of the last one of a run, which all ranks write without being told.
  static constexpr std::int64_t last = std::numeric_limits<std::int64_t>::max();

  /// This rank's part. Numbers rise; all ranks use the same one for the same checkpoint, or leave
  /// it out, which costs that checkpoint; the last part of a rank that has ended stands in for those
  /// that it is not told of any more. epoch, time_s: this rank's
  void write(std::int64_t number, std::int64_t epoch, double time_s, const nn::State& state);
  /// Rank 0: completes what all have written.
  void poll();
  /// Rank 0: waits for every rank's last part. collective when the last ones have been written
  void settle();

  /// Rank 0: whether checkpoints are being made, the last one aside.
  bool pending() const { return !pending_.empty() && pending_.begin()->first != last; }
  std::int64_t written() const { return written_; }  ///< complete ones, on rank 0
  double spent_s() const { return spent_s_; }        ///< by this rank

 private:
  struct Report {
    std::int64_t number = 0;
    std::uint64_t bytes = 0;
    std::uint32_t crc32c = 0;
    std::uint32_t good = 0;
  };
  struct Pending {
    record::CheckpointManifest manifest;
    std::vector<bool> there;
    std::string problem;  ///< why it comes to nothing; empty: it may yet
  };
  void take_all();
  void take_over(std::int64_t number, Pending& pending, int rank, const Report& report);
  void add(int rank, const Report& report, const std::string& problem);
  void conclude();
  void complete(std::int64_t number, const Pending& pending);
  void fail(std::int64_t epoch, const std::string& problem);

  comm::Ranks& ranks_;
  record::CheckpointStore store_;
  Told told_;
  std::map<std::int64_t, Pending> pending_;  ///< by number, on rank 0
  /// The last ones, by rank, on rank 0: they may have come before this rank began the same number.
  std::vector<Report> heard_;
  comm::Outbox outbox_;
  bool warned_ = false;
  std::int64_t written_ = 0;
  double spent_s_ = 0;
};

}  // namespace sagips::train

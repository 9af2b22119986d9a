#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace sagips::record {

/// The generators of a run at one moment, kept for looking back (residuals over time), apart from
/// what a resumed run needs.
/// source: SAGIPS paper, Sec. VI-C2: the first epoch and every 5,000 of 100,000, with time stamps
struct Snapshot {
  std::int64_t epoch = 0;
  double time_s = 0;  ///< accumulated training time
  std::vector<std::string> parameters;
  /// Proposals for noise vectors that are the same in every snapshot of every run, whatever its
  /// seed; the mean over ranks. shape: [rows, parameters], physical units
  std::vector<float> predictions;
  std::vector<float> weights;  ///< shape: [ranks, weights]; may be empty
  std::int64_t ranks = 1;

  std::int64_t rows() const;
};

/// `<folder>/epoch_000005000.safetensors`; written aside and renamed. throws: StorageError
void write_snapshot(const std::string& folder, const Snapshot& snapshot);

/// All snapshots of a folder by epoch; none when there is no such folder. Weights are left out.
/// throws: DataError for a file that cannot be used
std::vector<Snapshot> read_snapshots(const std::string& folder);

}  // namespace sagips::record

#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sagips/core/config/config.hpp"
#include "sagips/record/tensor_file.hpp"

namespace sagips::record {

struct CheckpointConfig {
  std::int64_t epochs = 0;  ///< 0: not by epochs
  double minutes = 5;       ///< wall clock; 0: not by time
  std::int64_t keep = 2;

  bool are_written() const { return epochs > 0 || minutes > 0; }
  void fields(core::FieldList& list);
};

/// One rank's file in a checkpoint.
struct CheckpointPart {
  std::uint64_t bytes = 0;
  std::uint32_t crc32c = 0;
};

/// What `manifest.json` of a checkpoint says; it is written last and carries a checksum of itself.
struct CheckpointManifest {
  std::string run;         ///< id of the run (`RunRecord::id`): a foreign one is refused
  std::int64_t epoch = 0;  ///< epochs of rank 0 that were over
  double time_s = 0;       ///< training time of rank 0
  std::string version{};   ///< of the program that wrote it
  std::vector<CheckpointPart> parts{};  ///< by rank
};

/// The checkpoints of one run: `000012_epoch_500/`, the twelfth, after 500 epochs, holds
/// `rank_0000.safetensors`, ... and `manifest.json`. The number alone says which is newer: epochs stand
/// still while one goes on, and on other ranks or with another batch they have other steps.
///
/// A checkpoint is written under another name, synced, and renamed when it is complete; older ones
/// are removed only then. So whatever moment a process is killed at, or the disk is full, the
/// complete ones stay. Ranks write their parts on their own; the first one completes.
class CheckpointStore {
 public:
  /// folder: `checkpoints` of the run; made when the first part is written
  CheckpointStore(std::string folder, std::string run, std::int64_t keep);

  /// Writes a rank's part of a checkpoint that is being made. `key` is a word that all ranks use
  /// for it. throws: StorageError
  CheckpointPart write_part(const std::string& key, int rank, const TensorFile& content) const;
  /// The part that a rank has written for one checkpoint, for another one, too. throws: StorageError
  void share_part(const std::string& from_key, const std::string& key, int rank) const;
  /// All parts are there: it becomes the newest one. On one rank only. throws: StorageError
  void complete(const std::string& key, CheckpointManifest manifest) const;
  /// Removes the parts of a checkpoint that was given up.
  void discard(const std::string& key) const noexcept;
  /// Removes what killed processes have left half done. Only the holder of the run's lock may call
  /// it.
  void clean() const noexcept;

  /// Names of the complete checkpoints, the newest first. They may be damaged.
  std::vector<std::string> names() const;
  /// throws: DataError for one that is damaged or of another run
  CheckpointManifest manifest(const std::string& name) const;
  /// throws: DataError when it is cut off, changed or no checkpoint
  TensorFile part(const std::string& name, const CheckpointManifest& manifest, int rank) const;
  /// Renames a damaged checkpoint so that it no longer counts, when the run goes on from an older
  /// one.
  void set_aside(const std::string& name) const noexcept;

  const std::string& folder() const { return folder_; }

 private:
  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  void remove(const std::string& name) const noexcept;

  std::string folder_, run_;
  std::int64_t keep_;
};

}  // namespace sagips::record

#pragma once
#include <cstdint>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "sagips/env/outside/outside_events.hpp"

namespace sagips::env {

/// What a stage gave for a request, in a file: an interrupted command does not ask its simulators again.
/// Each entry has a checksum; one that was cut off is left out, with all that follows. Used by several
/// threads at a time.
class AnswerStore {
 public:
  /// throws: StorageError
  explicit AnswerStore(const std::string& path);

  /// float32, on the CPU
  std::optional<OutsideArrays> find(std::uint64_t key) const;
  /// Written before it returns, so that a killed process loses nothing. throws: StorageError
  void add(std::uint64_t key, const OutsideArrays& arrays);
  std::int64_t size() const;

 private:
  std::string path_;
  mutable std::mutex mutex_;
  std::map<std::uint64_t, std::uint64_t> places_;  ///< in the file, by key
  std::uint64_t end_ = 0;
  mutable std::fstream file_;
};

}  // namespace sagips::env

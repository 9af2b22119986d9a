#pragma once
#include <sys/stat.h>

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "sagips/core/file.hpp"
#include "sagips/core/npy_header.hpp"

namespace sagips::data {

/// The files that are open at a time, a bounded number of them however many a list names. Threads may
/// share it.
class OpenFiles {
 public:
  using File = std::shared_ptr<const core::Descriptor>;
  /// Opens a file, or finds it open still. throws: DataError
  File open(const std::string& path);

 private:
  std::mutex mutex_;
  std::list<std::pair<std::string, File>> latest_first_;
};

/// Where the rows of an array lie in a file behind each other, unpacked: .npy in C order, HDF5 that is
/// neither chunked nor packed, the idx format.
/// Nothing for files that have to be read as a whole: text, packed ones, chunks.
/// throws: DataError for a file that is none of its kind, or that ends too early
std::optional<core::NpyHeader> row_layout(const std::string& path, const std::string& hdf5_dataset);

/// An array of a file that is read row by row. Threads may share it.
class RowFile {
 public:
  RowFile(std::string path, core::NpyHeader layout, std::shared_ptr<OpenFiles> open);

  /// shape: to [count, numbers of a row]
  /// throws: DataError for a number that is not finite, and when the file has changed since this object
  ///         was made
  void read(std::int64_t first, std::int64_t count, float* to) const;

 private:
  void check_unchanged(int descriptor) const;

  std::string path_;
  core::NpyHeader layout_;
  std::int64_t row_numbers_ = 0, row_bytes_ = 0;
  std::shared_ptr<OpenFiles> open_;
  struct stat begun_ {};
};

/// throws: DataError that names the row, counted from 1. numbers: of whole rows, of which the first one
/// is first_row (from 0)
void check_finite(const std::string& path, std::int64_t first_row, std::int64_t row_numbers,
                  const float* numbers, std::int64_t count);

}  // namespace sagips::data

#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sagips/data/array_source.hpp"
#include "sagips/data/reading.hpp"
#include "sagips/data/table.hpp"
#include "sagips/data/torch.hpp"

namespace sagips::data {

/// The rows of an array over all its files. Threads may share it.
class ArrayRows {
 public:
  /// Looks into every file, on the first rank alone. What cannot be read by rows (text, packed files,
  /// chunked HDF5) is held in memory, or unpacked into the cache where it does not fit there.
  /// without: columns that are left out where `columns` is empty, since another array has them
  /// throws: DataError, ConfigError; collective
  ArrayRows(const ArraySource& source, const Reading& reading,
            const std::vector<std::string>& without = {});

  std::int64_t rows() const { return begins_.back(); }
  std::uint64_t bytes() const;  ///< of all rows in single precision
  const std::string& name() const { return files_.front(); }
  const std::string& file(std::size_t number) const { return files_.at(number); }
  /// The first row of each file, and the number of all.
  const std::vector<std::int64_t>& begins() const { return begins_; }
  /// The number of the file of each row. shape: [rows] int64
  torch::Tensor files_of_rows() const;
  /// What tells these files from others: sizes, layouts, first and last bytes.
  std::uint32_t fingerprint() const { return fingerprint_; }

  /// shape: numbers [n] int64 -> [n, ...] float32. throws: DataError for a row that is not finite, a
  /// file that has changed
  torch::Tensor read(const torch::Tensor& numbers) const;
  /// All rows where they are in memory as they are to be; else undefined.
  torch::Tensor held() const;

 private:
  struct Piece;   ///< of an array: one file's part of it
  struct Member;  ///< one of the arrays that make a row
  Member open(const std::string& dataset, const std::string& catalogue, const Reading& reading,
              const std::vector<std::string>& without);
  torch::Tensor whole(const std::string& path, const std::string& dataset,
                      const std::vector<std::string>& without) const;
  Piece unpacked(const std::string& path, const std::string& dataset, const Reading& reading,
                 const std::vector<std::string>& without) const;
  void check_names() const;
  void check_steps(const std::vector<Scatter>& scatters,
                   const std::vector<std::string>& without) const;

  ArraySource source_;
  std::vector<std::string> files_;
  std::vector<std::int64_t> begins_;  ///< first row of each file, and the number of all
  std::vector<std::shared_ptr<const Member>> members_;
  Reading::RowFunction function_;
  std::shared_ptr<FileCache> cache_;  ///< keeps the copies that are read from being removed
  std::uint32_t fingerprint_ = 0;
};

}  // namespace sagips::data

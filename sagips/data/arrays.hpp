#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sagips/core/config/config.hpp"
#include "sagips/data/file_cache.hpp"
#include "sagips/data/row_file.hpp"
#include "sagips/data/table.hpp"
#include "sagips/data/torch.hpp"

namespace sagips::data {

/// Rows of numbers in one or several files: .npy, .csv, .hdf5 or .h5, or the idx format of MNIST; .csv
/// and idx also packed by gzip.
struct ArraySource {
  std::vector<std::string> file{};  ///< also patterns (train_*.h5) and lists (.txt, a file a line)
  std::string hdf5_dataset{};       ///< or a group, whose arrays follow each other in a row
  std::vector<std::string> columns{};   ///< empty: all
  std::vector<std::int64_t> shape{};    ///< of a row; empty: as the file has it
  std::string select{};                 ///< of each of a row's dimensions, as NumPy writes it
  std::vector<std::int64_t> reorder{};  ///< of a row's dimensions, from 0
  std::optional<double> divide_by{};
  std::string script{};  ///< TorchScript function of rows

  void fields(core::FieldList& list);
  bool is_given() const { return !file.empty(); }
};

/// What the reading of files takes from the job around it.
struct Reading {
  using Text = std::function<std::string()>;
  using RowFunction = std::function<torch::Tensor(const torch::Tensor& rows)>;

  /// Runs a function on the first rank and gives all of them what it says. collective
  std::function<std::string(const Text&)> once = [](const Text& say) { return say(); };
  /// Makes room for a tensor.
  using Room =
      std::function<torch::Tensor(const std::vector<std::int64_t>& shape, torch::ScalarType type)>;
  /// Gives tensors, best in such room, which spares a copy; some may be undefined.
  using Make = std::function<std::vector<torch::Tensor>(const Room& room)>;
  /// Makes tensors on one rank of each node, in memory that all its ranks share: nobody writes there
  /// afterwards. collective
  std::function<std::vector<torch::Tensor>(const Make&)> once_a_node = [](const Make& make) {
    return make(
        [](const auto& shape, torch::ScalarType type) { return torch::empty(shape, type); });
  };
  /// Makes a function of a script of the user; threads may call it at a time.
  std::function<RowFunction(const std::string& path)> function{};
  /// Memory of a node that rows may take together; more are read from files again and again.
  std::uint64_t memory_bytes = std::uint64_t{4} << 30U;
  std::shared_ptr<FileCache> cache{};  ///< null: files are read where they are, whatever they take
  std::shared_ptr<OpenFiles> open = std::make_shared<OpenFiles>();
  /// What arrays have taken of that memory so far.
  std::shared_ptr<std::uint64_t> held_bytes = std::make_shared<std::uint64_t>(0);
  /// What the user should know of how rows are held: each a sentence.
  std::shared_ptr<std::vector<std::string>> warnings = std::make_shared<std::vector<std::string>>();
};

/// The files that such names stand for, in order, as the first rank finds them: patterns by name, lists
/// (of files and patterns) as they say.
/// throws: DataError for a pattern that fits no file, a list that cannot be read or is empty; collective
std::vector<std::string> files_named(const std::vector<std::string>& names, const Reading& reading);

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
  Piece unpacked(const std::string& path, const std::string& dataset, const Reading& reading,
                 const std::vector<std::string>& without) const;
  void check_names() const;
  void check_steps(const std::vector<Scatter>& scatters,
                   const std::vector<std::string>& without) const;
  torch::Tensor transformed(torch::Tensor rows) const;

  ArraySource source_;
  std::vector<std::string> files_;
  std::vector<std::int64_t> begins_;  ///< first row of each file, and the number of all
  std::vector<std::shared_ptr<const Member>> members_;
  Reading::RowFunction function_;
  std::shared_ptr<FileCache> cache_;  ///< keeps the copies that are read from being removed
  std::uint32_t fingerprint_ = 0;
};

}  // namespace sagips::data

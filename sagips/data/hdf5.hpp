#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sagips/core/npy_header.hpp"
#include "sagips/data/table.hpp"

namespace sagips::data {

/// A data set of any rank.
struct Hdf5Array {
  std::vector<std::size_t> shape;
  /// Where its rows lie in the file; empty: in chunks, packed or elsewhere, so that only
  /// `read_hdf5_rows` reads them.
  std::optional<core::NpyHeader> layout;
};

/// throws: as below
Hdf5Array hdf5_array(const std::string& path, const std::string& dataset);

/// Rows as single precision. shape: to [count, numbers of a row]; throws: as below
void read_hdf5_rows(const std::string& path, const std::string& dataset, std::size_t first,
                    std::size_t count, float* to);

/// The data sets below a group, in the order of their names; of a data set itself alone.
/// throws: as below, and for a group that holds none
std::vector<std::string> hdf5_members(const std::string& path, const std::string& name);

/// One data set of rank 1 or 2, [events] or [events, observables]; columns "0", "1", ...
/// rows: the share of the events that is read
/// throws: DataError for a foreign or broken file, for a data set that is not there (the message
///         lists those that are) or holds anything but whole or real numbers
Table read_hdf5_array(const std::string& path, const std::string& dataset,
                      const core::RowShare& rows = {});

/// One column a data set of rank 1, named "group/name" inside the file; all of the same length.
/// An empty `group` is the file's root. throws: as above
Table read_hdf5_columns(const std::string& path, const std::string& group,
                        const std::vector<NeededColumn>& needed, const core::RowShare& rows = {});

/// A data set that is written: its name, and its shape [rows, ...].
struct Hdf5Written {
  std::string name;
  std::vector<std::size_t> shape;
};

/// Writes data sets of the same rows in single precision, `at_once` rows at a time, so that more can be
/// written than memory holds. Written aside and renamed: a reader never sees half a file.
/// piece: the numbers of `count` rows from `first` on, of each data set
/// throws: StorageError where the file cannot be written, and what `piece` throws
void write_hdf5(const std::string& path, const std::vector<Hdf5Written>& datasets,
                std::size_t at_once,
                const std::function<std::vector<std::vector<float>>(std::size_t first,
                                                                    std::size_t count)>& piece);

}  // namespace sagips::data

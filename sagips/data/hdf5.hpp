#pragma once
#include <string>
#include <vector>

#include "sagips/data/table.hpp"

namespace sagips::data {

/// One data set of any rank. throws: as below
core::NpyArray read_hdf5(const std::string& path, const std::string& dataset);

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

}  // namespace sagips::data

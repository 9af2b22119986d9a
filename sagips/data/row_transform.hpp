#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sagips/data/array_source.hpp"
#include "sagips/data/reading.hpp"
#include "sagips/data/torch.hpp"

namespace sagips::data {

/// The shape of so many rows of one shape.
std::vector<std::int64_t> with_first(std::int64_t rows, std::vector<std::int64_t> row);

/// The places of the columns that a source names, or of all but `without`; empty: all of them.
/// names: of the file's columns; empty: they are numbered. row: its shape
/// throws: DataError for a column that there is not, rows that have none
std::vector<std::int64_t> chosen_columns(const ArraySource& source, const std::string& path,
                                         std::vector<std::string> names,
                                         const std::vector<std::int64_t>& row,
                                         const std::vector<std::string>& without);

/// Rows as a source wants them: their shape, what is kept of it, its order, divided, changed by `function`
/// where there is one. file: for messages. shape: [rows, ...] -> [rows, ...]. throws: DataError
torch::Tensor transformed(torch::Tensor rows, const ArraySource& source,
                          const Reading::RowFunction& function, const std::string& file);

}  // namespace sagips::data

#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sagips/core/npy.hpp"

namespace sagips::data {

/// A column that somebody asks for, and who: "columns", "weight_column", "cut 'pt1 > 20'".
struct NeededColumn {
  std::string name;
  std::string asked_by;
};

/// Numbers of a file, column by column.
struct Table {
  std::string file;
  std::vector<std::string> names;
  std::vector<std::vector<double>> columns;  ///< shape: [names][events]
  std::vector<std::size_t> rows;  ///< where each event stands: line of a text file, else from 1
  bool is_last = true;            ///< whether nothing of the file, or of this rank's share, follows
  bool numbered = false;          ///< the file gives no names: columns are "0", "1", ...
  std::map<std::string, std::string> labels;  ///< other names of columns, e.g. an observable's

  std::size_t events() const { return rows.size(); }
};

/// How a column's numbers scatter, beside the steps that single precision has there.
class Scatter {
 public:
  void add(double number) {
    if (count_++ == 0) origin_ = number;
    sum_ += number - origin_;
    squares_ += (number - origin_) * (number - origin_);
  }
  /// Where rounding would be seen, what is wrong and how to mend it, without a full stop.
  std::string problem(const std::string& column) const;

 private:
  std::int64_t count_ = 0;
  double origin_ = 0, sum_ = 0, squares_ = 0;
};

/// The place of a column in the table. throws: DataError that names the nearest column
std::size_t find_column(const Table& table, const NeededColumn& needed);

/// The error of a column that `names` does not hold.
[[noreturn]] void refuse_missing_column(const std::string& file, const NeededColumn& needed,
                                        const std::vector<std::string>& names);

/// throws: DataError with row and column of the first number that is nan or infinite
void check_finite(const Table& table, const NeededColumn& needed);

/// An array [events] or [events, observables] with columns "0", "1", ... ; other ranks: DataError.
Table table_of(const core::NpyArray& array, const std::string& file);

}  // namespace sagips::data

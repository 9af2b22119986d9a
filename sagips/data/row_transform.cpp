#include "sagips/data/row_transform.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/data/table.hpp"

namespace sagips::data {

using core::DataError;
using core::text;
using Shape = std::vector<std::int64_t>;

namespace {

// "0:3, 2:, -1": a range, or a number that takes the dimension away, of each dimension of a row.
torch::Tensor selected(torch::Tensor rows, const std::string& select, const std::string& file) {
  std::int64_t dimension = 1;
  for (const std::string& word : core::split(select, ',')) {
    const std::vector<std::string> ends = core::split(core::trim(word), ':');
    const bool is_range = ends.size() == 2;
    const auto number = [&](const std::string& end, std::int64_t otherwise) {
      const std::string digits = core::trim(end);
      std::int64_t value = otherwise;
      const auto [last, error] =
          std::from_chars(digits.data(), digits.data() + digits.size(), value);
      const bool is_whole = error == std::errc{} && last == digits.data() + digits.size();
      if (ends.size() > 2 || (digits.empty() ? !is_range : !is_whole))
        throw DataError(
            file, text("cannot be cut by 'select: ", core::excerpt(select),
                       "'. Write a range for each dimension of a row, such as ", "\"0:40, 3:\"."));
      return value;
    };
    const std::int64_t first = number(ends[0], 0);
    if (dimension >= rows.dim())
      throw DataError(file, text("has rows of ", rows.dim() - 1,
                                 " dimensions, fewer than 'select: ", core::excerpt(select),
                                 "' cuts. Leave some out."));
    const std::int64_t length = rows.size(dimension);
    const auto from_the_end = [&](std::int64_t end) { return end < 0 ? end + length : end; };
    std::int64_t begin = from_the_end(first);
    if (is_range) begin = std::max<std::int64_t>(0, begin);
    const std::int64_t end =
        is_range ? std::min(length, from_the_end(number(ends[1], length))) : begin + 1;
    if (begin < 0 || begin >= end || end > length)
      throw DataError(file, text("has ", length, " numbers in dimension ", dimension - 1,
                                 " of a row, and 'select: ", core::excerpt(select),
                                 "' leaves none of them. Change it."));
    rows = rows.slice(dimension, begin, end);
    if (is_range)
      ++dimension;
    else
      rows = rows.squeeze(dimension);
  }
  return rows;
}

torch::Tensor reordered(const torch::Tensor& rows, Shape order, const std::string& file) {
  Shape sorted = order, all(static_cast<std::size_t>(rows.dim() - 1));
  std::sort(sorted.begin(), sorted.end());
  std::iota(all.begin(), all.end(), 0);
  if (sorted != all)
    throw DataError(file, text("has rows of ", all.size(),
                               " dimensions, and 'reorder' does not name each of them once. "
                               "Change it."));
  for (std::int64_t& one : order) ++one;
  return rows.permute(with_first(0, order));
}

}  // namespace

Shape with_first(std::int64_t rows, Shape row) {
  row.insert(row.begin(), rows);
  return row;
}

std::vector<std::int64_t> chosen_columns(const ArraySource& source, const std::string& path,
                                         std::vector<std::string> names, const Shape& row,
                                         const std::vector<std::string>& without) {
  if (source.columns.empty() && without.empty()) return {};
  if (row.size() != 1)
    throw DataError(path, text("has ", row.size() + 1,
                               " dimensions, and only a table [rows, columns] has columns. Leave "
                               "'columns' out."));
  if (names.empty())
    for (std::int64_t i = 0; i < row[0]; ++i) names.push_back(text(i));
  const auto place = [&](const std::string& name) -> std::int64_t {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) refuse_missing_column(path, {name, "columns"}, names);
    return found - names.begin();
  };
  std::vector<std::int64_t> places;
  if (!source.columns.empty()) {
    std::transform(source.columns.begin(), source.columns.end(), std::back_inserter(places), place);
    return places;
  }
  for (const std::string& name : without) place(name);
  for (std::size_t i = 0; i < names.size(); ++i)
    if (std::find(without.begin(), without.end(), names[i]) == without.end())
      places.push_back(static_cast<std::int64_t>(i));
  if (places.empty())
    throw DataError(path, "has no columns but those of the targets. Give a file with inputs.");
  return places;
}

torch::Tensor transformed(torch::Tensor rows, const ArraySource& source,
                          const Reading::RowFunction& function, const std::string& file) {
  const std::int64_t count = rows.size(0);
  if (!source.shape.empty()) {
    const std::int64_t there = rows.numel() / std::max<std::int64_t>(1, count);
    if (c10::multiply_integers(source.shape) != there)
      throw DataError(file, text("a row has ", there, " numbers, and 'shape' makes ",
                                 c10::multiply_integers(source.shape), " of them. Change it."));
    rows = rows.reshape(with_first(count, source.shape));
  }
  if (!source.select.empty()) rows = selected(rows, source.select, file);
  if (!source.reorder.empty()) rows = reordered(rows, source.reorder, file);
  if (source.divide_by) rows = rows / *source.divide_by;
  if (function) rows = function(rows);
  if (rows.dim() == 0 || rows.size(0) != count)
    throw DataError(source.script, text("makes ", rows.dim() == 0 ? 0 : rows.size(0), " rows of ",
                                        count, ". It needs one for each."));
  rows = rows.contiguous();
  if (function && !torch::isfinite(rows).all().item<bool>())
    throw DataError(source.script, "makes NaN or infinity of rows. Correct it.");
  return rows;
}

}  // namespace sagips::data

#include "sagips/data/whole_file.hpp"

#include <zlib.h>

#include <algorithm>
#include <filesystem>

#include "sagips/core/csv.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/npy.hpp"
#include "sagips/core/text.hpp"
#include "sagips/data/hdf5.hpp"
#include "sagips/data/idx.hpp"
#include "sagips/data/table.hpp"

namespace sagips::data {

using core::DataError;
using core::text;

namespace {

torch::Tensor tensor_of(std::vector<double> values, const std::vector<std::size_t>& shape) {
  const std::vector<std::int64_t> sizes(shape.begin(), shape.end());
  return torch::from_blob(values.data(), sizes, torch::kFloat64).to(torch::kFloat32);
}

// Single precision must tell numbers of a column apart. A text has its refusals already.
WholeFile whole_of(std::vector<double> values, const std::vector<std::size_t>& shape,
                   std::vector<std::string> names = {}, std::vector<Refusal> refusals = {}) {
  const std::size_t width = shape.size() == 2 ? shape[1] : 1;
  if (shape.size() == 1 || shape.size() == 2) {
    refusals.resize(width);
    for (std::size_t i = 0; i < width; ++i) {
      if (!refusals[i].problem.empty()) continue;
      Scatter scatter;
      for (std::size_t place = i; place < values.size(); place += width) scatter.add(values[place]);
      const std::string problem = scatter.problem(names.empty() ? text(i) : names[i]);
      if (!problem.empty()) refusals[i].problem = problem + " all.";
    }
  }
  return {tensor_of(std::move(values), shape), std::move(names), std::move(refusals)};
}

// What a file holds, unpacked where gzip has packed it.
std::string content_of(const std::string& path) {
  if (!path.ends_with(".gz")) return core::read_file(path);
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
  if (!file) throw DataError(path, "cannot be read. Check the path and its permissions.");
  std::string content;
  std::vector<char> piece(std::size_t{1} << 20);
  for (;;) {
    const int count = gzread(file.get(), piece.data(), static_cast<unsigned>(piece.size()));
    content.append(piece.data(), static_cast<std::size_t>(std::max(0, count)));
    int status = Z_OK;
    gzerror(file.get(), &status);
    if (count < 0 || status == Z_BUF_ERROR)
      throw DataError(path, "is a broken or truncated gzip file. Copy it again.");
    if (count == 0) return content;
  }
}

// A first line without a number is one.
bool is_header(const std::vector<std::string>& cells) {
  double number = 0;
  return std::none_of(cells.begin(), cells.end(),
                      [&](const std::string& cell) { return core::parse_number(cell, number); });
}

WholeFile read_text(const std::string& path) {
  std::vector<std::string> names;
  std::vector<Refusal> refusals;
  std::vector<double> values;
  std::size_t width = 0, rows = 0;
  core::for_each_csv_row(content_of(path), path, [&](const auto& cells, std::size_t line) {
    double number = 0;
    const bool begins = width == 0;
    if (begins) {
      width = cells.size();
      refusals.resize(width);
    }
    if (begins && is_header(cells)) {
      for (const std::string& name : cells)
        if (std::count(cells.begin(), cells.end(), name) > 1)
          throw DataError(path, line,
                          text("two columns are called '", core::excerpt(name),
                               "'. Give each a name of its own."));
      names = cells;
      return;
    }
    if (cells.size() != width)
      throw DataError(path, line,
                      text("the row has ", cells.size(), cells.size() == 1 ? " cell" : " cells",
                           ", those before it ", width, ". Write the file again."));
    for (std::size_t i = 0; i < width; ++i) {
      const bool is_number = core::parse_number(cells[i], number);
      if (!is_number && refusals[i].problem.empty())
        refusals[i] = {line, text("'", core::excerpt(cells[i]), "' in column ", i,
                                  names.empty() ? "" : text(" ('", names[i], "')"),
                                  " is no number. Correct it, or choose other columns; "
                                  "classes are whole numbers from 0.")};
      values.push_back(is_number ? number : 0);
    }
    ++rows;
  });
  return whole_of(std::move(values), {rows, width}, std::move(names), std::move(refusals));
}

WholeFile read_idx(const std::string& path) {
  const std::string content = content_of(path);
  const core::NpyHeader layout = parse_idx_header(content, content.size(), path);
  const std::vector<std::int64_t> sizes(layout.shape.begin(), layout.shape.end());
  const torch::Tensor values = torch::empty(sizes);
  core::convert_numbers(layout, content.data() + layout.data_offset,
                        {values.data_ptr<float>(), layout.count});
  return {values, {}};
}

}  // namespace

FileFormat format_of(const std::string& path) {
  const std::string name = core::in_small_letters(path);
  if (name.ends_with(".npy")) return FileFormat::npy;
  if (name.ends_with(".csv") || name.ends_with(".csv.gz")) return FileFormat::csv;
  if (name.ends_with(".hdf5") || name.ends_with(".h5")) return FileFormat::hdf5;
  if ((name.ends_with(".pt") || name.ends_with(".pth")) && std::filesystem::exists(path))
    throw DataError(path,
                    "is PyTorch's. Write rows with numpy.save(\"rows.npy\", tensor.numpy()).");
  return name.ends_with(".gz") ? FileFormat::packed_idx : FileFormat::idx;
}

std::vector<std::string> column_names(const std::string& path) {
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
  if (!file) throw DataError(path, "cannot be read. Check the path and its permissions.");
  std::string line;  // zlib reads what is not packed as it is
  for (int letter = gzgetc(file.get()); letter >= 0 && letter != '\n'; letter = gzgetc(file.get()))
    line += static_cast<char>(letter);
  std::vector<std::string> names;
  core::for_each_csv_row(line, path, [&](const auto& cells, std::size_t) {
    if (is_header(cells)) names = cells;
  });
  return names;
}

std::vector<std::string> text_column(const std::string& path, const std::string& column) {
  std::vector<std::string> names, found;
  std::size_t place = 0;
  core::for_each_csv_row(content_of(path), path, [&](const auto& cells, std::size_t line) {
    if (names.empty()) {
      const bool has_names = is_header(cells);
      for (std::size_t i = 0; i < cells.size(); ++i)
        names.push_back(has_names ? cells[i] : text(i));
      place =
          static_cast<std::size_t>(std::find(names.begin(), names.end(), column) - names.begin());
      if (place == names.size()) refuse_missing_column(path, {column, "split_by"}, names);
      if (has_names) return;
    }
    if (place >= cells.size() || cells[place].empty())
      throw DataError(path, line, text("column '", column, "' is empty. Correct that row."));
    found.push_back(cells[place]);
  });
  return found;
}

WholeFile read_whole(const std::string& path, const std::string& hdf5_dataset) {
  switch (format_of(path)) {
    case FileFormat::csv:
      return read_text(path);
    case FileFormat::npy: {
      core::NpyArray array = core::read_npy(path);
      return whole_of(std::move(array.values), array.shape);
    }
    case FileFormat::hdf5: {
      const Hdf5Array array = hdf5_array(path, hdf5_dataset);
      const std::vector<std::int64_t> sizes(array.shape.begin(), array.shape.end());
      const torch::Tensor values = torch::empty(sizes);
      read_hdf5_rows(path, hdf5_dataset, 0, array.shape[0], values.data_ptr<float>());
      return {values, {}};
    }
    default:
      return read_idx(path);
  }
}

}  // namespace sagips::data

#include "sagips/data/arrays.hpp"

#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <numeric>

#include "sagips/core/csv.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/npy.hpp"
#include "sagips/core/text.hpp"
#include "sagips/data/hdf5.hpp"
#include "sagips/data/table.hpp"

namespace sagips::data {

using core::DataError;
using core::text;

namespace {

/// Numbers of a file before anything is chosen of them.
struct Numbers {
  torch::Tensor values;            ///< [rows, ...]
  std::vector<std::string> names;  ///< of the columns; empty: they are numbered
};

torch::Tensor tensor_of(std::vector<double> values, const std::vector<std::size_t>& shape) {
  const std::vector<std::int64_t> sizes(shape.begin(), shape.end());
  return torch::from_blob(values.data(), sizes, torch::kFloat64).to(torch::kFloat32);
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

// A first line without a number is a header.
Numbers read_text(const std::string& path) {
  Numbers numbers;
  std::vector<double> values;
  std::size_t width = 0, rows = 0;
  core::for_each_csv_row(content_of(path), path, [&](const auto& cells, std::size_t line) {
    double number = 0;
    const bool is_header =
        width == 0 && std::none_of(cells.begin(), cells.end(), [&](const std::string& cell) {
          return core::parse_number(cell, number);
        });
    if (width == 0) width = cells.size();
    if (is_header) {
      for (const std::string& name : cells)
        if (std::count(cells.begin(), cells.end(), name) > 1)
          throw DataError(path, line,
                          text("two columns are called '", core::excerpt(name),
                               "'. Give each a name of its own."));
      numbers.names = cells;
      return;
    }
    if (cells.size() != width)
      throw DataError(path, line,
                      text("the row has ", cells.size(), cells.size() == 1 ? " cell" : " cells",
                           ", those before it ", width, ". Write the file again."));
    for (std::size_t i = 0; i < width; ++i) {
      if (!core::parse_number(cells[i], number))
        throw DataError(
            path, line,
            text("'", core::excerpt(cells[i]), "' in column ", i, " is no number. Correct it."));
      values.push_back(number);
    }
    ++rows;
  });
  numbers.values = tensor_of(std::move(values), {rows, width});
  return numbers;
}

template <class T>
std::vector<double> big_endian(std::string_view bytes) {
  std::vector<double> values(bytes.size() / sizeof(T));
  for (std::size_t i = 0; i < values.size(); ++i) {
    char turned[sizeof(T)] = {};
    std::reverse_copy(bytes.data() + i * sizeof(T), bytes.data() + (i + 1) * sizeof(T), turned);
    T value;
    std::memcpy(&value, turned, sizeof(T));
    values[i] = static_cast<double>(value);
  }
  return values;
}

struct IdxType {
  unsigned char code;
  std::size_t bytes;
  std::vector<double> (*numbers)(std::string_view);
};
constexpr IdxType idx_types[] = {
    {0x08, 1, big_endian<std::uint8_t>}, {0x09, 1, big_endian<std::int8_t>},
    {0x0b, 2, big_endian<std::int16_t>}, {0x0c, 4, big_endian<std::int32_t>},
    {0x0d, 4, big_endian<float>},        {0x0e, 8, big_endian<double>}};

Numbers read_idx(const std::string& path) {
  const std::string content = content_of(path);
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(content[i]); };
  const bool begins_well = content.size() >= 4 && byte(0) == 0 && byte(1) == 0 && byte(3) > 0;
  const auto* const type =
      begins_well ? std::find_if(std::begin(idx_types), std::end(idx_types),
                                 [&](const IdxType& one) { return one.code == byte(2); })
                  : std::end(idx_types);
  const std::size_t header = begins_well ? 4 + 4 * std::size_t{byte(3)} : 4;
  if (type == std::end(idx_types) || content.size() < header)
    throw DataError(path, "is no idx file. Give a .npy, .csv, .hdf5, .h5 or idx file.");
  std::vector<std::size_t> shape;
  for (const double size :
       big_endian<std::uint32_t>(std::string_view(content).substr(4, header - 4)))
    shape.push_back(static_cast<std::size_t>(size));
  // sizes that a broken header multiplies to are compared as real numbers, which do not overflow
  double count = static_cast<double>(type->bytes);
  for (const std::size_t size : shape) count *= static_cast<double>(size);
  if (count != static_cast<double>(content.size() - header))
    throw DataError(path, text("announces ", core::round_trip(count), " bytes of numbers and has ",
                               content.size() - header, " (truncated?). Copy it again."));
  return {tensor_of(type->numbers(std::string_view(content).substr(header)), shape), {}};
}

Numbers read_numbers(const ArraySource& source) {
  std::string name = source.file;
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  if (name.ends_with(".npy")) {
    const core::NpyArray array = core::read_npy(source.file);
    return {tensor_of(array.values, array.shape), {}};
  }
  if (name.ends_with(".csv") || name.ends_with(".csv.gz")) return read_text(source.file);
  if (name.ends_with(".hdf5") || name.ends_with(".h5")) {
    const core::NpyArray array = read_hdf5(source.file, source.hdf5_dataset);
    return {tensor_of(array.values, array.shape), {}};
  }
  return read_idx(source.file);
}

// The places of these columns, by their names or numbers; all others where `columns` is empty.
std::vector<std::int64_t> chosen_columns(const ArraySource& source, const Numbers& numbers,
                                         const std::vector<std::string>& without) {
  std::vector<std::string> names = numbers.names;
  for (std::int64_t i = 0; numbers.names.empty() && i < numbers.values.size(1); ++i)
    names.push_back(text(i));
  const auto place = [&](const std::string& name) -> std::int64_t {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) refuse_missing_column(source.file, {name, "columns"}, names);
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
  return places;
}

torch::Tensor shaped(const ArraySource& source, const torch::Tensor& values) {
  if (source.shape.empty()) return values;
  std::vector<std::int64_t> sizes{values.size(0)};
  sizes.insert(sizes.end(), source.shape.begin(), source.shape.end());
  const std::int64_t wanted = std::accumulate(source.shape.begin(), source.shape.end(),
                                              std::int64_t{1}, std::multiplies<>());
  const std::int64_t there = values.size(0) == 0 ? wanted : values.numel() / values.size(0);
  if (wanted != there)
    throw DataError(source.file, text("a row has ", there, " numbers, and 'shape' makes ", wanted,
                                      " of them. Change it."));
  return values.reshape(sizes);
}

}  // namespace

void ArraySource::fields(core::FieldList& list) {
  list.add_path("file", file, ".npy, .csv, .hdf5, .h5 or idx; .csv.gz and idx .gz");
  list.add("hdf5_dataset", hdf5_dataset, "path of the array inside an HDF5 file");
  list.add(
      "columns", columns,
      "of a table: names of its header, else numbers from 0; empty: all that the targets leave");
  list.add("shape", shape, "lengths of a row's dimensions, [1, 28, 28]; empty: as in the file",
           core::Range::between(1, 1e9));
  list.add("divide_by", divide_by, "every number is divided by this, 255 for bytes of images",
           core::Range::positive());
}

torch::Tensor read_array(const ArraySource& source, const std::vector<std::string>& without) {
  const Numbers numbers = read_numbers(source);
  torch::Tensor values = numbers.values;
  if (values.dim() == 0 || values.size(0) == 0)
    throw DataError(source.file, "holds no rows. Give a file with some.");
  if (!source.columns.empty() || !without.empty()) {
    if (values.dim() != 2)
      throw DataError(source.file, text("has ", values.dim(),
                                        " dimensions, and only a table [rows, columns] has "
                                        "columns. Leave 'columns' out."));
    values = values.index_select(1, torch::tensor(chosen_columns(source, numbers, without)));
  }
  if (values.numel() == 0)
    throw DataError(source.file,
                    "has no columns but those of the targets. Give a file with inputs.");
  const torch::Tensor broken = torch::isfinite(values)
                                   .reshape({values.size(0), -1})
                                   .all(1)
                                   .logical_not()
                                   .nonzero()
                                   .flatten();
  if (broken.numel() > 0)
    throw DataError(source.file, text("row ", broken[0].item<std::int64_t>() + 1,
                                      " holds NaN or infinity. Correct or remove it."));
  return shaped(source, source.divide_by == 1 ? values : values / source.divide_by);
}

}  // namespace sagips::data

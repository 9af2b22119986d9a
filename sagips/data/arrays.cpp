#include "sagips/data/arrays.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <sstream>

#include "sagips/core/crc32c.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/npy.hpp"
#include "sagips/core/text.hpp"
#include "sagips/data/file_list.hpp"
#include "sagips/data/hdf5.hpp"
#include "sagips/data/row_file.hpp"
#include "sagips/data/row_transform.hpp"
#include "sagips/data/table.hpp"
#include "sagips/data/unpacked_copy.hpp"
#include "sagips/data/whole_file.hpp"

namespace sagips::data {

using core::DataError;
using core::text;
using Shape = std::vector<std::int64_t>;

namespace {

std::string written(const Shape& shape) {
  std::vector<std::string> lengths;
  for (const std::int64_t length : shape) lengths.push_back(text(length));
  return lengths.empty() ? "a single number" : core::join(lengths, " x ");
}

std::int64_t product(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

// The shape of a row, from that of all rows.
Shape without_first(const Shape& shape) { return {shape.begin() + 1, shape.end()}; }

// A layout as a line of words, and back.
std::string words_of(const std::optional<core::NpyHeader>& layout) {
  if (!layout) return "-";
  std::string words = text(layout->kind, ' ', layout->item_bytes, ' ', layout->big_endian, ' ',
                           layout->data_offset, ' ', layout->count);
  for (const std::size_t size : layout->shape) words += text(' ', size);
  return words;
}

std::optional<core::NpyHeader> layout_of(const std::string& words) {
  std::istringstream in(words);
  core::NpyHeader layout{};
  if (!(in >> layout.kind) || layout.kind == '-') return std::nullopt;
  in >> layout.item_bytes >> layout.big_endian >> layout.data_offset >> layout.count;
  for (std::size_t size = 0; in >> size;) layout.shape.push_back(size);
  return layout;
}

// Size, and bytes from all over the file.
std::uint32_t fingerprint_of(const std::string& path) {
  constexpr std::int64_t places = 16, most = 4096;
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const std::int64_t size = file.tellg();
  std::uint32_t sum = core::crc32c(text(size));
  for (std::int64_t i = 0; i < places; ++i) {
    std::string bytes(most, '\0');
    file.seekg(std::max<std::int64_t>(0, size - most) / (places - 1) * i);
    file.read(bytes.data(), most);
    sum = core::crc32c(bytes, sum);
    file.clear();
  }
  return sum;
}

// Adds rows from all over a table in double precision, which is read as single.
void add_some(std::vector<Scatter>& scatters, const std::string& path, const std::string& dataset,
              const std::optional<core::NpyHeader>& layout) {
  constexpr std::size_t places = 8, most = std::size_t{1} << 16;
  if (layout && (layout->item_bytes <= 2 || (layout->kind == 'f' && layout->item_bytes == 4)))
    return;
  const bool is_hdf5 = format_of(path) == FileFormat::hdf5;
  if (!is_hdf5 && (!layout || format_of(path) != FileFormat::npy)) return;
  const std::vector<std::size_t> shape = layout ? layout->shape : hdf5_array(path, dataset).shape;
  if (shape.empty() || shape.size() > 2) return;
  const std::size_t width = shape.size() == 2 ? std::max<std::size_t>(1, shape[1]) : 1;
  const std::size_t rows = std::max<std::size_t>(1, std::min(shape[0] / places, most / width));
  for (std::size_t place = 0; place < places; ++place) {
    const core::RowShare share{.skip = shape[0] / places * place, .most = rows};
    const Table some = is_hdf5 ? read_hdf5_array(path, dataset, share)
                               : table_of(core::read_npy(path, share), path);
    scatters.resize(std::max(scatters.size(), some.columns.size()));
    for (std::size_t i = 0; i < some.columns.size(); ++i)
      for (const double number : some.columns[i]) scatters[i].add(number);
  }
}

// What a file that is no HDF5 may take, whose shape is known once it is read, which a copy that is there
// spares.
std::uint64_t guessed_bytes(const std::string& path, std::uint64_t size) {
  constexpr std::uint64_t usual_packing = 8;
  return size * (path.ends_with(".gz") ? usual_packing : std::uint64_t{1});
}

// What tells a copy in the cache from others: chosen: of the file's content.
std::string name_of_copy(const std::string& path, std::uint64_t size, const std::string& chosen) {
  return text(std::filesystem::absolute(path).string(), '\n', size, '\n',
              std::filesystem::last_write_time(path).time_since_epoch().count(), '\n', chosen,
              "\n.npy");
}

}  // namespace

struct ArrayRows::Piece {
  Shape shape;  ///< [rows, ...], as it is read
  std::optional<RowFile> file{};
  torch::Tensor held{};
  std::vector<std::int64_t> columns{};  ///< that are kept of a file's; empty: all

  void read(std::int64_t first, std::int64_t count, torch::Tensor to) const {
    if (held.defined()) {
      to.copy_(held.narrow(0, first, count));
    } else if (columns.empty()) {
      file->read(first, count, to.data_ptr<float>());
    } else {
      const torch::Tensor table = torch::empty({count, shape[1]});
      file->read(first, count, table.data_ptr<float>());
      torch::index_select_out(to, table, 1, torch::tensor(columns));
    }
  }
};

struct ArrayRows::Member {
  std::vector<Piece> pieces;
  Shape row;  ///< of each piece, once columns are chosen
};

ArrayRows::ArrayRows(const ArraySource& source, const Reading& reading,
                     const std::vector<std::string>& without)
    : source_(source), files_(files_named(source.file, reading)), cache_(reading.cache) {
  if (!source.script.empty()) {
    function_ = reading.function(source.script);
    const bool is_file = std::filesystem::is_regular_file(source.script);
    fingerprint_ = core::crc32c(is_file ? core::read_file(source.script) : source.script);
  }
  for (std::string& file : files_) {
    if (core::is_remote(file) && cache_ && cache_->copies()) file = cache_->copied(file);
    if (core::is_remote(file))
      throw DataError(file, "is on another machine. Say in data.cache.copy how it is copied.");
  }
  std::vector<std::string> datasets{source.hdf5_dataset};
  if (format_of(files_[0]) == FileFormat::hdf5 && !source.hdf5_dataset.empty())
    datasets = core::split(reading.once([&] {
      return core::join(hdf5_members(files_[0], source.hdf5_dataset), "\n");
    }),
                           '\n');
  check_names();
  for (const std::string& dataset : datasets) {
    const std::string catalogue = reading.once([&] {
      std::string lines;
      std::vector<Scatter> scatters;
      for (const std::string& file : files_) {
        const std::optional<core::NpyHeader> layout = row_layout(file, dataset);
        lines += text(fingerprint_of(file), ' ', words_of(layout), '\n');
        add_some(scatters, file, dataset, layout);
      }
      check_steps(scatters, without);
      return lines;
    });
    fingerprint_ = core::crc32c(catalogue, fingerprint_);
    members_.push_back(std::make_shared<const Member>(open(dataset, catalogue, reading, without)));
  }
}

void ArrayRows::check_steps(const std::vector<Scatter>& scatters,
                            const std::vector<std::string>& without) const {
  if (scatters.empty()) return;
  const auto width = static_cast<std::int64_t>(scatters.size());
  Shape columns = chosen_columns(source_, files_[0], {}, {width}, without);
  if (columns.empty()) {
    columns.resize(scatters.size());
    std::iota(columns.begin(), columns.end(), 0);
  }
  for (const std::int64_t i : columns)
    if (const std::string problem = scatters[static_cast<std::size_t>(i)].problem(text(i));
        !problem.empty())
      throw DataError(files_[0], problem + " all.");
}

// Columns that nobody names must be the same in every file.
void ArrayRows::check_names() const {
  if (!source_.columns.empty() || files_.size() < 2 || format_of(files_[0]) != FileFormat::csv)
    return;
  const std::vector<std::string> names = column_names(files_[0]);
  for (const std::string& file : files_)
    if (format_of(file) == FileFormat::csv && column_names(file) != names)
      throw DataError(file, text("has other columns than ", files_[0],
                                 ", or in another order. Name those to take in 'columns'."));
}

ArrayRows::Member ArrayRows::open(const std::string& dataset, const std::string& catalogue,
                                  const Reading& reading, const std::vector<std::string>& without) {
  Member member;
  const std::vector<std::string> lines = core::split(catalogue, '\n');
  std::vector<std::int64_t> begins{0};
  for (std::size_t i = 0; i < files_.size(); ++i) {
    const std::string& path = files_[i];
    Piece piece;
    if (const auto layout = layout_of(lines.at(i).substr(lines[i].find(' ') + 1))) {
      piece.shape.assign(layout->shape.begin(), layout->shape.end());
      piece.columns = chosen_columns(source_, path, {}, without_first(piece.shape), without);
      piece.file.emplace(path, *layout, reading.open);
    } else {
      piece = unpacked(path, dataset, reading, without);
    }
    if (product(piece.shape) == 0) throw DataError(path, "holds no rows. Give a file with some.");
    Shape row = without_first(piece.shape);
    if (!piece.columns.empty()) row = {static_cast<std::int64_t>(piece.columns.size())};
    if (i == 0) member.row = row;
    if (row != member.row)
      throw DataError(path, text("has rows of ", written(row), ", ", files_[0], " of ",
                                 written(member.row), ". All files of a list need rows alike."));
    begins.push_back(begins.back() + piece.shape[0]);
    member.pieces.push_back(std::move(piece));
  }
  if (begins_.empty()) begins_ = begins;
  for (std::size_t i = 0; i < files_.size(); ++i)
    if (begins[i + 1] - begins[i] != begins_[i + 1] - begins_[i])
      throw DataError(files_[i], text("has ", begins[i + 1] - begins[i], " rows of '", dataset,
                                      "', and of the group's first array ",
                                      begins_[i + 1] - begins_[i], ". Write it again."));
  return member;
}

// Chosen columns are taken at once, as a copy in the cache has no names.
torch::Tensor ArrayRows::whole(const std::string& path, const std::string& dataset,
                               const std::vector<std::string>& without) const {
  const WholeFile whole = read_whole(path, dataset);
  torch::Tensor values = whole.values;
  if (values.dim() == 0) throw DataError(path, "holds no rows. Give a file with some.");
  const Shape row = without_first(values.sizes().vec());
  const auto columns = chosen_columns(source_, path, whole.names, row, without);
  for (std::size_t i = 0; i < whole.refusals.size(); ++i) {
    const auto& [line, problem] = whole.refusals[i];
    const auto place = static_cast<std::int64_t>(i);
    if (problem.empty() ||
        (!columns.empty() && std::find(columns.begin(), columns.end(), place) == columns.end()))
      continue;
    if (line == 0) throw DataError(path, problem);
    throw DataError(path, line, problem);
  }
  if (!columns.empty()) values = values.index_select(1, torch::tensor(columns));
  if (values.numel() > 0)
    check_finite(path, 0, values.numel() / values.size(0), values.data_ptr<float>(),
                 values.numel());
  return values;
}

ArrayRows::Piece ArrayRows::unpacked(const std::string& path, const std::string& dataset,
                                     const Reading& reading,
                                     const std::vector<std::string>& without) const {
  const bool is_hdf5 = format_of(path) == FileFormat::hdf5;
  const auto fits = [&](std::uint64_t bytes) {
    return !reading.cache || *reading.held_bytes + bytes <= reading.memory_bytes;
  };
  const auto sizes = is_hdf5 ? hdf5_array(path, dataset).shape : std::vector<std::size_t>();
  const Shape shape(sizes.begin(), sizes.end());
  const std::uint64_t bytes = sizeof(float) * static_cast<std::uint64_t>(product(shape));
  std::error_code missing;  // which reading it says
  const std::uint64_t size = std::filesystem::file_size(path, missing);
  torch::Tensor values;  // of the rank that reads, where they do not fit
  if (fits(is_hdf5 ? bytes : missing ? 0 : guessed_bytes(path, size))) {
    const torch::Tensor held = reading.once_a_node([&](const Reading::Room&) {
      values = whole(path, dataset, without);
      return std::vector{fits(values.nbytes()) ? values : torch::Tensor()};
    })[0];
    if (held.defined()) {
      *reading.held_bytes += held.nbytes();
      return {.shape = held.sizes().vec(), .held = held};
    }
  }
  const auto write = [&](const std::string& copy) {
    if (is_hdf5) return unpack_hdf5(path, dataset, shape, copy);
    write_copy(values.defined() ? values : whole(path, dataset, without), copy);
  };
  const std::string columns =
      is_hdf5 ? "\n" : text(core::join(source_.columns, ","), '\n', core::join(without, ","));
  const std::string name = name_of_copy(path, size, text(dataset, '\n', columns));
  const std::uint64_t known = is_hdf5 ? bytes : values.defined() ? values.nbytes() : 0;
  const std::string copy = reading.cache->made(name, known > 0 ? known + 128 : 0, write);
  const core::NpyHeader layout = core::read_npy_header(copy);
  Piece piece{.shape = {layout.shape.begin(), layout.shape.end()}};
  if (is_hdf5)
    piece.columns = chosen_columns(source_, path, {}, without_first(piece.shape), without);
  piece.file.emplace(copy, layout, reading.open);
  return piece;
}

std::uint64_t ArrayRows::bytes() const {
  std::int64_t numbers = 0;
  for (const auto& member : members_) numbers += product(member->row);
  return sizeof(float) * static_cast<std::uint64_t>(rows() * numbers);
}

torch::Tensor ArrayRows::files_of_rows() const {
  torch::Tensor numbers = torch::empty({rows()}, torch::kInt64);
  for (std::size_t i = 0; i + 1 < begins_.size(); ++i)
    numbers.slice(0, begins_[i], begins_[i + 1]).fill_(static_cast<std::int64_t>(i));
  return numbers;
}

// Neighbours are read together.
torch::Tensor ArrayRows::read(const torch::Tensor& numbers) const {
  const std::int64_t count = numbers.size(0);
  if (count == 0) return read(torch::zeros({1}, torch::kInt64)).narrow(0, 0, 0);  // for its shape
  const std::int64_t* const number = numbers.const_data_ptr<std::int64_t>();
  std::vector<torch::Tensor> arrays;
  for (const auto& member : members_) {
    const torch::Tensor rows = torch::empty(with_first(count, member->row));
    for (std::int64_t i = 0, run = 1; i < count; i += run) {
      const auto next = std::upper_bound(begins_.begin(), begins_.end(), number[i]);
      for (run = 1;
           i + run < count && number[i + run] == number[i] + run && number[i + run] < *next;)
        ++run;
      const Piece& piece = member->pieces[static_cast<std::size_t>(next - begins_.begin() - 1)];
      piece.read(number[i] - *(next - 1), run, rows.narrow(0, i, run));
    }
    arrays.push_back(members_.size() > 1 ? rows.reshape({count, product(member->row)}) : rows);
  }
  return transformed(arrays.size() == 1 ? arrays[0] : torch::cat(arrays, 1), source_, function_,
                     name());
}

torch::Tensor ArrayRows::held() const {
  const bool is_whole = members_.size() == 1 && members_[0]->pieces.size() == 1 &&
                        source_.select.empty() && source_.reorder.empty() && !source_.divide_by &&
                        !function_;
  const torch::Tensor& rows = is_whole ? members_[0]->pieces[0].held : torch::Tensor();
  return rows.defined() ? transformed(rows, source_, function_, name()) : rows;
}

}  // namespace sagips::data

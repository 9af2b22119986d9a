#include "sagips/data/arrays.hpp"

#include <fcntl.h>
#include <glob.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <sstream>

#include "sagips/core/config/effects.hpp"
#include "sagips/core/crc32c.hpp"
#include "sagips/core/csv.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/npy.hpp"
#include "sagips/core/text.hpp"
#include "sagips/data/hdf5.hpp"
#include "sagips/data/row_file.hpp"
#include "sagips/data/table.hpp"
#include "sagips/data/whole_file.hpp"

namespace sagips::data {

using core::DataError;
using core::text;
using Shape = std::vector<std::int64_t>;

namespace {

constexpr std::int64_t bytes_at_once = std::int64_t{1} << 26;  // of rows that are read together

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

// And back.
Shape with_first(std::int64_t rows, Shape shape) {
  shape.insert(shape.begin(), rows);
  return shape;
}

std::vector<std::string> matching(const std::string& pattern) {
  glob_t found{};
  const int status = glob(pattern.c_str(), 0, nullptr, &found);
  std::vector<std::string> names(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  globfree(&found);
  if (status != 0 || names.empty())
    throw DataError(pattern, "fits no file. Check the pattern and the folder.");
  return names;
}

std::vector<std::string> listed(const std::string& list) {
  const std::string folder = std::filesystem::path(list).parent_path().string();
  std::vector<std::string> names;
  const std::string content(core::without_byte_order_mark(core::read_file(list)));
  for (const std::string& line : core::split(content, '\n'))
    if (const std::string name = core::trim(line); !name.empty() && name.front() != '#')
      names.push_back(core::path_from(folder, name));
  if (names.empty()) throw DataError(list, "names no file. Write one a line.");
  return names;
}

std::vector<std::string> looked_up(const std::vector<std::string>& names) {
  std::vector<std::string> files;
  const auto add = [&](const std::string& name) {
    const bool is_pattern = name.find_first_of("*?[") != std::string::npos &&
                            !core::is_remote(name) && !std::filesystem::exists(name);
    const std::vector<std::string> found = is_pattern ? matching(name) : std::vector{name};
    files.insert(files.end(), found.begin(), found.end());
  };
  for (const std::string& name : names)
    for (const std::string& one : name.ends_with(".txt") ? listed(name) : std::vector{name})
      add(one);
  return files;
}

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

// A .npy file in the cache, some numbers at a time. It is written where the cache looks for what was
// left half written, and core::write_npy would put it aside first.
class CopyInCache {
 public:
  CopyInCache(const std::string& path, const Shape& shape)
      : path_(path), file_(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) {
    check(file_.number() >= 0 &&
          core::write_all(file_.number(),
                          core::npy_header_bytes({shape.begin(), shape.end()}, "<f4")));
  }
  void add(const float* numbers, std::int64_t count) {
    check(core::write_all(file_.number(), {reinterpret_cast<const char*>(numbers),
                                           static_cast<std::size_t>(count) * sizeof(float)}));
  }
  void finish() { check(::fsync(file_.number()) == 0 && file_.close()); }

 private:
  void check(bool is_done) const {
    if (!is_done)
      throw core::StorageError(path_, text("cannot be written (", std::strerror(errno),
                                           "). Look at data.cache.folder."));
  }

  std::string path_;
  core::Descriptor file_;
};

// A data set that keeps its rows in chunks, some of them at a time.
void unpack_hdf5(const std::string& path, const std::string& dataset, const Shape& shape,
                 const std::string& copy) {
  CopyInCache out(copy, shape);
  const std::int64_t row = std::max<std::int64_t>(1, product(without_first(shape)));
  const std::int64_t at_once = std::max<std::int64_t>(1, bytes_at_once / (4 * row));
  std::vector<float> numbers;
  for (std::int64_t first = 0; first < shape[0]; first += at_once) {
    const std::int64_t count = std::min(at_once, shape[0] - first);
    numbers.resize(static_cast<std::size_t>(count * row));
    read_hdf5_rows(path, dataset, static_cast<std::size_t>(first), static_cast<std::size_t>(count),
                   numbers.data());
    check_finite(path, first, row, numbers.data(), count * row);
    out.add(numbers.data(), count * row);
  }
  out.finish();
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

// The places of these columns, by their names or numbers; all others where `columns` is empty.
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

std::vector<std::string> files_named(const std::vector<std::string>& names,
                                     const Reading& reading) {
  const std::string end(1, '\0');  // which no name holds
  return core::split(reading.once([&] { return core::join(looked_up(names), end); }), end[0]);
}

void ArraySource::fields(core::FieldList& list) {
  list.add_paths("file", file,
                 ".npy, .csv, .hdf5, .h5 or idx; .csv.gz and idx .gz; several: a list, a pattern "
                 "(train_*.h5), or a .txt with a file a line");
  list.add("hdf5_dataset", hdf5_dataset,
           "path of the array inside an HDF5 file, or of a group: its arrays follow each other in "
           "a row, by name");
  list.add(
      "columns", columns,
      "of a table: names of its header, else numbers from 0; empty: all that the targets leave");
  list.add("shape", shape, "lengths of a row's dimensions, [1, 28, 28]; empty: as in the file",
           core::Range::between(1, 1e9));
  list.add("select", select,
           "what is kept of each dimension of a row, as NumPy writes it: \"0:40, 3:\"; empty: all");
  list.add("reorder", reorder, "a row's dimensions in another order, from 0: [1, 0]",
           core::Range::between(0, 31));
  list.add("divide_by", divide_by,
           "every number is divided by this, 255 for bytes of images; null: by nothing, or as the "
           "other rows are",
           core::Range::positive());
  list.add_path("script", script,
                "TorchScript module that makes other rows of them, [rows, ...] to [rows, ...]");
  core::needs(list, is_given(), "a file",
              {"hdf5_dataset", "columns", "shape", "select", "reorder", "divide_by", "script"});
  const auto may_be_hdf5 = [](const std::string& name) {  // lists and patterns may name anything
    return name.ends_with(".txt") || name.find_first_of("*?[") != std::string::npos ||
           format_of(name) == FileFormat::hdf5;
  };
  core::needs(list, std::any_of(file.begin(), file.end(), may_be_hdf5), "an HDF5 file",
              {"hdf5_dataset"});
}

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
    fingerprint_ = core::crc32c(core::read_file(source.script));
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
ArrayRows::Piece ArrayRows::unpacked(const std::string& path, const std::string& dataset,
                                     const Reading& reading,
                                     const std::vector<std::string>& without) const {
  const bool is_hdf5 = format_of(path) == FileFormat::hdf5;
  const auto fits = [&](std::uint64_t bytes) {
    return !reading.cache || *reading.held_bytes + bytes <= reading.memory_bytes;
  };
  const auto bytes_of = [](const Shape& shape) {
    return sizeof(float) * static_cast<std::uint64_t>(product(shape));
  };
  const auto read = [&] {
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
  };
  Shape shape;
  if (is_hdf5) {
    const Hdf5Array array = hdf5_array(path, dataset);
    shape.assign(array.shape.begin(), array.shape.end());
  }
  // of other files the shape is known once they are read, which a copy that is there spares
  constexpr std::uint64_t usual_packing = 8;
  std::error_code missing;  // which reading it says
  const std::uint64_t size = std::filesystem::file_size(path, missing);
  const std::uint64_t guess =
      missing ? 0 : size * (path.ends_with(".gz") ? usual_packing : std::uint64_t{1});
  torch::Tensor values;  // of the rank that reads, where they do not fit
  if (fits(is_hdf5 ? bytes_of(shape) : guess)) {
    const torch::Tensor held = reading.once_a_node([&](const Reading::Room&) {
      values = read();
      return std::vector{fits(values.nbytes()) ? values : torch::Tensor()};
    })[0];
    if (held.defined()) {
      *reading.held_bytes += held.nbytes();
      return {.shape = held.sizes().vec(), .held = held};
    }
    if (values.defined()) shape = values.sizes().vec();
  }
  const auto write = [&](const std::string& copy) {
    if (is_hdf5) return unpack_hdf5(path, dataset, shape, copy);
    if (!values.defined()) values = read();
    CopyInCache out(copy, values.sizes().vec());
    out.add(values.data_ptr<float>(), values.numel());
    out.finish();
  };
  const std::string name =
      text(std::filesystem::absolute(path).string(), '\n', size, '\n',
           std::filesystem::last_write_time(path).time_since_epoch().count(), '\n', dataset, '\n',
           is_hdf5 ? "" : core::join(source_.columns, ","), '\n',
           is_hdf5 ? "" : core::join(without, ","), "\n.npy");
  const std::string copy =
      reading.cache->made(name, shape.empty() ? 0 : bytes_of(shape) + 128, write);
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
  return transformed(arrays.size() == 1 ? arrays[0] : torch::cat(arrays, 1));
}

torch::Tensor ArrayRows::transformed(torch::Tensor rows) const {
  const std::int64_t count = rows.size(0);
  if (!source_.shape.empty()) {
    const std::int64_t there = product(without_first(rows.sizes().vec()));
    if (product(source_.shape) != there)
      throw DataError(name(), text("a row has ", there, " numbers, and 'shape' makes ",
                                   product(source_.shape), " of them. Change it."));
    rows = rows.reshape(with_first(count, source_.shape));
  }
  if (!source_.select.empty()) rows = selected(rows, source_.select, name());
  if (!source_.reorder.empty()) rows = reordered(rows, source_.reorder, name());
  if (source_.divide_by) rows = rows / *source_.divide_by;
  if (function_) rows = function_(rows);
  if (rows.dim() == 0 || rows.size(0) != count)
    throw DataError(source_.script, text("makes ", rows.dim() == 0 ? 0 : rows.size(0), " rows of ",
                                         count, ". It needs one for each."));
  rows = rows.contiguous();
  if (function_ && !torch::isfinite(rows).all().item<bool>())
    throw DataError(source_.script, "makes NaN or infinity of rows. Correct it.");
  return rows;
}

torch::Tensor ArrayRows::held() const {
  const bool is_whole = members_.size() == 1 && members_[0]->pieces.size() == 1 &&
                        source_.select.empty() && source_.reorder.empty() && !source_.divide_by &&
                        !function_;
  const torch::Tensor& rows = is_whole ? members_[0]->pieces[0].held : torch::Tensor();
  return rows.defined() ? transformed(rows) : rows;
}

}  // namespace sagips::data

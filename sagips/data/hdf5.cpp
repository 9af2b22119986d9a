#include "sagips/data/hdf5.hpp"

#include <fcntl.h>
#include <hdf5.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <functional>
#include <numeric>
#include <utility>

#include "sagips/core/config/config.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"

namespace sagips::data {
namespace {

using core::DataError;
using core::text;

/// HDF5 prints every error on standard error; ours are exceptions with one line.
class QuietErrors {
 public:
  QuietErrors() {
    H5Eget_auto2(H5E_DEFAULT, &function_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  QuietErrors(const QuietErrors&) = delete;
  QuietErrors& operator=(const QuietErrors&) = delete;
  ~QuietErrors() { H5Eset_auto2(H5E_DEFAULT, function_, data_); }

 private:
  H5E_auto2_t function_ = nullptr;
  void* data_ = nullptr;
};

/// An open HDF5 object; each kind has a closing function of its own.
class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle& operator=(Handle&&) = delete;
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  hid_t id() const { return id_; }
  explicit operator bool() const { return id_ >= 0; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

void check_can_open(const std::string& path) {
  if (core::Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC)).number() < 0)
    throw DataError(path, text("cannot be read (", std::strerror(errno),
                               "). Check the path and its permissions."));
}

// The library asks for a lock as well, and says no more than that a file cannot be opened.
void check_not_locked(const std::string& path) {
  const core::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (flock(file.number(), LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
  throw DataError(path,
                  "is locked by a program that has it open for writing. Wait until that has ended; "
                  "if it no longer writes, set HDF5_USE_FILE_LOCKING=FALSE in the environment.");
}

Handle open_file(const std::string& path) {
  check_can_open(path);
  Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  if (file) return file;
  check_not_locked(path);
  if (H5Fis_hdf5(path.c_str()) <= 0)
    throw DataError(path, "is not an HDF5 file. Write it again, or name it after its format.");
  throw DataError(path, "is a broken or truncated HDF5 file. Copy it again.");
}

struct Listing {
  hid_t file;
  std::vector<std::string> datasets;
};

herr_t note_dataset(hid_t, const char* name, const H5L_info_t*, void* listing_pointer) {
  auto& listing = *static_cast<Listing*>(listing_pointer);
  const Handle object(H5Oopen(listing.file, name, H5P_DEFAULT), H5Oclose);
  if (object && H5Iget_type(object.id()) == H5I_DATASET) listing.datasets.emplace_back(name);
  return 0;
}

std::vector<std::string> datasets_in(const Handle& file) {
  Listing listing{file.id(), {}};
  H5Lvisit(file.id(), H5_INDEX_NAME, H5_ITER_INC, note_dataset, &listing);
  std::sort(listing.datasets.begin(), listing.datasets.end());
  return listing.datasets;
}

[[noreturn]] void refuse_missing_dataset(const std::string& path, const Handle& file,
                                         const std::string& dataset) {
  const std::vector<std::string> there = datasets_in(file);
  const std::string known =
      there.empty() ? "it holds none" : "it holds: " + core::join(there, ", ");
  throw DataError(path, dataset.empty()
                            ? text("needs the name of a data set (", known,
                                   "). Set 'hdf5_dataset' to one of them.")
                            : text("has no data set '", dataset, "' (", known,
                                   "). Set 'hdf5_dataset' or 'columns' to what is there."));
}

// A name that HDF5 gives in a buffer of the caller's.
std::string name_from(const std::function<ssize_t(char*, std::size_t)>& give) {
  const ssize_t size = give(nullptr, 0);
  std::string name(static_cast<std::size_t>(std::max<ssize_t>(0, size)), '\0');
  give(name.data(), name.size() + 1);
  return name;
}

// A part that another file holds; names are relative to the file that names them, or to where the run began.
void check_part(const std::string& path, const std::string& dataset, const std::string& part,
                const std::string& object) {
  const std::string beside =
      core::path_from(std::filesystem::path(path).parent_path().string(), part);
  for (const std::string& place : {beside, part}) {
    if (!std::filesystem::exists(place)) continue;
    const Handle file = open_file(place);
    if (H5Oexists_by_name(file.id(), object.c_str(), H5P_DEFAULT) > 0) return;
    throw DataError(path, text("takes '", dataset, "' from ", place, ", which has no data set '",
                               object, "' any more. Write either again."));
  }
  throw DataError(path, text("takes '", dataset, "' from ", beside,
                             ", which is not there. Bring it back, or write this one again."));
}

// Where a part is lost, a virtual data set would read as fill values.
void check_virtual_parts(const std::string& path, const std::string& dataset, hid_t creation) {
  std::size_t count = 0;
  H5Pget_virtual_count(creation, &count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string part = name_from(
        [&](char* to, std::size_t size) { return H5Pget_virtual_filename(creation, i, to, size); });
    const std::string object = name_from(
        [&](char* to, std::size_t size) { return H5Pget_virtual_dsetname(creation, i, to, size); });
    // "%b" stands for numbers of files that may still come
    if (part != "." && part.find('%') == std::string::npos && object.find('%') == std::string::npos)
      check_part(path, dataset, part, object);
  }
}

// A link on the way to a data set that leads to another file.
void check_links(const std::string& path, const Handle& file, const std::string& dataset) {
  for (std::size_t end = dataset.find('/', 1);; end = dataset.find('/', end + 1)) {
    const std::string name = dataset.substr(0, end);
    H5L_info_t link{};
    if (H5Lget_info(file.id(), name.c_str(), &link, H5P_DEFAULT) < 0) return;
    if (link.type == H5L_TYPE_EXTERNAL) {
      std::string value(link.u.val_size, '\0');
      const char *part = nullptr, *object = nullptr;
      if (H5Lget_val(file.id(), name.c_str(), value.data(), value.size(), H5P_DEFAULT) >= 0 &&
          H5Lunpack_elink_val(value.data(), value.size(), nullptr, &part, &object) >= 0)
        return check_part(path, name, part, object);
    }
    if (end == std::string::npos) return;
  }
}

Handle open_dataset(const std::string& path, const Handle& file, const std::string& dataset) {
  Handle object(dataset.empty() ? -1 : H5Oopen(file.id(), dataset.c_str(), H5P_DEFAULT), H5Oclose);
  if (!object && !dataset.empty()) check_links(path, file, dataset);
  if (!object || H5Iget_type(object.id()) != H5I_DATASET)
    refuse_missing_dataset(path, file, dataset);
  return object;
}

void check_type(const std::string& path, const std::string& dataset, const Handle& object) {
  const Handle type(H5Dget_type(object.id()), H5Tclose);
  const H5T_class_t kind = H5Tget_class(type.id());
  if (kind == H5T_FLOAT || kind == H5T_INTEGER) return;
  const char* found = kind == H5T_COMPOUND ? "structures"
                      : kind == H5T_STRING ? "text"
                      : kind == H5T_ENUM   ? "named values"
                                           : "no plain numbers";
  throw DataError(
      path, text("data set '", dataset, "' holds ", found, ". Save it as whole or real numbers."));
}

constexpr int table_dimensions = 2;

std::vector<std::size_t> shape_of(const std::string& path, const std::string& dataset,
                                  const Handle& object, int most_dimensions) {
  const Handle space(H5Dget_space(object.id()), H5Sclose);
  const int rank = H5Sget_simple_extent_ndims(space.id());
  if (rank < 1 || rank > most_dimensions)
    throw DataError(path, text("data set '", dataset, "' has ", rank,
                               " dimensions. Save it as [events] or [events, observables]."));
  std::vector<hsize_t> sizes(static_cast<std::size_t>(rank));
  H5Sget_simple_extent_dims(space.id(), sizes.data(), nullptr);
  std::vector<std::size_t> shape(sizes.begin(), sizes.end());
  std::size_t bytes = sizeof(double);
  for (const std::size_t size : shape)
    if (__builtin_mul_overflow(bytes, size, &bytes))
      throw DataError(path,
                      text("data set '", dataset,
                           "' announces more numbers than any file can hold. Copy it again."));
  const bool holds_numbers = std::find(shape.begin(), shape.end(), 0u) == shape.end();
  // Room is taken when the first number is written; before that any size can be announced.
  const Handle creation(H5Dget_create_plist(object.id()), H5Pclose);
  if (H5Pget_layout(creation.id()) == H5D_VIRTUAL)
    check_virtual_parts(path, dataset, creation.id());
  else if (holds_numbers && H5Dget_storage_size(object.id()) == 0)
    throw DataError(path, text("data set '", dataset, "' was never filled. Write the file again."));
  return shape;
}

// The rows of a share in the file, and the same number of rows in memory.
struct Selection {
  Selection(const Handle& object, const std::vector<std::size_t>& shape, std::size_t first)
      : file(H5Dget_space(object.id()), H5Sclose), memory(make_memory(shape), H5Sclose) {
    std::vector<hsize_t> start(shape.size(), 0);
    start[0] = first;
    const std::vector<hsize_t> count(shape.begin(), shape.end());
    H5Sselect_hyperslab(file.id(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr);
  }
  static hid_t make_memory(const std::vector<std::size_t>& shape) {
    const std::vector<hsize_t> sizes(shape.begin(), shape.end());
    return H5Screate_simple(static_cast<int>(shape.size()), sizes.data(), nullptr);
  }
  Handle file, memory;
};

void read_numbers(const std::string& path, const std::string& dataset, const Handle& object,
                  const std::vector<std::size_t>& shape, std::size_t first, hid_t type, void* to) {
  const Selection selection(object, shape, first);
  const bool is_empty = std::find(shape.begin(), shape.end(), 0U) != shape.end();
  if (!is_empty &&
      H5Dread(object.id(), type, selection.memory.id(), selection.file.id(), H5P_DEFAULT, to) < 0)
    throw DataError(path, text("data set '", dataset,
                               "' cannot be read (truncated, or packed with a filter that this "
                               "HDF5 library lacks). Write it again without that filter."));
}

std::size_t count_of(const std::vector<std::size_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>());
}

// events: all that the data set holds
core::NpyArray read_array(const std::string& path, const Handle& file, const std::string& dataset,
                          const core::RowShare& rows, std::size_t& events) {
  const Handle object = open_dataset(path, file, dataset);
  check_type(path, dataset, object);
  core::NpyArray array{shape_of(path, dataset, object, table_dimensions), {}};
  events = array.shape[0];
  array.first_row = rows.first(events);
  array.shape[0] = rows.size(events);
  array.values.resize(count_of(array.shape));
  read_numbers(path, dataset, object, array.shape, array.first_row, H5T_NATIVE_DOUBLE,
               array.values.data());
  return array;
}

// Numbers that a .npy file may hold as well, if they are.
std::optional<core::NpyHeader> layout_of(const std::string& path, const Handle& object,
                                         const std::vector<std::size_t>& shape) {
  const Handle type(H5Dget_type(object.id()), H5Tclose);
  const Handle creation(H5Dget_create_plist(object.id()), H5Pclose);
  const haddr_t offset = H5Dget_offset(object.id());
  const std::size_t bytes = H5Tget_size(type.id());
  const bool is_float = H5Tget_class(type.id()) == H5T_FLOAT;
  const auto is_type = [&](hid_t one) { return H5Tequal(type.id(), one) > 0; };
  const bool is_known = is_float ? is_type(H5T_IEEE_F32LE) || is_type(H5T_IEEE_F32BE) ||
                                       is_type(H5T_IEEE_F64LE) || is_type(H5T_IEEE_F64BE)
                                 : H5Tget_precision(type.id()) == 8 * bytes &&
                                       (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8);
  std::string file(4096, '\0');  // an external link leads to another one
  file.resize(static_cast<std::size_t>(
      std::max<ssize_t>(0, H5Fget_name(object.id(), file.data(), file.size()))));
  if (file != path || H5Pget_layout(creation.id()) != H5D_CONTIGUOUS ||
      H5Pget_external_count(creation.id()) > 0 || offset == HADDR_UNDEF || !is_known)
    return std::nullopt;
  if (offset + count_of(shape) * bytes > std::filesystem::file_size(path))
    throw DataError(path, "is a broken or truncated HDF5 file. Copy it again.");
  const bool is_signed = !is_float && H5Tget_sign(type.id()) == H5T_SGN_2;
  const char kind = is_float ? 'f' : is_signed ? 'i' : 'u';
  return core::NpyHeader{
      kind, bytes, H5Tget_order(type.id()) == H5T_ORDER_BE, false, shape, offset, count_of(shape)};
}

Handle made_dataset(const Handle& file, const Hdf5Written& dataset) {
  const Handle space(Selection::make_memory(dataset.shape), H5Sclose);
  return {H5Dcreate2(file.id(), dataset.name.c_str(), H5T_IEEE_F32LE, space.id(), H5P_DEFAULT,
                     H5P_DEFAULT, H5P_DEFAULT),
          H5Dclose};
}

bool is_written(const Handle& file, const Hdf5Written& dataset, std::size_t first,
                std::size_t count, const std::vector<float>& numbers) {
  const Handle object(H5Dopen2(file.id(), dataset.name.c_str(), H5P_DEFAULT), H5Dclose);
  std::vector<std::size_t> shape = dataset.shape;
  shape[0] = count;
  const Selection selection(object, shape, first);
  return count_of(shape) == numbers.size() &&
         H5Dwrite(object.id(), H5T_NATIVE_FLOAT, selection.memory.id(), selection.file.id(),
                  H5P_DEFAULT, numbers.data()) >= 0;
}

}  // namespace

Hdf5Array hdf5_array(const std::string& path, const std::string& dataset) {
  const QuietErrors quiet;
  const Handle file = open_file(path);
  const Handle object = open_dataset(path, file, dataset);
  check_type(path, dataset, object);
  Hdf5Array array{shape_of(path, dataset, object, H5S_MAX_RANK), {}};
  array.layout = layout_of(path, object, array.shape);
  return array;
}

void read_hdf5_rows(const std::string& path, const std::string& dataset, std::size_t first,
                    std::size_t count, float* to) {
  const QuietErrors quiet;
  const Handle file = open_file(path);
  const Handle object = open_dataset(path, file, dataset);
  std::vector<std::size_t> shape = shape_of(path, dataset, object, H5S_MAX_RANK);
  shape[0] = count;
  read_numbers(path, dataset, object, shape, first, H5T_NATIVE_FLOAT, to);
}

std::vector<std::string> hdf5_members(const std::string& path, const std::string& name) {
  const QuietErrors quiet;
  const Handle file = open_file(path);
  const Handle group(name.empty() ? -1 : H5Oopen(file.id(), name.c_str(), H5P_DEFAULT), H5Oclose);
  if (!group || H5Iget_type(group.id()) != H5I_GROUP) return {name};
  const std::string begin = name.ends_with('/') ? name : name + "/";
  std::vector<std::string> members;
  for (const std::string& one : datasets_in(group)) members.push_back(begin + one);
  if (members.empty())
    throw DataError(path, text("the group '", name, "' holds no data sets. Name one that does."));
  return members;
}

Table read_hdf5_array(const std::string& path, const std::string& dataset,
                      const core::RowShare& rows) {
  const QuietErrors quiet;
  const Handle file = open_file(path);
  std::size_t events = 0;
  return table_of(read_array(path, file, dataset, rows, events), path);
}

Table read_hdf5_columns(const std::string& path, const std::string& group,
                        const std::vector<NeededColumn>& needed, const core::RowShare& rows) {
  const QuietErrors quiet;
  const Handle file = open_file(path);
  Table table;
  table.file = path;
  std::size_t events = 0;  // of the first column
  for (const NeededColumn& column : needed) {
    if (std::find(table.names.begin(), table.names.end(), column.name) != table.names.end())
      continue;
    const std::string dataset = group.empty() ? column.name : text(group, "/", column.name);
    std::size_t found = 0;
    core::NpyArray array = read_array(path, file, dataset, rows, found);
    if (array.shape.size() != 1)
      throw DataError(path, text("data set '", dataset, "' has two dimensions, a column has one. ",
                                 "Name it in 'hdf5_dataset' and its columns by number."));
    if (table.names.empty()) {
      events = found;
      table.rows.resize(array.values.size());
      std::iota(table.rows.begin(), table.rows.end(), array.first_row + 1);
    }
    if (found != events)
      throw DataError(
          path, text("data set '", dataset, "' has ", found, " events, '", table.names.front(),
                     "' has ", events, ". Columns must be of one length."));
    table.names.push_back(column.name);
    table.columns.push_back(std::move(array.values));
  }
  return table;
}

void write_hdf5(const std::string& path, const std::vector<Hdf5Written>& datasets,
                std::size_t at_once,
                const std::function<std::vector<std::vector<float>>(std::size_t first,
                                                                    std::size_t count)>& piece) {
  const QuietErrors quiet;
  core::FileAside aside(path);
  const auto check = [&](bool is_done) {
    if (!is_done)
      throw core::StorageError(
          path,
          "cannot be written. Check that its folder is there, its permissions and its space.");
  };
  {
    const Handle file(H5Fcreate(aside.path().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT),
                      H5Fclose);
    check(static_cast<bool>(file));
    for (const Hdf5Written& one : datasets) check(static_cast<bool>(made_dataset(file, one)));
    for (std::size_t first = 0; first < datasets.at(0).shape.at(0); first += at_once) {
      const std::size_t count = std::min(at_once, datasets[0].shape[0] - first);
      const std::vector<std::vector<float>> numbers = piece(first, count);
      for (std::size_t i = 0; i < datasets.size(); ++i)
        check(is_written(file, datasets[i], first, count, numbers.at(i)));
    }
    check(H5Fflush(file.id(), H5F_SCOPE_GLOBAL) >= 0);
  }
  aside.put_in_place();
}

}  // namespace sagips::data

#include "sagips/data/row_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>
#include <vector>

#include "sagips/core/error.hpp"
#include "sagips/core/npy.hpp"
#include "sagips/core/text.hpp"
#include "sagips/data/hdf5.hpp"
#include "sagips/data/idx.hpp"
#include "sagips/data/whole_file.hpp"

namespace sagips::data {

using core::DataError;
using core::text;

namespace {

constexpr std::size_t most_open = 64;
constexpr std::int64_t most_bytes_at_once = std::int64_t{1} << 22;  // of numbers to be converted

// Reads all of it, however many calls that takes.
void read_bytes(const std::string& path, int descriptor, std::uint64_t offset, char* to,
                std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t got = pread(descriptor, to, bytes, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0)
      throw DataError(path, text("cannot be read any more (", std::strerror(errno),
                                 "). Bring it back, and start again."));
    if (got == 0)
      throw DataError(path,
                      "has become shorter since the run began. Bring it back, and start again.");
    to += got;
    offset += static_cast<std::uint64_t>(got);
    bytes -= static_cast<std::size_t>(got);
  }
}

// Beside a size of 0 the others may be of any size, and must not be multiplied.
void check_holds_numbers(const std::string& path, const std::vector<std::size_t>& shape) {
  if (std::find(shape.begin(), shape.end(), 0U) != shape.end())
    throw DataError(path, "holds no rows. Give a file with some.");
}

bool is_native_float(const core::NpyHeader& layout) {
  return layout.kind == 'f' && layout.item_bytes == sizeof(float) &&
         layout.big_endian == (std::endian::native == std::endian::big);
}

}  // namespace

OpenFiles::File OpenFiles::open(const std::string& path) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(latest_first_.begin(), latest_first_.end(),
                                  [&](const auto& one) { return one.first == path; });
  if (found != latest_first_.end()) {
    latest_first_.splice(latest_first_.begin(), latest_first_, found);
    return found->second;
  }
  auto file = std::make_shared<const core::Descriptor>(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file->number() < 0)
    throw DataError(path, text("cannot be read (", std::strerror(errno),
                               "). Check the path and its permissions."));
  latest_first_.emplace_front(path, file);
  if (latest_first_.size() > most_open) latest_first_.pop_back();
  return file;
}

std::optional<core::NpyHeader> row_layout(const std::string& path,
                                          const std::string& hdf5_dataset) {
  std::optional<core::NpyHeader> layout;
  const FileFormat format = format_of(path);
  if (format == FileFormat::npy) layout = core::read_npy_header(path);
  if (format == FileFormat::hdf5) {
    Hdf5Array array = hdf5_array(path, hdf5_dataset);
    check_holds_numbers(path, array.shape);
    layout = std::move(array.layout);
  }
  if (format == FileFormat::idx) layout = read_idx_header(path);
  if (layout) check_holds_numbers(path, layout->shape);
  const bool is_row_by_row =
      layout && !layout->shape.empty() && !(layout->fortran_order && layout->shape.size() > 1);
  return is_row_by_row ? layout : std::nullopt;
}

RowFile::RowFile(std::string path, core::NpyHeader layout, std::shared_ptr<OpenFiles> open)
    : path_(std::move(path)), layout_(std::move(layout)), open_(std::move(open)) {
  row_numbers_ = std::accumulate(layout_.shape.begin() + 1, layout_.shape.end(), std::int64_t{1},
                                 std::multiplies<>());
  row_bytes_ = row_numbers_ * static_cast<std::int64_t>(layout_.item_bytes);
  if (stat(path_.c_str(), &begun_) != 0)
    throw DataError(path_, text("cannot be read (", std::strerror(errno),
                                "). Check the path and its permissions."));
  if (static_cast<std::uint64_t>(begun_.st_size) <
      layout_.data_offset + layout_.count * layout_.item_bytes)
    throw DataError(path_, "is shorter than the first rank's. Copy it to this machine again.");
}

void RowFile::check_unchanged(int descriptor) const {
  struct stat now {};
  const bool is_known = fstat(descriptor, &now) == 0;
  if (is_known && now.st_nlink > 0 && now.st_size == begun_.st_size &&
      now.st_mtim.tv_sec == begun_.st_mtim.tv_sec && now.st_mtim.tv_nsec == begun_.st_mtim.tv_nsec)
    return;
  throw DataError(path_, text(is_known && now.st_nlink == 0 ? "was removed" : "was written to",
                              " since the run began, so rows would not belong together. Bring the "
                              "old one back, or start a new run."));
}

void RowFile::read(std::int64_t first, std::int64_t count, float* to) const {
  const OpenFiles::File file = open_->open(path_);
  const auto offset_of = [&](std::int64_t row) {
    return layout_.data_offset + static_cast<std::uint64_t>(row * row_bytes_);
  };
  const std::int64_t all = count * row_numbers_;
  if (is_native_float(layout_)) {
    read_bytes(path_, file->number(), offset_of(first), reinterpret_cast<char*>(to),
               static_cast<std::size_t>(all) * sizeof(float));
  } else {
    const std::int64_t at_once =
        std::max<std::int64_t>(1, most_bytes_at_once / std::max<std::int64_t>(1, row_bytes_));
    std::vector<char> bytes;
    for (std::int64_t row = 0; row < count; row += at_once) {
      const std::int64_t rows = std::min(at_once, count - row);
      bytes.resize(static_cast<std::size_t>(rows * row_bytes_));
      read_bytes(path_, file->number(), offset_of(first + row), bytes.data(), bytes.size());
      core::convert_numbers(
          layout_, bytes.data(),
          {to + row * row_numbers_, static_cast<std::size_t>(rows * row_numbers_)});
    }
  }
  check_unchanged(file->number());
  if (layout_.kind == 'f') check_finite(path_, first, row_numbers_, to, all);
}

void check_finite(const std::string& path, std::int64_t first_row, std::int64_t row_numbers,
                  const float* numbers, std::int64_t count) {
  // of what is NaN or infinite all bits of the exponent are 1; whole numbers are compared at once
  constexpr std::uint32_t exponent = 0x7f800000;
  std::uint32_t any = 0;
  for (std::int64_t i = 0; i < count; ++i)
    any |= (std::bit_cast<std::uint32_t>(numbers[i]) & exponent) == exponent ? 1U : 0U;
  if (any == 0) return;
  const float* const broken =
      std::find_if_not(numbers, numbers + count, [](float one) { return std::isfinite(one); });
  const std::int64_t place = broken - numbers;
  throw DataError(
      path,
      text("row ", first_row + place / row_numbers + 1, " holds NaN or infinity",
           row_numbers > 1 ? text(", number ", place % row_numbers + 1, " of ", row_numbers) : "",
           ". Correct it: leaving such rows out biases results."));
}

}  // namespace sagips::data

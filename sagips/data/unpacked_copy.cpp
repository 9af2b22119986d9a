#include "sagips/data/unpacked_copy.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/npy.hpp"
#include "sagips/core/text.hpp"
#include "sagips/data/hdf5.hpp"
#include "sagips/data/row_file.hpp"

namespace sagips::data {

using core::text;

namespace {

// A .npy file in the cache, some numbers at a time. It is written where the cache looks for what was
// left half written, and core::write_npy would put it aside first.
class CopyInCache {
 public:
  CopyInCache(const std::string& path, const std::vector<std::int64_t>& shape)
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

}  // namespace

void write_copy(const torch::Tensor& rows, const std::string& copy) {
  CopyInCache out(copy, rows.sizes().vec());
  out.add(rows.data_ptr<float>(), rows.numel());
  out.finish();
}

void unpack_hdf5(const std::string& path, const std::string& dataset,
                 const std::vector<std::int64_t>& shape, const std::string& copy) {
  CopyInCache out(copy, shape);
  constexpr std::int64_t bytes_at_once = std::int64_t{1} << 26;
  const std::int64_t row =
      std::max<std::int64_t>(1, c10::multiply_integers(shape.begin() + 1, shape.end()));
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

}  // namespace sagips::data

#include "sagips/data/growing_rows.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::data {

namespace {

std::string folder() {
  const char* const named = std::getenv("TMPDIR");
  return named && *named ? named : "/tmp";
}

[[noreturn]] void refuse(const char* what) {
  throw core::StorageError(
      folder(), core::text("cannot hold the events that memory has no room for (", what, ": ",
                           std::strerror(errno),
                           "). Set TMPDIR to a larger disk, or raise "
                           "data.memory_GB."));
}

core::Descriptor nameless_file() {
  std::string name = folder() + "/sagips-events-XXXXXX";
  core::Descriptor file(mkostemp(name.data(), O_CLOEXEC));
  if (file.number() < 0) refuse("making a file");
  unlink(name.c_str());
  return file;
}

}  // namespace

void GrowingRows::write(const torch::Tensor& rows) {
  const torch::Tensor dense = rows.contiguous();
  if (!core::write_all(file_.number(),
                       {static_cast<const char*>(dense.const_data_ptr()), dense.nbytes()}))
    refuse("writing");
}

void GrowingRows::add(const torch::Tensor& rows) {
  row_.assign(rows.sizes().begin() + 1, rows.sizes().end());
  rows_ += rows.size(0);
  bytes_ += rows.nbytes();
  held_.push_back(rows);
  if (file_.number() < 0 && bytes_ <= memory_bytes_) return;
  if (file_.number() < 0) file_ = nameless_file();
  for (const torch::Tensor& piece : held_) write(piece);
  held_.clear();
}

torch::Tensor GrowingRows::take() {
  if (file_.number() < 0) return held_.size() == 1 ? held_[0] : torch::cat(held_);
  std::vector<std::int64_t> sizes = row_;
  sizes.insert(sizes.begin(), rows_);
  if (bytes_ == 0) return torch::empty(sizes);
  void* const place = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file_.number(), 0);
  if (place == MAP_FAILED) refuse("mapping");
  const std::size_t bytes = bytes_;
  return torch::from_blob(
      place, sizes, [bytes](void* begin) { munmap(begin, bytes); }, torch::kFloat32);
}

}  // namespace sagips::data

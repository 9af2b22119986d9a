#include "sagips/data/growing_rows.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/data/node_memory.hpp"

namespace sagips::data {

namespace {

[[noreturn]] void refuse(const char* what) {
  throw core::StorageError(folder_of_temporaries(),
                           core::text("cannot hold the events that memory has no room for (", what,
                                      ": ", std::strerror(errno),
                                      "). Set TMPDIR to a larger disk, or raise "
                                      "data.memory_GB."));
}

core::Descriptor nameless_file() {
  std::string name = folder_of_temporaries() + "/sagips-events-XXXXXX";
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
  return mapped(file_, sizes, torch::kFloat32, folder_of_temporaries());
}

}  // namespace sagips::data

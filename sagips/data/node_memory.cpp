#include "sagips/data/node_memory.hpp"

#include <fcntl.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::data {

namespace {

std::size_t bytes_of(const std::vector<std::int64_t>& shape, torch::ScalarType type) {
  return static_cast<std::size_t>(c10::multiply_integers(shape)) * c10::elementSize(type);
}

}  // namespace

std::string folder_of_temporaries() {
  const char* const named = std::getenv("TMPDIR");
  return named && *named ? named : "/tmp";
}

void return_freed_memory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

torch::Tensor mapped(const core::Descriptor& file, const std::vector<std::int64_t>& shape,
                     torch::ScalarType type, const std::string& path) {
  const std::size_t bytes = bytes_of(shape, type);
  void* const place = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.number(), 0);
  if (place == MAP_FAILED)
    throw core::StorageError(
        path, core::text("cannot be mapped (", std::strerror(errno), "). Free some memory."));
  return torch::from_blob(
      place, shape, [bytes](void* begin) { munmap(begin, bytes); }, type);
}

// Room is taken at once: memory that is full would end the process that writes to it later. What has no
// name needs no place in /dev/shm, which containers keep small and where MPI has its windows.
NodeMemory NodeMemory::make(const std::vector<std::int64_t>& shape, torch::ScalarType type) {
  const std::size_t bytes = bytes_of(shape, type);
  core::Descriptor file(memfd_create("sagips-rows", MFD_CLOEXEC));
  const int problem =
      file.number() < 0 ? errno : posix_fallocate(file.number(), 0, static_cast<off_t>(bytes));
  if (problem != 0)
    throw core::StorageError(
        "memory",
        core::text("has no room for ", core::significant(static_cast<double>(bytes) * 1e-9, 2),
                   " GB of rows that the ranks of a node share (", std::strerror(problem),
                   "). Give the job more, or lower data.memory_GB."));
  torch::Tensor tensor = mapped(file, shape, type, "memory");
  return {std::move(file), std::move(tensor)};
}

std::string NodeMemory::path() const {
  return core::text("/proc/", getpid(), "/fd/", file.number());
}

torch::Tensor NodeMemory::find(const std::string& path, const std::vector<std::int64_t>& shape,
                               torch::ScalarType type) {
  const core::Descriptor file(open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (file.number() < 0)
    throw core::StorageError(
        path, core::text("are rows that another rank of this node has read, and cannot be opened (",
                         std::strerror(errno), "). Let the ranks of a node see each other's ",
                         "processes: one container a node, not one a rank."));
  return mapped(file, shape, type, path);
}

}  // namespace sagips::data

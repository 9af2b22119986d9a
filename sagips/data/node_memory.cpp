#include "sagips/data/node_memory.hpp"

#include <fcntl.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::data {

namespace {

std::size_t bytes_of(const std::vector<std::int64_t>& shape, torch::ScalarType type) {
  return static_cast<std::size_t>(c10::multiply_integers(shape)) * c10::elementSize(type);
}

// Room is taken at once: memory that is full would end the process that writes to it later.
std::optional<NodeMemory> made_in(const std::string& folder, const std::vector<std::int64_t>& shape,
                                  torch::ScalarType type, int& problem) {
  NodeMemory memory{.path = folder + "/sagips-rows-XXXXXX"};
  const core::Descriptor file(mkostemp(memory.path.data(), O_CLOEXEC));
  problem = errno;
  if (file.number() < 0) return std::nullopt;
  problem = posix_fallocate(file.number(), 0, static_cast<off_t>(bytes_of(shape, type)));
  if (problem == 0) memory.tensor = mapped(file, shape, type, memory.path);
  if (problem == 0) return memory;
  unlink(memory.path.c_str());
  return std::nullopt;
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

NodeMemory NodeMemory::make(const std::vector<std::int64_t>& shape, torch::ScalarType type) {
  constexpr const char* of_memory = "/dev/shm";
  int problem = 0;
  if (const auto memory = made_in(of_memory, shape, type, problem)) return *memory;
  const std::string folder = folder_of_temporaries();
  if (auto memory = made_in(folder, shape, type, problem)) {
    memory->is_on_disk = true;
    return *memory;
  }
  throw core::StorageError(
      folder, core::text("has no room, nor has ", of_memory, ", for ",
                         core::significant(static_cast<double>(bytes_of(shape, type)) * 1e-9, 2),
                         " GB of rows that the ranks of a node share (", std::strerror(problem),
                         "). Set TMPDIR to a larger disk, or lower data.memory_GB."));
}

torch::Tensor NodeMemory::find(const std::string& path, const std::vector<std::int64_t>& shape,
                               torch::ScalarType type) {
  const core::Descriptor file(open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (file.number() < 0)
    throw core::StorageError(
        path,
        core::text("holds rows that another rank of this node has read, and cannot be opened (",
                   std::strerror(errno), "). Let the ranks of a node see one ", "/dev/shm."));
  return mapped(file, shape, type, path);
}

}  // namespace sagips::data

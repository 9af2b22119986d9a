#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sagips/core/file.hpp"
#include "sagips/data/torch.hpp"

namespace sagips::data {

/// $TMPDIR, else /tmp.
std::string folder_of_temporaries();

/// Gives the system what was freed but is kept for later, where the C library can: rows pass through much
/// more memory than they need, and each rank of a node would keep its own.
void return_freed_memory();

/// An open file as a tensor, which goes with it. throws: core::StorageError
torch::Tensor mapped(const core::Descriptor& file, const std::vector<std::int64_t>& shape,
                     torch::ScalarType type, const std::string& path);

/// Memory that processes of a node share: a file in /dev/shm or, where that has no room for it, in the
/// folder of temporaries. Once its name is removed it goes with the last process that has it.
struct NodeMemory {
  std::string path;
  torch::Tensor tensor{};
  bool is_on_disk = false;

  /// Makes the file. throws: core::StorageError where neither place has room
  static NodeMemory make(const std::vector<std::int64_t>& shape, torch::ScalarType type);
  /// The tensor of a file that another process has made. throws: core::StorageError
  static torch::Tensor find(const std::string& path, const std::vector<std::int64_t>& shape,
                            torch::ScalarType type);
};

}  // namespace sagips::data

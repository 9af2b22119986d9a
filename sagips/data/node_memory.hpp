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

/// Memory that processes of a node share: a file that has no name, so that it goes with the last process
/// that has it, however that ends.
struct NodeMemory {
  core::Descriptor file;
  torch::Tensor tensor;

  /// throws: core::StorageError where there is no room
  static NodeMemory make(const std::vector<std::int64_t>& shape, torch::ScalarType type);
  /// By which other processes of this user find it as long as this object lives.
  std::string path() const;
  /// The tensor of another process. throws: core::StorageError
  static torch::Tensor find(const std::string& path, const std::vector<std::int64_t>& shape,
                            torch::ScalarType type);
};

}  // namespace sagips::data

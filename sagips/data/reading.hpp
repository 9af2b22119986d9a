#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sagips/data/file_cache.hpp"
#include "sagips/data/row_file.hpp"
#include "sagips/data/torch.hpp"

namespace sagips::data {

/// What the reading of files takes from the job around it.
struct Reading {
  using Text = std::function<std::string()>;
  using RowFunction = std::function<torch::Tensor(const torch::Tensor& rows)>;

  /// Runs a function on the first rank and gives all of them what it says. collective
  std::function<std::string(const Text&)> once = [](const Text& say) { return say(); };
  /// Makes room for a tensor.
  using Room =
      std::function<torch::Tensor(const std::vector<std::int64_t>& shape, torch::ScalarType type)>;
  /// Gives tensors, best in such room, which spares a copy; some may be undefined.
  using Make = std::function<std::vector<torch::Tensor>(const Room& room)>;
  /// Makes tensors on one rank of each node, in memory that all its ranks share: nobody writes there
  /// afterwards. collective
  std::function<std::vector<torch::Tensor>(const Make&)> once_a_node = [](const Make& make) {
    return make(
        [](const auto& shape, torch::ScalarType type) { return torch::empty(shape, type); });
  };
  /// Makes a function of a script of the user; threads may call it at a time.
  std::function<RowFunction(const std::string& path)> function{};
  /// Memory of a node that rows may take together; more are read from files again and again.
  std::uint64_t memory_bytes = std::uint64_t{4} << 30U;
  std::shared_ptr<FileCache> cache{};  ///< null: files are read where they are, whatever they take
  std::shared_ptr<OpenFiles> open = std::make_shared<OpenFiles>();
  /// What arrays have taken of that memory so far.
  std::shared_ptr<std::uint64_t> held_bytes = std::make_shared<std::uint64_t>(0);
};

}  // namespace sagips::data

#include "sagips/run/once_a_node.hpp"

#include <algorithm>
#include <sstream>

#include "sagips/core/text.hpp"
#include "sagips/data/node_memory.hpp"

namespace sagips::run {

namespace {

using Shape = std::vector<std::int64_t>;

/// What a rank makes for those of its node, which can find it as long as this object lives.
class SharedTensors {
 public:
  torch::Tensor room(const Shape& shape, torch::ScalarType type) {
    if (c10::multiply_integers(shape) == 0) return torch::empty(shape, type);
    made_.push_back(data::NodeMemory::make(shape, type));
    return made_.back().tensor;
  }
  torch::Tensor shared(const torch::Tensor& tensor) {
    if (!tensor.defined() || tensor.numel() == 0 || memory_of(tensor)) return tensor;
    torch::Tensor copy = room(tensor.sizes().vec(), tensor.scalar_type());
    return copy.copy_(tensor);
  }
  // A line of words that `found` reads.
  std::string line(const torch::Tensor& tensor) const {
    if (!tensor.defined()) return "-";
    const data::NodeMemory* const memory = memory_of(tensor);
    std::string line = core::text(static_cast<int>(tensor.scalar_type()), ' ', tensor.dim());
    for (const std::int64_t size : tensor.sizes()) line += core::text(' ', size);
    return core::text(line, ' ', memory ? memory->path() : "");
  }
  static torch::Tensor found(const std::string& line) {
    if (line == "-") return {};
    std::istringstream words(line);
    int type = 0;
    std::size_t dimensions = 0;
    words >> type >> dimensions;
    Shape shape(dimensions);
    for (std::int64_t& size : shape) words >> size;
    std::string path;
    std::getline(words >> std::ws, path);
    const auto numbers = static_cast<torch::ScalarType>(type);
    return path.empty() ? torch::empty(shape, numbers)
                        : data::NodeMemory::find(path, shape, numbers);
  }

 private:
  const data::NodeMemory* memory_of(const torch::Tensor& tensor) const {
    const auto found = std::find_if(made_.begin(), made_.end(), [&](const data::NodeMemory& one) {
      return one.tensor.is_same(tensor);
    });
    return found == made_.end() ? nullptr : &*found;
  }

  std::vector<data::NodeMemory> made_;
};

}  // namespace

std::vector<torch::Tensor> once_a_node(comm::Ranks& ranks, const data::Reading::Make& make) {
  if (ranks.communicator().ranks_on_node() == 1)
    return make(
        [](const Shape& shape, torch::ScalarType type) { return torch::empty(shape, type); });
  if (!ranks.is_first_on_node()) {
    std::vector<torch::Tensor> tensors;
    for (const std::string& line : core::split(ranks.broadcast_on_node({}), '\n'))
      tensors.push_back(SharedTensors::found(line));
    ranks.settle_on_node();
    return tensors;
  }
  SharedTensors shared;
  ranks.status().expect_silence(true);
  std::vector<torch::Tensor> tensors =
      make([&](const Shape& shape, torch::ScalarType type) { return shared.room(shape, type); });
  std::vector<std::string> lines;
  for (torch::Tensor& tensor : tensors)
    lines.push_back(shared.line(tensor = shared.shared(tensor)));
  ranks.status().expect_silence(false);
  ranks.broadcast_on_node(core::join(lines, "\n"));
  ranks.settle_on_node();
  return tensors;
}

}  // namespace sagips::run

#include "sagips/study/idle_communicator.hpp"

#include <array>
#include <vector>

namespace sagips::study {

namespace {

/// Made when it is first looked at: most is only asked for.
class IdleMemory final : public comm::Memory {
 public:
  IdleMemory(const std::vector<int>& nodes, int rank, std::size_t bytes)
      : nodes_(nodes), rank_(rank), bytes_(bytes) {}
  std::byte* block(int rank) override {
    if (at(rank) != at(rank_)) return nullptr;
    lines_.resize(bytes_ / sizeof(Line) + 1);
    return lines_.front().bytes.data();
  }
  void fetch(int, std::size_t, std::span<std::byte>) override {}
  void store(std::size_t, std::span<const std::byte>) override {}
  void publish() override {}

 private:
  struct alignas(64) Line {
    std::array<std::byte, 64> bytes{};
  };
  int at(int rank) const { return nodes_[static_cast<std::size_t>(rank)]; }

  const std::vector<int>& nodes_;
  int rank_;
  std::size_t bytes_;
  std::vector<Line> lines_;
};

}  // namespace

IdleCommunicator::IdleCommunicator(std::int64_t rank, std::int64_t size,
                                   std::int64_t ranks_per_node)
    : Communicator(static_cast<int>(rank), static_cast<int>(size)) {
  for (std::int64_t r = 0; r < size; ++r) nodes_.push_back(static_cast<int>(r / ranks_per_node));
}

std::unique_ptr<comm::Memory> IdleCommunicator::share(std::size_t bytes) {
  shares_ = true;
  return std::make_unique<IdleMemory>(nodes_, rank(), bytes);
}

}  // namespace sagips::study

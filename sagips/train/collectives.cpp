#include "sagips/train/collectives.hpp"

#include <cstring>

#include "sagips/comm/outbox.hpp"

namespace sagips::train {

void add_up(comm::Ranks& ranks, std::span<double> numbers) {
  if (ranks.size() == 1) return;
  std::vector<double> all(numbers.size() * static_cast<std::size_t>(ranks.size()));
  ranks.communicator().all_gather(std::as_bytes(numbers), std::as_writable_bytes(std::span(all)));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    double sum = 0;  // in the order of the ranks, so that all get the same bits
    for (std::size_t at = i; at < all.size(); at += numbers.size()) sum += all[at];
    numbers[i] = sum;
  }
}

std::vector<std::byte> bytes_of(const std::vector<torch::Tensor>& tensors) {
  std::vector<std::byte> all;
  for (const torch::Tensor& tensor : tensors) {
    const torch::Tensor dense = tensor.cpu().contiguous();
    const auto* bytes = static_cast<const std::byte*>(dense.const_data_ptr());
    all.insert(all.end(), bytes, bytes + dense.nbytes());
  }
  return all;
}

std::vector<torch::Tensor> gather(comm::Ranks& ranks, const torch::Tensor& own) {
  std::vector<torch::Tensor> all;
  for (const auto& bytes :
       comm::gather(ranks, comm::ControlTag::summary, bytes_of({own}), "with its results"))
    std::memcpy(all.emplace_back(torch::empty(own.sizes(), own.scalar_type())).mutable_data_ptr(),
                bytes.data(), bytes.size());
  return all;
}

}  // namespace sagips::train

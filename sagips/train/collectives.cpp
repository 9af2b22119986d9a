#include "sagips/train/collectives.hpp"

namespace sagips::train {

namespace {

std::span<float> values_of(const torch::Tensor& tensor) {
  return {tensor.data_ptr<float>(), static_cast<std::size_t>(tensor.numel())};
}

}  // namespace

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

std::vector<torch::Tensor> gather(comm::Ranks& ranks, const torch::Tensor& own) {
  const int tag = comm::tag_of(comm::ControlTag::summary);
  const torch::Tensor dense = own.contiguous();
  if (!ranks.is_first()) {
    comm::Request sent = ranks.communicator().send(0, tag, comm::as_message(values_of(dense)));
    ranks.timeout().wait(sent, {.partners = {0}, .what = "for results", .however_long = true});
    return {};
  }
  std::vector<torch::Tensor> all{dense};
  for (int from = 1; from < ranks.size(); ++from) {
    all.push_back(torch::empty_like(dense));
    comm::Request received =
        ranks.communicator().receive(from, tag, comm::as_message(values_of(all.back())));
    ranks.timeout().wait(received,
                         {.partners = {from}, .what = "with its results", .however_long = true});
  }
  return all;
}

}  // namespace sagips::train

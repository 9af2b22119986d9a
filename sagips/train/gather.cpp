#include "sagips/train/gather.hpp"

namespace sagips::train {

namespace {

std::span<float> values_of(const torch::Tensor& tensor) {
  return {tensor.data_ptr<float>(), static_cast<std::size_t>(tensor.numel())};
}

}  // namespace

std::vector<torch::Tensor> gather(comm::Ranks& ranks, const torch::Tensor& own) {
  const int tag = comm::tag_of(comm::ControlTag::summary);
  const torch::Tensor dense = own.contiguous();
  if (!ranks.is_first()) {
    comm::Request sent = ranks.communicator().send(0, tag, comm::as_message(values_of(dense)));
    ranks.patience().wait(sent, {.partners = {0}, .what = "for results", .however_long = true});
    return {};
  }
  std::vector<torch::Tensor> all{dense};
  for (int from = 1; from < ranks.size(); ++from) {
    all.push_back(torch::empty_like(dense));
    comm::Request received =
        ranks.communicator().receive(from, tag, comm::as_message(values_of(all.back())));
    ranks.patience().wait(received,
                          {.partners = {from}, .what = "with its results", .however_long = true});
  }
  return all;
}

}  // namespace sagips::train

#include "sagips/optim/learn/losses.hpp"

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::optim {

namespace {

torch::Tensor mean_of_row(const torch::Tensor& values) { return values.flatten(1).mean(1); }

torch::Tensor cross_entropy(const torch::Tensor& outputs, const torch::Tensor& targets) {
  return torch::cross_entropy_loss(outputs, targets, {}, at::Reduction::None);
}

torch::Tensor binary_cross_entropy(const torch::Tensor& outputs, const torch::Tensor& targets) {
  return mean_of_row(
      torch::binary_cross_entropy_with_logits(outputs, targets, {}, {}, at::Reduction::None));
}

torch::Tensor mean_square(const torch::Tensor& outputs, const torch::Tensor& targets) {
  return mean_of_row((outputs - targets).square());
}

torch::Tensor mean_absolute(const torch::Tensor& outputs, const torch::Tensor& targets) {
  return mean_of_row((outputs - targets).abs());
}

torch::Tensor smooth_l1(const torch::Tensor& outputs, const torch::Tensor& targets) {
  return mean_of_row(torch::smooth_l1_loss(outputs, targets, at::Reduction::None));
}

// Outputs are logarithms of rates.
torch::Tensor poisson(const torch::Tensor& outputs, const torch::Tensor& targets) {
  return mean_of_row(torch::exp(outputs) - targets * outputs);
}

// Outputs are logits of a distribution over the last dimension, targets its probabilities.
torch::Tensor kullback_leibler(const torch::Tensor& outputs, const torch::Tensor& targets) {
  const torch::Tensor log_probabilities = torch::log_softmax(outputs, -1);
  return (torch::xlogy(targets, targets) - targets * log_probabilities).flatten(1).sum(1);
}

}  // namespace

const std::vector<Loss>& losses() {
  static const std::vector<Loss> all = {{"cross_entropy", true, cross_entropy},
                                        {"binary_cross_entropy", false, binary_cross_entropy},
                                        {"mean_square", false, mean_square},
                                        {"mean_absolute", false, mean_absolute},
                                        {"smooth_l1", false, smooth_l1},
                                        {"poisson", false, poisson},
                                        {"kullback_leibler", false, kullback_leibler}};
  return all;
}

const Loss& loss_named(const std::string& name, const std::string& key) {
  std::vector<std::string> names;
  for (const Loss& loss : losses()) {
    if (loss.name == name) return loss;
    names.push_back(loss.name);
  }
  throw core::ConfigError(key,
                          core::text("unknown loss '", name, "'", core::suggestion(name, names)));
}

}  // namespace sagips::optim

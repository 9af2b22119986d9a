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

torch::Tensor of_last_dimension(const torch::Tensor& outputs) {
  return torch::softmax(outputs, -1);
}
torch::Tensor of_each(const torch::Tensor& outputs) { return torch::sigmoid(outputs); }
torch::Tensor exponential(const torch::Tensor& outputs) { return torch::exp(outputs); }

std::deque<Loss>& known_losses() {
  using Targets = Loss::Targets;
  static std::deque<Loss> all = {
      {"cross_entropy", Targets::classes, cross_entropy, of_last_dimension},
      {"binary_cross_entropy", Targets::yes_or_no, binary_cross_entropy, of_each, 0, 1},
      {"mean_square", Targets::values, mean_square},
      {"mean_absolute", Targets::values, mean_absolute},
      {"smooth_l1", Targets::values, smooth_l1},
      {"poisson", Targets::values, poisson, exponential, 0},
      {"kullback_leibler", Targets::values, kullback_leibler, of_last_dimension, 0, 1}};
  return all;
}

}  // namespace

const std::deque<Loss>& losses() { return known_losses(); }

void add_loss(Loss loss) {
  static const std::size_t shipped = losses().size();
  std::size_t place = 0;
  while (place < losses().size() && losses()[place].name != loss.name) ++place;
  if (place < shipped)
    throw core::StateError(core::text("SAGIPS has a loss '", loss.name, "' already"));
  if (place == losses().size()) known_losses().emplace_back();
  known_losses()[place] = std::move(loss);
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

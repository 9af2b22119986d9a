#include <gtest/gtest.h>

#include "tests/train/small_learner.hpp"

namespace sagips::train {
namespace {

using namespace sagips::testing;
using data::Examples;
using optim::Supervised;

// The first step of two ranks, tensor by tensor.
TEST(Adasum, CombinesTheStepsOfRanksTensorByTensor) {
  const Examples examples = three_classes(20);
  std::vector<torch::Tensor> changes;
  Supervised one(plain_steps(10), layers_of(dense_layers), examples, 1, torch::kCPU, {0, 2});
  const torch::Tensor start = one.replica().weights().clone();
  for (std::int64_t rank = 0; rank < 2; ++rank) {
    Supervised own(plain_steps(10), layers_of(dense_layers), examples, 1, torch::kCPU, {rank, 2});
    const auto batch = own.draw(1);
    Engine({}).gradients(own.passes()[0], own.steps(), *batch, {});
    changes.push_back((own.replica().gradients() * -0.1).to(torch::kFloat64));
  }
  const torch::Tensor found =
      learned(2, plain_steps(10), dense_layers, examples, 1, "adasum").weights;
  for (std::size_t i = 0; i < one.replica().parameters().size(); ++i) {
    const torch::Tensor a = one.replica().view(changes[0], i),
                        b = one.replica().view(changes[1], i);
    const torch::Tensor both = (a * b).sum();
    const torch::Tensor wanted = (1 - both / (2 * (a * a).sum())) * a +
                                 (1 - both / (2 * (b * b).sum())) * b +
                                 one.replica().view(start, i);
    EXPECT_LT((one.replica().view(found, i) - wanted).abs().max().item<double>(), 1e-6)
        << one.replica().parameters()[i].name;
  }
}

}  // namespace
}  // namespace sagips::train

#include "sagips/nn/fused_mlp.hpp"

#include <gtest/gtest.h>

#include "sagips/core/error.hpp"
#include "sagips/core/random.hpp"
#include "sagips/nn/initialise.hpp"
#include "sagips/nn/mlp.hpp"

namespace sagips::nn {
namespace {

/// A network, evaluated by LibTorch and by the fused layers.
struct Pair {
  std::shared_ptr<const Network> network;
  Replica replica;
  std::unique_ptr<FusedMlp> fused;

  Pair(std::int64_t inputs, std::int64_t outputs, const std::string& library)
      : network(MlpConfig{.width = 48, .layers = 3}.network(inputs, outputs)),
        replica(network, SharedPart::weights_only, torch::kCPU),
        fused(FusedMlp::make(*network, {.library = library, .block_rows = 64}, torch::kCPU)) {
    initialise_kaiming_normal(replica, 0.2, core::RandomStream(3, "weights"));
    torch::NoGradGuard no_grad;
    for (std::size_t i = 1; i < replica.parameters().size(); i += 2)
      replica.view(replica.weights(), i)
          .copy_(torch::linspace(-0.5, 0.5, replica.parameters()[i].size()));
    fused->pack(replica.leaves());
  }
};

torch::Tensor rows(std::int64_t count, std::int64_t inputs) {
  return torch::sin(torch::arange(count * inputs, torch::kFloat32) * 1.7).view({count, inputs});
}

double distance(const torch::Tensor& ours, const torch::Tensor& theirs) {
  return ((ours - theirs).norm() / theirs.norm()).item<double>();
}

// A share of norms; float32 rounding leaves some 1e-7.
constexpr double bound = 1e-5;

void expect_equal_gradients(const Replica& replica, const Leaves& ours, const Leaves& theirs) {
  for (std::size_t i = 0; i < replica.parameters().size(); ++i)
    EXPECT_LT(distance(replica.view(ours.gradients, i), replica.view(theirs.gradients, i)), bound)
        << replica.parameters()[i].name;
}

class FusedMlpWith : public ::testing::TestWithParam<std::string> {};

TEST_P(FusedMlpWith, HasLibTorchsOutputAndInputGradient) {
  Pair pair(2, 1, GetParam());
  for (const std::int64_t count : {1, 31, 64, 200}) {
    const torch::Tensor ours = rows(count, 2).requires_grad_(),
                        theirs = rows(count, 2).requires_grad_();
    const torch::Tensor output = (*pair.fused)(ours);
    const torch::Tensor expected = (*pair.network)(pair.replica.leaves(), theirs, {}).squeeze(-1);
    EXPECT_EQ(output.sizes(), expected.sizes());
    EXPECT_LT(distance(output.detach(), expected.detach()), bound);
    (output * output).sum().backward();
    (expected * expected).sum().backward();
    EXPECT_LT(distance(ours.grad(), theirs.grad()), bound) << count << " rows";
  }
}

TEST_P(FusedMlpWith, KeepsTheShapeOfWhatTheInputsBelongTo) {
  Pair pair(2, 1, GetParam());
  const torch::Tensor flat = rows(12, 2);
  const torch::Tensor deep = flat.view({3, 4, 2}).transpose(0, 1);  // rows in another order
  const torch::Tensor output = (*pair.fused)(deep);
  EXPECT_EQ(output.sizes(), (std::vector<std::int64_t>{4, 3}));
  EXPECT_TRUE(torch::allclose(output.t().flatten(), (*pair.fused)(flat)));
  EXPECT_FALSE(output.requires_grad());
}

TEST_P(FusedMlpWith, LearnsAsLibTorchDoes) {
  Pair pair(2, 1, GetParam());
  for (const bool by_input : {false, true}) {
    Leaves ours = pair.replica.make_leaves(), theirs = pair.replica.make_leaves();
    const torch::Tensor input = rows(150, 2).requires_grad_(by_input);
    const torch::Tensor output = pair.fused->learn(
        input,
        [](std::span<const float> outputs, std::int64_t first, std::span<float> slopes) {
          for (std::size_t i = 0; i < outputs.size(); ++i)
            slopes[i] = 2 * outputs[i] * static_cast<float>(first + static_cast<std::int64_t>(i));
        },
        ours);
    EXPECT_EQ(output.requires_grad(), by_input);
    const torch::Tensor expected = (*pair.network)(theirs, rows(150, 2), {}).squeeze(-1);
    (expected.square() * torch::arange(150)).sum().backward({}, {}, false, theirs.tensors);
    expect_equal_gradients(pair.replica, ours, theirs);
  }
}

TEST_P(FusedMlpWith, GivesSeveralOutputsAndTheirWeightsGradients) {
  Pair pair(3, 5, GetParam());
  Leaves ours = pair.replica.make_leaves(), theirs = pair.replica.make_leaves();
  const torch::Tensor output = (*pair.fused)(rows(90, 3), ours);
  const torch::Tensor expected = (*pair.network)(theirs, rows(90, 3), {});
  EXPECT_LT(distance(output.detach(), expected.detach()), bound);
  torch::exp(output).sum().backward({}, {}, false, ours.tensors);
  torch::exp(expected).sum().backward({}, {}, false, theirs.tensors);
  expect_equal_gradients(pair.replica, ours, theirs);
  pair.replica.check_views(ours);
}

INSTANTIATE_TEST_SUITE_P(Products, FusedMlpWith, ::testing::ValuesIn(kernels::available_products()),
                         [](const auto& given) { return given.param; });

TEST(FusedMlp, UsesTheWeightsThatWerePackedLast) {
  Pair pair(2, 1, "plain");
  const torch::Tensor before = (*pair.fused)(rows(8, 2));
  {
    torch::NoGradGuard no_grad;
    pair.replica.weights().mul_(1.1);
  }
  EXPECT_TRUE(torch::equal((*pair.fused)(rows(8, 2)), before));
  pair.fused->pack(pair.replica.leaves());
  EXPECT_FALSE(torch::equal((*pair.fused)(rows(8, 2)), before));
}

TEST(FusedMlp, RefusesSecondDerivativesAndSaysWhatToDo) {
  Pair pair(2, 1, "plain");
  const torch::Tensor input = rows(4, 2).requires_grad_();
  const torch::Tensor output = (*pair.fused)(input);
  EXPECT_THROW(torch::autograd::grad({output.sum()}, {input}, {}, true, true), core::StateError);
}

TEST(FusedMlp, LeavesToLibTorchWhatItCannotDo) {
  const auto linear = MlpConfig{.width = 8, .layers = 0}.network(2, 1),
             usual = MlpConfig{.width = 8, .layers = 1}.network(2, 1);
  EXPECT_EQ(FusedMlp::make(*linear, {}, torch::kCPU), nullptr);
  EXPECT_EQ(FusedMlp::make(*usual, {.library = "libtorch"}, torch::kCPU), nullptr);
  EXPECT_EQ(FusedMlp::make(*usual, {}, torch::Device(torch::kCUDA, 0)), nullptr);
  EXPECT_NE(FusedMlp::make(*usual, {}, torch::kCPU), nullptr);
}

}  // namespace
}  // namespace sagips::nn

// Modules of a user as layers: they look into the replica, and what they cannot have is refused.
#include <gtest/gtest.h>
#include <torch/nn.h>

#include "sagips/core/config/config.hpp"
#include "sagips/core/error.hpp"
#include "sagips/nn/initialise.hpp"
#include "sagips/nn/layers/layer_config.hpp"
#include "sagips/nn/module.hpp"
#include "tests/core/message_of.hpp"

namespace sagips::nn {
namespace {

namespace t = torch::nn;
using testing::message_of;

template <class Make>
std::shared_ptr<const Network> network_of(Make make, const Shape& input) {
  add_module("tested", make);
  struct Layers {
    std::vector<LayerConfig> layers{};
    void fields(core::FieldList& list) { list.list("layers", layers, LayerConfig::help()); }
  };
  const Layers config = core::read_config(
      core::ConfigDocument::from_text("layers: [{module: tested}]\n", "layers.yaml"), Layers{});
  return std::make_shared<LayeredNetwork>(config.layers, input, "layers");
}

template <class Make>
std::string refusal(Make make, const Shape& input = {4}) {
  return message_of<core::ConfigError>([&] { network_of(make, input); });
}

t::Sequential dense_with_norm(const Shape& input) {
  return t::Sequential(t::Linear(input[0], 6), t::BatchNorm1d(6), t::Tanh(), t::Linear(6, 2));
}

TEST(ModuleLayer, KeepsItsWeightsBuffersAndGradientsInTheReplica) {
  const auto network = network_of(dense_with_norm, {4});
  ASSERT_EQ(network->parameters().size(), 6U);
  EXPECT_EQ(network->parameters()[0].name, "layer0.0.weight");
  EXPECT_EQ(network->layers()[0].weights, 4 * 6 + 6 + 2 * 6 + 6 * 2 + 2);
  ASSERT_EQ(network->buffers().size(), 2U) << "the count of batches stays where it is";
  EXPECT_FALSE(network->separable());
  EXPECT_FALSE(network->is_random());
  EXPECT_EQ(network->output(), Shape{2});

  Replica replica(network, SharedPart::all, torch::kCPU);
  initialise_uniform(replica, core::RandomStream(1, "weights"));
  replica.check_views();
  t::Sequential peer = dense_with_norm({4});
  const auto theirs = peer->parameters();
  for (std::size_t i = 0; i < theirs.size(); ++i) {
    const torch::NoGradGuard no_grad;
    theirs[i].copy_(replica.view(replica.weights(), i));
  }
  torch::manual_seed(2);
  const core::RandomStream random(1, "nothing is drawn");
  for (int step = 0; step < 3; ++step) {
    const torch::Tensor rows = torch::randn({9, 4});
    peer->zero_grad();
    peer->forward(rows).square().sum().backward();
    replica.zero_gradients();
    (*network)(replica.leaves(), rows, {.training = &random})
        .square()
        .sum()
        .backward({}, {}, false, replica.leaves().tensors);
    replica.check_views();
    for (std::size_t i = 0; i < theirs.size(); ++i)
      EXPECT_TRUE(torch::equal(replica.view(replica.gradients(), i), theirs[i].grad())) << i;
  }
  peer->eval();
  const torch::Tensor rows = torch::randn({5, 4});
  EXPECT_TRUE(torch::equal((*network)(replica.leaves(), rows, {}), peer->forward(rows)))
      << "it predicts from running statistics";
}

TEST(ModuleLayer, LooksIntoOtherNumbersWhereTheseStandIn) {
  const auto network = network_of([](const Shape&) { return t::Linear(4, 2); }, {4});
  Replica replica(network, SharedPart::all, torch::kCPU);
  initialise_uniform(replica, core::RandomStream(1, "weights"));
  const torch::Tensor rows = torch::ones({3, 4}), zeros = torch::zeros_like(replica.weights());
  EXPECT_GT((*network)(replica.leaves(), rows, {}).abs().sum().item<double>(), 0);
  EXPECT_EQ((*network)(replica.leaves_over(zeros), rows, {}).abs().sum().item<double>(), 0);
  Leaves other = replica.make_leaves();
  (*network)(other, rows, {}).sum().backward({}, {}, false, other.tensors);
  EXPECT_EQ(replica.gradients().abs().sum().item<double>(), 0);
  replica.collect(other);
  EXPECT_TRUE(torch::equal(replica.view(replica.gradients(), 1), torch::full({2}, 3.0F)));
}

TEST(ModuleLayer, BeginsAsItsAuthorWroteForEachSeed) {
  const auto orthogonal = [](const Shape&) {
    t::Linear layer(4, 4);
    t::init::orthogonal_(layer->weight);
    return layer;
  };
  const auto network = network_of(orthogonal, {4});
  const auto weights = [&](std::uint64_t seed) {
    Replica replica(network, SharedPart::all, torch::kCPU);
    initialise_uniform(replica, core::RandomStream(seed, "weights"));
    return replica.view(replica.weights(), 0).clone();
  };
  torch::manual_seed(5);
  const torch::Tensor drawn = torch::rand({1});
  torch::manual_seed(5);
  const torch::Tensor first = weights(1);
  EXPECT_TRUE(torch::equal(torch::rand({1}), drawn)) << "LibTorch's own numbers go on";
  EXPECT_TRUE(torch::allclose(first.mm(first.t()), torch::eye(4), 1e-5, 1e-5));
  EXPECT_TRUE(torch::equal(first, weights(1)));
  EXPECT_FALSE(torch::equal(first, weights(2)));
}

/// Encoder and decoder with one weight.
struct TiedImpl : t::Module {
  t::Linear encoder{nullptr};
  torch::Tensor offset;
  explicit TiedImpl(std::int64_t width) {
    encoder = register_module("encoder", t::Linear(width, 2));
    offset = register_buffer("offset", torch::arange(width).to(torch::kFloat32));
  }
  torch::Tensor forward(const torch::Tensor& x) {
    const torch::Tensor code = dropout(torch::tanh(encoder->forward(x)), 0.5);
    return torch::linear(code, encoder->weight.t()) + offset;
  }
};
TORCH_MODULE(Tied);

TEST(ModuleLayer, CountsTiedWeightsOnceAndDrawsDropoutByRow) {
  const auto network = network_of([](const Shape& input) { return Tied(input[0]); }, {4});
  EXPECT_EQ(network->layers()[0].weights, 4 * 2 + 2);
  EXPECT_TRUE(network->is_random());
  EXPECT_TRUE(network->separable());
  Replica replica(network, SharedPart::all, torch::kCPU);
  initialise_uniform(replica, core::RandomStream(1, "weights"));
  const torch::Tensor none = torch::zeros({1, 4});
  replica.weights().zero_();
  EXPECT_TRUE(torch::equal((*network)(replica.leaves(), none, {}).flatten(),
                           torch::arange(4).to(torch::kFloat32)))
      << "its buffer begins as registered";
  initialise_uniform(replica, core::RandomStream(1, "weights"));
  const core::RandomStream random(1, "dropout", 3), next(1, "dropout", 4);
  const torch::Tensor rows = torch::ones({40, 4});
  const auto of = [&](const torch::Tensor& some, const Evaluation& evaluation) {
    return (*network)(replica.leaves(), some, evaluation);
  };
  const torch::Tensor whole = of(rows, {.training = &random});
  EXPECT_TRUE(torch::equal(of(rows.narrow(0, 30, 10), {.training = &random, .first_sample = 30}),
                           whole.narrow(0, 30, 10)));
  EXPECT_FALSE(torch::equal(of(rows, {.training = &next}), whole));
  EXPECT_TRUE(torch::equal(of(rows, {})[0], of(rows, {})[1])) << "a prediction leaves nothing out";
}

/// One trap each, by its number.
struct TrapImpl : t::Module {
  enum class Trap { frozen, half, unused, tied_by_assignment, narrow, counter, rows, shape };
  Trap trap;
  t::Linear first{nullptr}, second{nullptr};
  torch::Tensor extra;

  TrapImpl(Trap which, std::int64_t width) : trap(which) {
    first = register_module("first", t::Linear(width, width));
    second = register_module("second", t::Linear(width, width));
    if (trap == Trap::frozen) second->weight.requires_grad_(false);
    if (trap == Trap::half) second->to(torch::kFloat64);
    if (trap == Trap::tied_by_assignment) second->weight = first->weight;
    if (trap == Trap::counter) extra = register_buffer("extra", torch::zeros({1}, torch::kFloat64));
    if (trap == Trap::narrow)
      extra = register_parameter("extra", first->weight.detach().narrow(0, 0, 1));
  }
  torch::Tensor forward(const torch::Tensor& x) {
    if (trap == Trap::unused) return first->forward(x);
    if (trap == Trap::rows) return second->forward(first->forward(x)).sum(0);
    if (trap == Trap::shape) return second->forward(first->forward(x).reshape({-1, 3}));
    return second->forward(first->forward(x));
  }
};
TORCH_MODULE(Trap);

TEST(ModuleLayer, SaysWhatItCannotHave) {
  using Kind = TrapImpl::Trap;
  const auto says = [](Kind kind, const std::string& words) {
    const std::string line = refusal([kind](const Shape& input) { return Trap(kind, input[0]); });
    EXPECT_NE(line.find(words), std::string::npos) << line;
    EXPECT_NE(line.find("layers.0 (module)"), std::string::npos) << line;
    EXPECT_EQ(line.find('\n'), std::string::npos) << line;
  };
  says(Kind::frozen, "'second.weight' is frozen");
  says(Kind::half, "'second.weight' holds double");
  says(Kind::unused, "'second.weight' is registered, and its output does not depend on it");
  says(Kind::tied_by_assignment, "'second.weight' is registered, and its output does not depend");
  says(Kind::narrow, "'first.weight' looks into the memory of 'extra'");
  says(Kind::counter, "the buffer 'extra' holds double");
  says(Kind::rows, "needs a row for each");
  says(Kind::shape, "'tested' fails: ");
  EXPECT_NE(refusal([](const Shape&) {
              return t::Sequential(t::Linear(4, 4), t::Dropout(0.1));
            }).find("sagips::nn::dropout"),
            std::string::npos);
  EXPECT_NE(refusal([](const Shape&) {
              return t::Sequential(t::Linear(4, 4),
                                   t::BatchNorm1d(t::BatchNormOptions(4).momentum(c10::nullopt)));
            }).find("Give it a momentum"),
            std::string::npos);
  EXPECT_NE(message_of<core::ConfigError>([] {
              LayeredNetwork({LayerConfig::of("module")}, {4}, "layers");
            }).find("There is no module ''"),
            std::string::npos);
}

}  // namespace
}  // namespace sagips::nn

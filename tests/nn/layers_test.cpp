// Layers of a config against torch::nn with the same weights: outputs and gradients.
#include <gtest/gtest.h>
#include <torch/nn.h>

#include <algorithm>

#include "sagips/core/config/config.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/poll.hpp"
#include "sagips/nn/initialise.hpp"
#include "sagips/nn/kernel_function.hpp"
#include "sagips/nn/layers/layer_config.hpp"
#include "tests/core/message_of.hpp"

namespace sagips::nn {
namespace {

using testing::message_of;

TEST(Kernels, ShareTheirPiecesAmongLibTorchsThreads) {
  const int before = at::get_num_threads();
  at::set_num_threads(2);
  std::vector<int> thread_of(10, -1);
  share_pieces(10, 1, [&](std::int64_t first, std::int64_t last) {
    for (; first < last; ++first) thread_of[static_cast<std::size_t>(first)] = at::get_thread_num();
  });
  at::set_num_threads(before);
  EXPECT_EQ(thread_of, (std::vector{0, 0, 0, 0, 0, 1, 1, 1, 1, 1}));
}

struct Layers {
  std::vector<LayerConfig> layers{};
  void fields(core::FieldList& list) { list.list("layers", layers, LayerConfig::help()); }
};

LayeredNetwork network_of(const std::string& yaml, const Shape& input) {
  const Layers config = core::read_config(
      core::ConfigDocument::from_text("layers: [" + yaml + "]\n", "layers.yaml"), Layers{});
  return LayeredNetwork(config.layers, input, "layers");
}

double relative(const torch::Tensor& ours, const torch::Tensor& theirs) {
  EXPECT_EQ(ours.sizes(), theirs.sizes());
  return ((ours - theirs).norm() / (theirs.norm() + 1e-12)).item<double>();
}

/// A network with weights, and its input.
struct Drawn {
  LayeredNetwork network;
  Replica replica;
  torch::Tensor input;

  Drawn(const std::string& yaml, const Shape& shape, std::int64_t rows = 5)
      : network(network_of(yaml, shape)),
        replica(network.parameters(), SharedPart::all, torch::kCPU, network.buffers()) {
    initialise_uniform(replica, core::RandomStream(1, "weights"));
    Shape whole = shape;
    whole.insert(whole.begin(), rows);
    torch::manual_seed(3);
    input = torch::randn(whole);
  }
  torch::Tensor operator()(const torch::Tensor& rows, const Evaluation& evaluation = {}) const {
    return network(replica.leaves(), rows, evaluation);
  }
};

/// The largest relative distance between outputs and gradients of a squared sum, ours and a module's
/// with our weights.
double distance(Drawn& drawn, torch::nn::Module& module,
                const std::function<torch::Tensor(const torch::Tensor&)>& forward) {
  const std::vector<torch::Tensor> theirs = module.parameters();
  EXPECT_EQ(theirs.size(), drawn.replica.parameters().size());
  for (std::size_t i = 0; i < theirs.size(); ++i) {
    torch::NoGradGuard no_grad;
    theirs[i].copy_(drawn.replica.view(drawn.replica.weights(), i));
  }
  const core::RandomStream random(1, "nothing is drawn");
  const torch::Tensor ours_in = drawn.input.clone().requires_grad_(),
                      theirs_in = drawn.input.clone().requires_grad_();
  const torch::Tensor ours = drawn(ours_in, {.training = &random}), other = forward(theirs_in);
  ours.square().sum().backward();
  other.square().sum().backward();
  double worst = std::max(relative(ours, other), relative(ours_in.grad(), theirs_in.grad()));
  for (std::size_t i = 0; i < theirs.size(); ++i)
    worst = std::max(worst,
                     relative(drawn.replica.view(drawn.replica.gradients(), i), theirs[i].grad()));
  drawn.replica.check_views();
  return worst;
}

double distance(const std::string& yaml, const Shape& shape, torch::nn::Sequential sequence) {
  Drawn drawn(yaml, shape);
  return distance(drawn, *sequence, [&](const torch::Tensor& x) { return sequence->forward(x); });
}

TEST(Layers, AreThoseOfLibTorch) {
  namespace t = torch::nn;
  EXPECT_LT(distance("{dense: 7, activation: relu}, {dense: 3, bias: false}", {4},
                     t::Sequential(t::Linear(4, 7), t::ReLU(),
                                   t::Linear(t::LinearOptions(7, 3).bias(false)))),
            1e-6);
  EXPECT_LT(
      distance("{convolution: 6, kernel: [3, 2], stride: [2], padding: [1, 0], activation: "
               "elu}, {max_pooling: [2]}, {flatten: {}}, {dense: 3}",
               {2, 9, 8},
               t::Sequential(t::Conv2d(t::Conv2dOptions(2, 6, {3, 2}).stride(2).padding({1, 0})),
                             t::ELU(), t::MaxPool2d(2), t::Flatten(), t::Linear(24, 3))),
      1e-5);
  EXPECT_LT(distance("{convolution: 4, kernel: [3], activation: tanh}, {average_pooling: [2]}",
                     {3, 11}, t::Sequential(t::Conv1d(3, 4, 3), t::Tanh(), t::AvgPool1d(2))),
            1e-5);
  EXPECT_LT(
      distance("{convolution: 3, kernel: [2]}, {activation: sigmoid}, {max_pooling: [2, 1, 1]}",
               {1, 5, 4, 3},
               t::Sequential(t::Conv3d(1, 3, 2), t::Sigmoid(),
                             t::MaxPool3d(t::MaxPool3dOptions({2, 1, 1})))),
      1e-5);
  EXPECT_LT(
      distance("{reshape: [3, 2, 2]}, {transposed_convolution: 4, kernel: [3], stride: [2], "
               "padding: [1], output_padding: [1]}, {upsampling: [2, 3]}, {batch_norm: {}}",
               {12},
               t::Sequential(
                   t::Unflatten(t::UnflattenOptions(1, {3, 2, 2})),
                   t::ConvTranspose2d(
                       t::ConvTranspose2dOptions(3, 4, 3).stride(2).padding(1).output_padding(1)),
                   t::Upsample(t::UpsampleOptions()
                                   .scale_factor(std::vector<double>{2, 3})
                                   .mode(torch::kNearest)),
                   t::BatchNorm2d(4))),
      1e-5);
}

// Few channels and large planes: the kernels of our own.
TEST(Layers, ConvolveFewChannelsAsLibTorchDoes) {
  namespace t = torch::nn;
  const auto leaky = [](double slope) {
    return t::LeakyReLU(t::LeakyReLUOptions().negative_slope(slope));
  };
  const std::string yaml =
      "{convolution: 6, kernel: [3, 6, 4], padding: [1, 0, 2, 3, 0, 1], activation: leaky_relu, "
      "negative_slope: 0.3}, {convolution: 20, kernel: [2, 5, 7], activation: relu}, "
      "{convolution: 2, kernel: 3, activation: tanh}, {convolution: 1, kernel: 1, bias: false}";
  for (const int threads : {1, 3}) {
    const int before = at::get_num_threads();
    at::set_num_threads(threads);
    EXPECT_LT(
        distance(yaml, {2, 6, 30, 31},
                 t::Sequential(t::ConstantPad3d(t::ConstantPad3dOptions({0, 1, 2, 3, 1, 0}, 0)),
                               t::Conv3d(t::Conv3dOptions(2, 6, {3, 6, 4})), leaky(0.3),
                               t::Conv3d(t::Conv3dOptions(6, 20, {2, 5, 7})), t::ReLU(),
                               t::Conv3d(t::Conv3dOptions(20, 2, 3)), t::Tanh(),
                               t::Conv3d(t::Conv3dOptions(2, 1, 1).bias(false)))),
        1e-5);
    at::set_num_threads(before);
  }
  EXPECT_LT(distance("{convolution: 3, kernel: 5, padding: same}", {4, 900},
                     t::Sequential(t::Conv1d(t::Conv1dOptions(4, 3, 5).padding(2)))),
            1e-5);
  EXPECT_LT(distance("{convolution: 3, kernel: 5, padding: 4}", {4, 25, 20},
                     t::Sequential(t::Conv2d(t::Conv2dOptions(4, 3, 5).padding(4)))),
            1e-5);
}

TEST(Layers, PoolTheLargestAsLibTorchDoes) {
  namespace t = torch::nn;
  EXPECT_EQ(distance("{max_pooling: 3}", {4, 17}, t::Sequential(t::MaxPool1d(3))), 0);
  EXPECT_EQ(distance("{max_pooling: 2}", {3, 9, 40}, t::Sequential(t::MaxPool2d(2))), 0);
  EXPECT_EQ(distance("{max_pooling: [3, 2]}", {3, 9, 40},
                     t::Sequential(t::MaxPool2d(t::MaxPool2dOptions({3, 2})))),
            0);
  EXPECT_EQ(distance("{max_pooling: [1, 2, 2]}", {2, 3, 4, 7},
                     t::Sequential(t::MaxPool3d(t::MaxPool3dOptions({1, 2, 2})))),
            0);
  // equal numbers: the first one has the gradient; and channels that are last
  for (const Shape& shape : {Shape{20, 6, 7}, Shape{20, 6, 11}}) {
    Drawn drawn("{max_pooling: 2}", shape);
    const auto slopes = [](const torch::Tensor& rows, auto pool) {
      const torch::Tensor input = rows.clone().requires_grad_();
      pool(input).square().sum().backward();
      return input.grad().clone();
    };
    const torch::Tensor few = drawn.input.sign(),
                        last = few.contiguous(at::MemoryFormat::ChannelsLast);
    for (const torch::Tensor& rows : {few, last})
      EXPECT_TRUE(torch::equal(
          slopes(rows, [&](const torch::Tensor& x) { return drawn(x); }),
          slopes(few, [](const torch::Tensor& x) { return torch::max_pool2d(x, 2); })));
  }
}

// A box with NaN is NaN, and the last of these has its gradient.
TEST(Layers, PoolNaNAsLibTorchDoes) {
  const auto pooled = [](const torch::Tensor& rows, auto pool) {
    const torch::Tensor input = rows.detach().clone().requires_grad_(), output = pool(input);
    output.backward(torch::arange(1., output.numel() + 1, torch::kFloat32).reshape_as(output));
    return std::pair(output.detach().nan_to_num(1e6), input.grad().clone());
  };
  torch::manual_seed(5);
  for (const auto& [layer, box] :
       {std::pair("{max_pooling: 2}", std::vector<std::int64_t>{2, 2}),
        std::pair("{max_pooling: [3, 2]}", std::vector<std::int64_t>{3, 2})})
    for (const std::int64_t width : {7, 11}) {
      Drawn drawn(layer, {20, 6, width});
      torch::Tensor rows = drawn.input.clone();
      rows.masked_fill_(torch::rand_like(rows) < 0.1, std::nanf(""));
      const auto wanted = pooled(
          rows, [&, &box = box](const torch::Tensor& x) { return torch::max_pool2d(x, box); });
      ASSERT_TRUE(wanted.first.eq(1e6).any().item<bool>());
      for (const torch::Tensor& own : {rows, rows.contiguous(at::MemoryFormat::ChannelsLast)}) {
        const auto found = pooled(own, [&](const torch::Tensor& x) { return drawn(x); });
        EXPECT_TRUE(torch::equal(found.first, wanted.first)) << layer << width;
        EXPECT_TRUE(torch::equal(found.second, wanted.second)) << layer << width;
      }
    }
}

TEST(Layers, LeaveOutTheSameOnTheWayBack) {
  const core::RandomStream random(3, "dropout");
  const auto dropout = network_of("{dropout: 0.25}", {5, 70});
  for (const auto type : {torch::kFloat32, torch::kFloat64}) {
    // no part of memory is read as it lies: both ways are turned around
    const torch::Tensor input =
        torch::rand({3, 70, 5}, type).add(0.5).transpose(1, 2).requires_grad_();
    Leaves none;
    const torch::Tensor output = dropout(none, input, {.training = &random, .first_sample = 4}),
                        weights = torch::rand({3, 70, 5}, type).transpose(1, 2);
    (output * weights).sum().backward();
    const torch::Tensor factor = torch::where(output == 0, 0.0, 1 / 0.75).to(type);
    EXPECT_TRUE(torch::allclose(output, input * factor, 1e-6, 0));
    EXPECT_TRUE(torch::allclose(input.grad(), weights * factor, 1e-6, 0));
    // differentiated again, as penalties of gradients are
    const torch::Tensor slope = torch::autograd::grad(
        {dropout(none, input, {.training = &random, .first_sample = 4}).square().sum()}, {input},
        {}, true, true)[0];
    EXPECT_TRUE(torch::allclose(torch::autograd::grad({slope.sum()}, {input})[0],
                                2 * factor * factor, 1e-6, 0));
    const double kept = (output != 0).to(torch::kFloat64).mean().item<double>();
    EXPECT_NEAR(kept, 0.75, 4.5 * std::sqrt(0.75 * 0.25 / 1050));  // 1 in 150,000
  }
}

// Many channels: tiles, channels last.
TEST(Layers, ConvolveManyChannelsAsLibTorchDoes) {
  namespace t = torch::nn;
  const std::string yaml =
      "{convolution: 40, kernel: 3, padding: [1, 1], activation: relu}, {max_pooling: 2}, "
      "{convolution: 17, kernel: 3, padding: [2, 0, 1, 2], bias: false}, {batch_norm: {}}, "
      "{convolution: 33, kernel: 4, activation: leaky_relu, negative_slope: 0.1}, "
      "{convolution: 16, kernel: 2, activation: elu}, {convolution: 20, kernel: 5, padding: same}";
  for (const int threads : {1, 3}) {
    const int before = at::get_num_threads();
    at::set_num_threads(threads);
    EXPECT_LT(distance(yaml, {24, 30, 34},
                       t::Sequential(t::Conv2d(t::Conv2dOptions(24, 40, 3).padding(1)), t::ReLU(),
                                     t::MaxPool2d(2),
                                     t::ConstantPad2d(t::ConstantPad2dOptions({1, 2, 2, 0}, 0)),
                                     t::Conv2d(t::Conv2dOptions(40, 17, 3).bias(false)),
                                     t::BatchNorm2d(17), t::Conv2d(t::Conv2dOptions(17, 33, 4)),
                                     t::LeakyReLU(t::LeakyReLUOptions().negative_slope(0.1)),
                                     t::Conv2d(t::Conv2dOptions(33, 16, 2)), t::ELU(),
                                     t::Conv2d(t::Conv2dOptions(16, 20, 5).padding(2)))),
              1e-5);
    at::set_num_threads(before);
  }
  Drawn drawn("{convolution: 16, kernel: 3}", {16, 8, 8});
  EXPECT_TRUE(drawn(drawn.input).is_contiguous());
}

TEST(Layers, ConvolveRepeatedNumbersAsLibTorchDoes) {
  namespace t = torch::nn;
  const auto repeated = [](std::vector<double> factors) {
    return t::Upsample(t::UpsampleOptions().scale_factor(std::move(factors)).mode(torch::kNearest));
  };
  EXPECT_LT(distance("{upsampling: 6}, {convolution: 5, kernel: [6, 6, 8], activation: relu}",
                     {3, 2, 3, 4},
                     t::Sequential(repeated({6, 6, 6}),
                                   t::Conv3d(t::Conv3dOptions(3, 5, {6, 6, 8})), t::ReLU())),
            1e-5);
  EXPECT_LT(
      distance(
          "{upsampling: [2, 3]}, {convolution: 5, kernel: [3, 1], bias: false}", {3, 7, 4},
          t::Sequential(repeated({2, 3}), t::Conv2d(t::Conv2dOptions(3, 5, {3, 1}).bias(false)))),
      1e-5);
  EXPECT_LT(distance("{upsampling: 4}, {convolution: 2, kernel: 9, activation: elu}", {3, 5},
                     t::Sequential(repeated({4}), t::Conv1d(t::Conv1dOptions(3, 2, 9)), t::ELU())),
            1e-5);
  // with zeros around it, numbers are repeated
  EXPECT_LT(
      distance("{upsampling: 2}, {convolution: 5, kernel: 3, padding: same}", {3, 7, 4},
               t::Sequential(repeated({2, 2}), t::Conv2d(t::Conv2dOptions(3, 5, 3).padding(1)))),
      1e-5);
}

TEST(Layers, ConvolveInDoublePrecisionAndSayWhereSecondDerivativesEnd) {
  Drawn drawn("{convolution: 2, kernel: 3}", {3, 22, 22});
  const torch::Tensor input = drawn.input.clone().requires_grad_();
  const torch::Tensor slopes =
      torch::autograd::grad({drawn(input).square().sum()}, {input}, {}, true)[0];
  EXPECT_EQ(slopes.sizes(), input.sizes());
  EXPECT_EQ(message_of<core::Error>([&] {
              torch::autograd::grad({drawn(input).square().sum()}, {input}, {}, true, true);
            }),
            "a gradient through a direct convolution cannot be differentiated again.");
  EXPECT_EQ(drawn
                .network(drawn.replica.leaves_over(drawn.replica.weights().to(torch::kFloat64)),
                         drawn.input.to(torch::kFloat64), {})
                .scalar_type(),
            torch::kFloat64);
}

// Other numbers, and no rows at all, go through the layers that have kernels of our own.
TEST(Layers, ConvolveInDoublePrecisionAndNoRows) {
  for (const char* yaml :
       {"{convolution: 2, kernel: 3}", "{upsampling: 3}, {convolution: 2, kernel: 4}",
        "{convolution: 20, kernel: 3}, {max_pooling: 2}"}) {
    SCOPED_TRACE(yaml);
    Drawn drawn(yaml, {16, 22, 22});
    const torch::Tensor in_float = drawn(drawn.input);
    const Leaves leaves = drawn.replica.leaves_over(drawn.replica.weights().to(torch::kFloat64));
    const torch::Tensor in_double = drawn.network(leaves, drawn.input.to(torch::kFloat64), {});
    EXPECT_EQ(in_double.scalar_type(), torch::kFloat64);
    EXPECT_LT(relative(in_float.to(torch::kFloat64), in_double), 1e-5);
    Shape none = in_float.sizes().vec();
    none[0] = 0;
    EXPECT_EQ(drawn(drawn.input.narrow(0, 0, 0)).sizes().vec(), none);
  }
}

TEST(Layers, HaveThePaddingDilationAndGroupsOfLibTorch) {
  namespace t = torch::nn;
  EXPECT_LT(distance("{convolution: 4, kernel: [3, 2], padding: [2, 0, 0, 1]}", {2, 5, 6},
                     t::Sequential(t::ConstantPad2d(t::ConstantPad2dOptions({0, 1, 2, 0}, 0)),
                                   t::Conv2d(t::Conv2dOptions(2, 4, {3, 2})))),
            1e-5);
  EXPECT_LT(distance("{convolution: 3, kernel: 4, padding: [1, 2]}", {2, 7},
                     t::Sequential(t::ConstantPad1d(t::ConstantPad1dOptions({1, 2}, 0)),
                                   t::Conv1d(t::Conv1dOptions(2, 3, 4)))),
            1e-5);
  EXPECT_LT(
      distance("{convolution: 3, kernel: [6, 3, 2], padding: same}", {1, 7, 5, 4},
               t::Sequential(t::Conv3d(t::Conv3dOptions(1, 3, {6, 3, 2}).padding(torch::kSame)))),
      1e-5);
  EXPECT_LT(
      distance("{convolution: 8, kernel: 3, dilation: 2, groups: 2, padding: same}, "
               "{convolution: 8, kernel: [3, 1], groups: 8, bias: false}",
               {4, 9, 8},
               t::Sequential(
                   t::Conv2d(t::Conv2dOptions(4, 8, 3).dilation(2).groups(2).padding(torch::kSame)),
                   t::Conv2d(t::Conv2dOptions(8, 8, {3, 1}).groups(8).bias(false)))),
      1e-5);
  EXPECT_LT(distance("{transposed_convolution: 6, kernel: 3, stride: 2, padding: 1, dilation: 2, "
                     "groups: 2, output_padding: 1}",
                     {4, 5},
                     t::Sequential(t::ConvTranspose1d(t::ConvTranspose1dOptions(4, 6, 3)
                                                          .stride(2)
                                                          .padding(1)
                                                          .dilation(2)
                                                          .groups(2)
                                                          .output_padding(1)))),
            1e-5);
}

// TensorFlow's rule: ceil(length / stride) places, an odd zero behind.
TEST(Layers, AreAsLongAsTheirInputOverTheStrideWhereThePaddingIsSame) {
  namespace t = torch::nn;
  EXPECT_LT(distance("{convolution: 2, kernel: 3, stride: 2, padding: same}", {1, 8},
                     t::Sequential(t::ConstantPad1d(t::ConstantPad1dOptions({0, 1}, 0)),
                                   t::Conv1d(t::Conv1dOptions(1, 2, 3).stride(2)))),
            1e-5);
  EXPECT_EQ(network_of("{convolution: 2, kernel: 3, stride: 2, padding: same}", {1, 8, 7}).output(),
            (Shape{2, 4, 4}));
  EXPECT_EQ(network_of("{convolution: 2, kernel: 1, stride: 3, padding: same}", {1, 8}).output(),
            (Shape{2, 3}));
}

TEST(Layers, HaveTheSlopesAndLayerNormsOfLibTorch) {
  namespace t = torch::nn;
  EXPECT_LT(
      distance(
          "{dense: 7, activation: leaky_relu, negative_slope: 0.3}, {activation: leaky_relu}, "
          "{layer_norm: {}}",
          {4},
          t::Sequential(t::Linear(4, 7), t::LeakyReLU(t::LeakyReLUOptions().negative_slope(0.3)),
                        t::LeakyReLU(t::LeakyReLUOptions().negative_slope(0.2)),
                        t::LayerNorm(t::LayerNormOptions({7})))),
      1e-5);
  EXPECT_LT(distance("{layer_norm: {dimensions: 2, epsilon: 0.1}}", {3, 4, 5},
                     t::Sequential(t::LayerNorm(t::LayerNormOptions({4, 5}).eps(0.1)))),
            1e-5);
}

TEST(Layers, HaveTheEmbeddingOfLibTorch) {
  Drawn drawn("{embedding: 3, numbers: 7}, {flatten: {}}, {dense: 2}", {4});
  const torch::Tensor numbers = torch::randint(0, 7, {5, 4}, torch::kInt64);
  torch::nn::Sequential peer(torch::nn::Embedding(7, 3), torch::nn::Flatten(),
                             torch::nn::Linear(12, 2));
  const auto theirs = peer->parameters();
  for (std::size_t i = 0; i < theirs.size(); ++i) {
    torch::NoGradGuard no_grad;
    theirs[i].copy_(drawn.replica.view(drawn.replica.weights(), i));
  }
  const torch::Tensor ours = drawn(numbers.to(torch::kFloat32)), other = peer->forward(numbers);
  EXPECT_LT(relative(ours, other), 1e-6);
  ours.square().sum().backward();
  other.square().sum().backward();
  EXPECT_LT(relative(drawn.replica.view(drawn.replica.gradients(), 0), theirs[0].grad()), 1e-5);
  for (const float wrong : {7.0F, -1.0F, 0.5F})
    EXPECT_NE(message_of<core::DataError>([&] {
                drawn(torch::full({1, 4}, wrong));
              }).find("whole numbers from 0 to 6"),
              std::string::npos)
        << wrong;
}

// Variances as their papers have them, over 40,000 numbers: within five of their standard errors.
TEST(Layers, BeginAtNamedInitialValues) {
  const auto weights_of = [](const std::string& name) {
    Drawn drawn("{dense: 100, initial: " + name +
                    "}, {reshape: [4, 5, 5]}, {convolution: 8, "
                    "kernel: 3, groups: 2, initial: " +
                    name + "}",
                {400});
    for (const std::size_t bias : {1, 3})
      EXPECT_EQ(drawn.replica.view(drawn.replica.weights(), bias).abs().max().item<float>(), 0);
    return std::pair(drawn.replica.view(drawn.replica.weights(), 0).clone(),
                     drawn.replica.view(drawn.replica.weights(), 2).clone());
  };
  struct Expected {
    const char* name;
    double dense, convolution, most;  // variances, and the largest number in deviations
  };
  for (const Expected& expected :
       {Expected{"glorot_uniform", 2.0 / 500, 2.0 / (18 + 72), std::sqrt(3)},
        Expected{"glorot_normal", 2.0 / 500, 2.0 / (18 + 72), 2 / 0.8796},
        Expected{"he_uniform", 2.0 / 400, 2.0 / 18, std::sqrt(3)},
        Expected{"he_normal", 2.0 / 400, 2.0 / 18, 2 / 0.8796},
        Expected{"lecun_uniform", 1.0 / 400, 1.0 / 18, std::sqrt(3)},
        Expected{"lecun_normal", 1.0 / 400, 1.0 / 18, 2 / 0.8796},
        Expected{"xavier_uniform", 2.0 / 500, 2.0 / (18 + 72), std::sqrt(3)},
        Expected{"xavier_normal", 2.0 / 500, 2.0 / (18 + 72), 6},
        Expected{"kaiming_uniform", 2.0 / 400, 2.0 / 18, std::sqrt(3)},
        Expected{"kaiming_normal", 2.0 / 400, 2.0 / 18, 6}}) {
    const auto [dense, convolution] = weights_of(expected.name);
    const double found = dense.square().mean().item<double>();
    EXPECT_NEAR(found / expected.dense, 1, 5 * std::sqrt(2.0 / 40'000)) << expected.name;
    EXPECT_NEAR(convolution.square().mean().item<double>() / expected.convolution, 1,
                5 * std::sqrt(2.0 / 144))
        << expected.name;
    const double most = dense.abs().max().item<double>() / std::sqrt(expected.dense);
    EXPECT_LE(most, expected.most * 1.0001) << expected.name;
    EXPECT_GT(most, std::min(expected.most, 3.5) * 0.98) << expected.name;
  }
}

template <class Module>
double recurrent_distance(const std::string& yaml, Module module, bool sequences) {
  Drawn drawn(yaml, {6, 3});
  return distance(drawn, *module, [&](const torch::Tensor& x) {
    const torch::Tensor outputs = std::get<0>(module->forward(x));
    return sequences ? outputs : outputs.select(1, -1);
  });
}

TEST(Layers, HaveTheRecurrentOnesOfLibTorch) {
  namespace t = torch::nn;
  EXPECT_LT(recurrent_distance("{gru: 4}", t::GRU(t::GRUOptions(3, 4).batch_first(true)), false),
            1e-5);
  EXPECT_LT(recurrent_distance("{lstm: 4, sequences: true}",
                               t::LSTM(t::LSTMOptions(3, 4).batch_first(true)), true),
            1e-5);
  EXPECT_LT(recurrent_distance("{rnn: 4}", t::RNN(t::RNNOptions(3, 4).batch_first(true)), false),
            1e-5);
  EXPECT_LT(
      recurrent_distance("{gru: 4, bidirectional: true, sequences: true}",
                         t::GRU(t::GRUOptions(3, 4).batch_first(true).bidirectional(true)), true),
      1e-5);
  Drawn both("{lstm: 4, bidirectional: true}", {6, 3});
  t::LSTM peer(t::LSTMOptions(3, 4).batch_first(true).bidirectional(true));
  EXPECT_LT(distance(both, *peer,
                     [&](const torch::Tensor& x) {  // the last state in each direction
                       const torch::Tensor states =
                           std::get<0>(std::get<1>(peer->forward(x)));  // [2, rows, units]
                       return torch::cat({states[0], states[1]}, 1);
                     }),
            1e-5);
}

// Equations (5) to (8) of Cho et al., EMNLP 2014, row by row; PyTorch's names of the gates.
torch::Tensor gru_of_cho(const std::vector<torch::Tensor>& weights, const torch::Tensor& x) {
  std::vector<torch::Tensor> rows;
  for (std::int64_t row = 0; row < x.size(0); ++row) {
    torch::Tensor h = torch::zeros({4});
    for (std::int64_t step = 0; step < x.size(1); ++step) {
      const auto in = [&](std::int64_t gate) {
        return weights[0].slice(0, 4 * gate, 4 * gate + 4).mv(x[row][step]) +
               weights[2].slice(0, 4 * gate, 4 * gate + 4);
      };
      const auto of = [&](const torch::Tensor& state, std::int64_t gate) {
        return weights[1].slice(0, 4 * gate, 4 * gate + 4).mv(state) +
               weights[3].slice(0, 4 * gate, 4 * gate + 4);
      };
      const torch::Tensor reset = torch::sigmoid(in(0) + of(h, 0)),
                          update = torch::sigmoid(in(1) + of(h, 1)),
                          proposed = torch::tanh(in(2) + of(reset * h, 2));
      h = update * h + (1 - update) * proposed;
    }
    rows.push_back(h);
  }
  return torch::stack(rows);
}

TEST(Layers, HaveThePublishedVariantsOfRecurrentOnes) {
  namespace t = torch::nn;
  Drawn drawn("{gru: 4, reset_after: false}", {6, 3});
  t::GRU holder(t::GRUOptions(3, 4));
  EXPECT_LT(distance(drawn, *holder,
                     [&](const torch::Tensor& x) { return gru_of_cho(holder->parameters(), x); }),
            1e-5);
  Drawn both("{gru: 4, reset_after: false, bidirectional: true}", {6, 3});
  t::GRU two(t::GRUOptions(3, 4).bidirectional(true));
  EXPECT_LT(distance(both, *two,
                     [&](const torch::Tensor& x) {
                       const auto all = two->parameters();
                       return torch::cat({gru_of_cho({all.begin(), all.begin() + 4}, x),
                                          gru_of_cho({all.begin() + 4, all.end()}, x.flip(1))},
                                         1);
                     }),
            1e-5);
  // Keras' one bias: PyTorch's with zeros for the other
  for (const std::string layer :
       {"gru: 4", "gru: 4, reset_after: false", "lstm: 4, bidirectional: true", "rnn: 4"}) {
    Drawn one("{" + layer + ", hidden_bias: false}", {6, 3}), pair("{" + layer + "}", {6, 3});
    const auto count = pair.replica.parameters().size();
    ASSERT_EQ(one.replica.parameters().size() * 4, count * 3);
    for (std::size_t i = 0, next = 0; i < count; ++i) {
      torch::Tensor weight = pair.replica.view(pair.replica.weights(), i);
      if (i % 4 == 3)
        weight.zero_();
      else
        weight.copy_(one.replica.view(one.replica.weights(), next++));
    }
    EXPECT_LT(relative(one(one.input), pair(one.input)), 1e-6) << layer;
  }
  Drawn keras("{lstm: 2, forget_bias: 1, hidden_bias: false, bidirectional: true}", {6, 3});
  for (const std::size_t i : {2, 5})
    EXPECT_TRUE(torch::equal(keras.replica.view(keras.replica.weights(), i),
                             torch::tensor({0, 0, 1, 1, 0, 0, 0, 0}, torch::kFloat32)));
  Drawn biased("{lstm: 2, forget_bias: 1}", {6, 3});
  const auto view = [&](std::size_t i) { return biased.replica.view(biased.replica.weights(), i); };
  EXPECT_TRUE(torch::equal(view(2), torch::tensor({0, 0, 1, 1, 0, 0, 0, 0}, torch::kFloat32)));
  EXPECT_TRUE(torch::equal(view(3), torch::zeros({8})));
  EXPECT_GT(view(0).abs().min().item<float>(), 0);
}

TEST(Layers, BatchNormPredictsFromItsRunningStatistics) {
  Drawn drawn("{batch_norm: {momentum: 0.5}}", {2}, 100);
  EXPECT_FALSE(drawn.network.separable());
  torch::nn::BatchNorm1d peer(torch::nn::BatchNorm1dOptions(2).momentum(0.5));
  const core::RandomStream random(1, "nothing is drawn");
  for (int step = 0; step < 3; ++step) {
    drawn(drawn.input + step, {.training = &random});
    peer->forward(drawn.input + step);
  }
  peer->eval();
  EXPECT_LT(relative(drawn(drawn.input), peer->forward(drawn.input)), 1e-6);
  EXPECT_EQ(give_state(drawn.replica).at("buffers").numel(), 4) << "a checkpoint holds them";
}

// Random numbers belong to a sample of the batch of all ranks: whoever evaluates it, in whatever tile.
TEST(Layers, DropoutDependsOnTheSampleAlone) {
  Drawn drawn("{dropout: 0.25}, {dropout: 0.5}", {50}, 40);
  const core::RandomStream random(1, "dropout", 3), next(1, "dropout", 4);
  const torch::Tensor ones = torch::ones({40, 50});
  const torch::Tensor whole = drawn(ones, {.training = &random});
  const torch::Tensor part =
      drawn(ones.narrow(0, 0, 10), {.training = &random, .first_sample = 30});
  EXPECT_TRUE(torch::equal(part, whole.narrow(0, 30, 10)));
  EXPECT_FALSE(torch::equal(drawn(ones, {.training = &next}), whole));
  EXPECT_TRUE(torch::equal(drawn(ones), ones)) << "a prediction leaves nothing out";
  // 2,000 numbers, kept with 0.375: five standard deviations, a false alarm of 6e-7
  EXPECT_NEAR((whole > 0).to(torch::kFloat32).mean().item<double>(), 0.375, 5 * 0.0108);
  EXPECT_NEAR(whole.max().item<double>(), 1 / 0.375, 1e-5);
}

// Numbers of NNLO's networks, ../facts: 600,810 and 21,840.
TEST(Layers, CountWeightsAndOperations) {
  const LayeredNetwork keras = network_of(
      "{convolution: 32, kernel: [3], activation: relu}, {convolution: 32, kernel: [3], "
      "activation: "
      "relu}, {max_pooling: [2]}, {dropout: 0.25}, {flatten: {}}, {dense: 128, activation: relu}, "
      "{dropout: 0.5}, {dense: 10}",
      {1, 28, 28});
  const LayeredNetwork torch_like = network_of(
      "{convolution: 10, kernel: [5]}, {max_pooling: [2]}, {activation: relu}, {convolution: 20, "
      "kernel: [5]}, {dropout: 0.5}, {max_pooling: [2]}, {activation: relu}, {flatten: {}}, "
      "{dense: 50, activation: relu}, {dropout: 0.5}, {dense: 10}",
      {1, 28, 28});
  const auto weights = [](const LayeredNetwork& network) {
    std::int64_t sum = 0;
    for (const LayerSummary& layer : network.layers()) sum += layer.weights;
    return sum;
  };
  EXPECT_EQ(weights(keras), 600'810);
  EXPECT_EQ(weights(torch_like), 21'840);
  EXPECT_EQ(keras.layers()[1].operations, 32 * 24 * 24 * 32 * 9);
  EXPECT_EQ(keras.layers()[1].output, (Shape{32, 24, 24}));
  EXPECT_EQ(keras.output(), Shape{10});
}

TEST(Layers, SayWhichOneDoesNotFit) {
  const auto refusal = [](const std::string& yaml, const Shape& input) {
    return message_of<core::ConfigError>([&] { network_of(yaml, input); });
  };
  EXPECT_NE(refusal("{flatten: {}}, {convolution: 3}", {1, 8, 8}).find("layers.1 (convolution)"),
            std::string::npos);
  EXPECT_NE(refusal("{convolution: 3, kernel: [9]}", {1, 8, 8}).find("wider than its input"),
            std::string::npos);
  EXPECT_NE(refusal("{reshape: [3, 3]}", {8}).find("Its input is 8"), std::string::npos);
  EXPECT_NE(refusal("{convolution: 3, kernel: [3, 3, 3]}", {1, 8, 8}).find("kernel has 3 numbers"),
            std::string::npos);
  EXPECT_NE(refusal("{gru: 3}", {8}).find("[steps, features]"), std::string::npos);
  EXPECT_NE(refusal("{convolution: 4, groups: 2}", {3, 8}).find("does not divide 3 and 4 channels"),
            std::string::npos);
  EXPECT_NE(
      refusal("{convolution: 4, padding: [1, 2, 3]}", {3, 8, 8}).find("padding has 3 numbers"),
      std::string::npos);
  EXPECT_NE(refusal("{convolution: 4, padding: sane}", {3, 8, 8}).find("padding"),
            std::string::npos);
  EXPECT_NE(refusal("{dense: 4, activation: relu, negative_slope: 0.3}", {8}).find("has no effect"),
            std::string::npos);
  EXPECT_NE(refusal("{layer_norm: {dimensions: 2}}", {8}).find("dimensions is 2"),
            std::string::npos);
  EXPECT_NE(refusal("{convolutoin: 3}", {1, 8, 8}).find("convolution"), std::string::npos);
  EXPECT_NE(refusal("", {8}).find("is empty"), std::string::npos);
}

// Each with weights of its own; none at all where it is repeated no times.
TEST(Layers, MayBeRepeated) {
  const LayeredNetwork repeated = network_of(
      "{dense: 6, activation: tanh, repeat: 3}, {dropout: 0.5, repeat: 0}, {dense: 2}", {4});
  const LayeredNetwork listed = network_of(
      "{dense: 6, activation: tanh}, {dense: 6, activation: tanh}, {dense: 6, activation: tanh}, "
      "{dense: 2}",
      {4});
  ASSERT_EQ(repeated.layers().size(), listed.layers().size());
  ASSERT_EQ(repeated.parameters().size(), listed.parameters().size());
  for (std::size_t i = 0; i < listed.parameters().size(); ++i) {
    EXPECT_EQ(repeated.parameters()[i].name, listed.parameters()[i].name);
    EXPECT_EQ(repeated.parameters()[i].shape, listed.parameters()[i].shape);
  }
  EXPECT_NE(message_of<core::ConfigError>([] {
              network_of("{dense: 6, repeat: 0}", {4});
            }).find("leaves all its layers out"),
            std::string::npos);
}

// Between layers, both ways; how often is a matter of the clock.
TEST(LayeredNetwork, PollsForwardAndBackward) {
  Drawn drawn("{dense: 6, activation: relu}, {batch_norm: {}}, {dense: 2}", {3});
  int polls = 0;
  const std::function<void()> count = [&] { ++polls; };
  const core::PollScope scope(count);
  while (polls < 2) drawn(drawn.input);
  const core::RandomStream random(1, "nothing is drawn");
  int backward = 0;
  const std::function<void()> count_backward = [&] { ++backward; };
  while (backward == 0) {
    const torch::Tensor output = drawn(drawn.input, {.training = &random});
    const core::PollScope on_the_way_back(count_backward);
    output.sum().backward();
  }
}

}  // namespace
}  // namespace sagips::nn

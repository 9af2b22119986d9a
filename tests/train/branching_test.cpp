// Networks that branch, with several inputs and outputs by name, as they learn: against the same networks in
// TorchScript.
#include <gtest/gtest.h>
#include <torch/script.h>

#include <cmath>

#include "sagips/core/error.hpp"
#include "sagips/nn/layers/layer_config.hpp"
#include "sagips/optim/learn/metrics.hpp"
#include "sagips/optim/learn/supervised.hpp"
#include "sagips/train/loop.hpp"
#include "tests/core/message_of.hpp"

namespace sagips::train::branching {
namespace {

using data::Examples;
using optim::Supervised;
using testing::message_of;

struct NetworkAndLoss {
  std::vector<nn::LayerConfig> layers{};
  optim::SupervisedConfig learner{};
  void fields(core::FieldList& list) {
    list.list("layers", layers, nn::LayerConfig::help());
    learner.fields(list);
  }
};

NetworkAndLoss config_of(const std::string& yaml) {
  return core::read_config(core::ConfigDocument::from_text(yaml, "network.yaml"), NetworkAndLoss{});
}

std::unique_ptr<Supervised> learner_of(const std::string& yaml, const Examples& examples,
                                       bool standardises = false) {
  const NetworkAndLoss config = config_of(yaml);
  data::ExampleRowsPtr rows = data::hold(examples);
  if (!config.learner.heads.empty())
    rows = optim::with_targets_of(config.learner.heads, rows, "data.targets");
  const auto network = std::make_shared<nn::LayeredNetwork>(
      optim::with_heads(config.layers, config.learner.heads), nn::shape_of_rows(examples.inputs),
      "network.layers", examples.input_tensors());
  return std::make_unique<Supervised>(
      config.learner, std::vector<optim::NetworkPart>{{.network = network}}, rows, 1, torch::kCPU,
      problem::RankPlace{}, optim::statistics_of(config.learner.heads, rows, false, standardises));
}

/// The largest relative distance of gradients of one batch of all rows, in tiles and threads, from those of a
/// module of PyTorch's language, whose weights p0, p1, ... are ours in our order.
double distance(const std::string& yaml, const Examples& examples, const std::string& forward,
                const std::function<torch::Tensor(torch::jit::Module& peer)>& loss) {
  double worst = 0;
  for (const int threads : {1, 2, 4})
    for (const std::int64_t tile : {0, 7}) {
      const auto learner = learner_of(yaml, examples);
      nn::Replica& replica = learner->replica();
      torch::jit::Module peer("Net");
      const std::size_t count = replica.parameters().size();
      for (std::size_t i = 0; i < count; ++i)
        peer.register_parameter("p" + std::to_string(i),
                                replica.view(replica.weights(), i).clone().requires_grad_(), false);
      peer.define(forward);
      loss(peer).backward();
      const auto batch = learner->draw(1);
      Engine({.tile_samples = tile, .threads = threads})
          .gradients(learner->passes()[0], learner->steps(), *batch, {});
      for (std::size_t i = 0; i < count; ++i) {
        const torch::Tensor theirs = peer.attr("p" + std::to_string(i)).toTensor().grad();
        worst =
            std::max(worst, ((replica.view(replica.gradients(), i) - theirs).norm() / theirs.norm())
                                .item<double>());
      }
    }
  return worst;
}

torch::Tensor called(torch::jit::Module& peer, const std::vector<torch::jit::IValue>& inputs) {
  return peer.forward(inputs).toTensor();
}

TEST(Branching, ResidualNetworksLearnAsInPyTorch) {
  torch::manual_seed(1);
  const Examples examples{torch::rand({40, 1, 8, 8}), torch::randint(0, 10, {40}, torch::kInt64)};
  EXPECT_LT(distance(R"(
layers:
  - {convolution: 8, kernel: 3, padding: same, activation: relu}
  - residual: [{convolution: 8, kernel: 3, padding: same, activation: relu}, {convolution: 8, kernel: 3, padding: same}]
  - {activation: relu}
  - residual: [{convolution: 16, kernel: 3, stride: 2, padding: 1}]
    shortcut: [{convolution: 16, kernel: 1, stride: 2}]
  - {flatten: {}}
  - {dense: 10}
batch: 40
)",
                     examples, R"(
def forward(self, x: Tensor) -> Tensor:
    x = torch.relu(torch.conv2d(x, self.p0, self.p1, [1, 1], [1, 1]))
    y = torch.relu(torch.conv2d(x, self.p2, self.p3, [1, 1], [1, 1]))
    x = torch.relu(x + torch.conv2d(y, self.p4, self.p5, [1, 1], [1, 1]))
    x = torch.conv2d(x, self.p6, self.p7, [2, 2], [1, 1]) + torch.conv2d(x, self.p8, self.p9, [2, 2])
    return torch.linear(torch.flatten(x, 1), self.p10, self.p11)
)",
                     [&](torch::jit::Module& peer) {
                       return torch::cross_entropy_loss(called(peer, {examples.inputs}),
                                                        examples.targets);
                     }),
            1e-5);
}

TEST(Branching, NetworksOfTwoInputsLearnAsInPyTorch) {
  torch::manual_seed(1);
  const torch::Tensor image = torch::rand({40, 1, 8, 8}), numbers = torch::randn({40, 3});
  Examples examples = data::named_examples({{"image", image}, {"numbers", numbers}}, {});
  examples.targets = torch::randn({40, 2});
  EXPECT_LT(distance(R"(
layers:
  - branches:
      image: {layers: [{convolution: 4, kernel: 3, stride: 2, activation: relu}, {flatten: {}}]}
      numbers: {layers: [{dense: 5, activation: tanh}]}
  - {dense: 2}
loss: mean_square
batch: 40
)",
                     examples, R"(
def forward(self, image: Tensor, numbers: Tensor) -> Tensor:
    x = torch.relu(torch.conv2d(image, self.p0, self.p1, [2, 2])).flatten(1)
    y = torch.tanh(torch.linear(numbers, self.p2, self.p3))
    return torch.linear(torch.cat([x, y], 1), self.p4, self.p5)
)",
                     [&](torch::jit::Module& peer) {
                       return torch::mse_loss(called(peer, {image, numbers}), examples.targets);
                     }),
            1e-5);
}

/// Points of the plane with the sector that they lie in, their distance from the middle, and another number.
Examples sectors_and_distances(std::int64_t rows) {
  torch::manual_seed(1);
  const torch::Tensor points = torch::randn({rows, 2});
  const torch::Tensor angle = torch::atan2(points.select(1, 0), points.select(1, 1)),
                      distance = points.norm(2, 1);
  Examples examples =
      data::named_examples({}, {{"distance", torch::stack({distance, distance.square()}, 1)},
                                {"other", torch::randn({rows})},
                                {"sector", ((angle / (2 * M_PI) + 0.5) * 3).floor().clamp(0, 2)}});
  examples.inputs = points;
  return examples;
}

const std::string two_heads = R"(
layers: [{dense: 16, activation: tanh}]
heads:
  sector: {layers: [{dense: 3}], loss: cross_entropy}
  far: {layers: [{dense: 8, activation: relu}, {dense: 2}], loss: mean_square, weight: 0.5, target: distance, names: [linear, square]}
batch: 40
optimizer: {learning_rate: 1e-2}
)";

torch::Tensor part(const Examples& examples, const std::string& name) {
  const core::RowTensors tensors = examples.target_tensors();
  return tensors.at(name).of(examples.targets);
}

TEST(Branching, NetworksOfTwoHeadsLearnAsInPyTorch) {
  const Examples examples = sectors_and_distances(40);
  const torch::Tensor sector = part(examples, "sector").flatten().to(torch::kInt64);
  EXPECT_LT(distance(two_heads, examples, R"(
def forward(self, x: Tensor) -> Tensor:
    x = torch.tanh(torch.linear(x, self.p0, self.p1))
    y = torch.relu(torch.linear(x, self.p4, self.p5))
    return torch.cat([torch.linear(x, self.p2, self.p3), torch.linear(y, self.p6, self.p7)], 1)
)",
                     [&](torch::jit::Module& peer) {
                       const torch::Tensor outputs = called(peer, {examples.inputs});
                       return torch::cross_entropy_loss(outputs.narrow(1, 0, 3), sector) +
                              0.5 * torch::mse_loss(outputs.narrow(1, 3, 2),
                                                    part(examples, "distance"));
                     }),
            1e-5);
}

TEST(Branching, HeadsAreJudgedByThemselves) {
  const Examples examples = sectors_and_distances(300);
  const auto learner = learner_of(two_heads, examples);
  LoopConfig config;
  config.epochs = 60;
  Loop(config, *learner, {}).run();
  const auto rows = optim::with_targets_of(config_of(two_heads).learner.heads, data::hold(examples),
                                           "data.targets");
  const optim::Prediction prediction = learner->predict(*rows);
  const auto found = learner->metrics(prediction);
  EXPECT_GT(found.at("sector.accuracy"), 0.9);
  const torch::Tensor residuals = prediction.outputs.narrow(1, 3, 2) - part(examples, "distance");
  EXPECT_NEAR(found.at("far.mean_square_error"), residuals.square().mean().item<double>(), 1e-6);
  EXPECT_NEAR(found.at("far.mean_absolute_error/square"),
              residuals.select(1, 1).abs().mean().item<double>(), 1e-6);
  EXPECT_NEAR(found.at("loss"), found.at("sector.loss") + 0.5 * found.at("far.loss"), 1e-5);
  EXPECT_TRUE(found.contains("sector.recall/2"));
}

// As a single loss does: in deviations of its targets, told in their unit; classes stay classes.
TEST(Branching, HeadsOfValuesMayBeStandardised) {
  const Examples examples = sectors_and_distances(60);
  const auto learner = learner_of(two_heads, examples, /*standardises=*/true);
  const auto rows = optim::with_targets_of(config_of(two_heads).learner.heads, data::hold(examples),
                                           "data.targets");
  const optim::Prediction prediction = learner->predict(*rows);
  const torch::Tensor targets = part(examples, "distance"),
                      deviation = targets.std(0, /*unbiased=*/false);
  const torch::Tensor said = prediction.outputs.narrow(1, 3, 2) * deviation + targets.mean(0);
  const torch::Tensor predicted = learner->loss().predicted(prediction.outputs);
  EXPECT_LT((predicted.narrow(1, 3, 2) - said).abs().max().item<double>(), 1e-5);
  EXPECT_LT((predicted.narrow(1, 0, 3).sum(1) - 1).abs().max().item<double>(), 1e-5);
  EXPECT_NEAR(learner->metrics(prediction).at("far.loss"),
              ((said - targets) / deviation).square().mean().item<double>(), 1e-4);
}

// As without standardised targets, of which there are too few for it.
TEST(Branching, AHeadWithTooManyOutputsIsToldWhatItIsComparedWith) {
  const Examples examples = sectors_and_distances(60);
  std::string yaml = two_heads;
  const std::string last = "{dense: 2}";
  ASSERT_NE(yaml.rfind(last), std::string::npos);
  yaml.replace(yaml.rfind(last), last.size(), "{dense: 3}");
  const std::string names = ", names: [linear, square]";
  yaml.erase(yaml.find(names), names.size());
  for (const bool standardises : {false, true}) {
    const std::string said =
        message_of<core::ConfigError>([&] { learner_of(yaml, examples, standardises); });
    EXPECT_NE(said.find("compares them with targets of 2"), std::string::npos) << said;
  }
}

TEST(Branching, WeightsOfClassesAndRowsCountInEachHead) {
  Examples examples = sectors_and_distances(60);
  examples.weights = torch::rand({60}) + 0.1;
  std::string yaml = two_heads;
  yaml.replace(yaml.find("loss: cross_entropy"), 19,
               "loss: cross_entropy, class_weights: [1, 2, 3]");
  const auto learner = learner_of(yaml, examples);
  const auto rows =
      optim::with_targets_of(config_of(yaml).learner.heads, data::hold(examples), "data.targets");
  const optim::Prediction prediction = learner->predict(*rows);
  const torch::Tensor sector = part(examples, "sector").flatten().to(torch::kInt64),
                      share = examples.weights / examples.weights.sum(),
                      classes = torch::tensor({1.0F, 2.0F, 3.0F}).index_select(0, sector);
  const torch::Tensor entropy = torch::cross_entropy_loss(prediction.outputs.narrow(1, 0, 3),
                                                          sector, {}, at::Reduction::None);
  EXPECT_NEAR(learner->metrics(prediction).at("sector.loss"),
              ((entropy * classes * share).sum() / (classes * share).sum()).item<double>(), 1e-5);
}

TEST(Branching, SaysWhichHeadDoesNotFit) {
  const Examples examples = sectors_and_distances(20);
  const auto refusal = [&](const std::string& yaml) {
    return message_of<core::Error>([&] { learner_of(yaml, examples); });
  };
  const std::string body = "layers: [{dense: 16}]\nheads: ";
  EXPECT_NE(
      refusal(body + "{kind: {layers: [{dense: 3}]}}")
          .find("heads.kind: There is no tensor 'kind', known: distance, other, sector. A head "
                "learns one of data.targets.tensors"),
      std::string::npos);
  EXPECT_NE(refusal(body + "{sector: {}}").find("heads.sector: Give the head layers"),
            std::string::npos);
  EXPECT_NE(refusal(body + "{sector: {layers: [{dense: 3}, {convolution: 3}]}}")
                .find("heads.sector.layers.1 (convolution)"),
            std::string::npos);
  EXPECT_NE(refusal(body + "{sector: {layers: [{dense: 2}]}}")
                .find("heads.sector: a row is of class 2, and the network knows 0 to 1"),
            std::string::npos);
  EXPECT_NE(refusal(body + "{distance: {layers: [{dense: 3}], loss: mean_square}}")
                .find("heads.distance: gives rows of 3, and mean_square compares them with targets "
                      "of 2"),
            std::string::npos);
  EXPECT_NE(
      refusal(body + "{distance: {layers: [{dense: 2}], loss: mean_squar}}")
          .find("heads.distance.loss: unknown loss 'mean_squar', did you mean 'mean_square'?"),
      std::string::npos);
  EXPECT_NE(refusal(body + "{distance: {layers: [{dense: 2}]}}")
                .find("a class is one. Choose a loss of values"),
            std::string::npos);
  EXPECT_NE(refusal(body + "{sector: {layers: [{dense: 3}], names: [a, b]}}")
                .find("heads.sector.names: has 2, and the head has 3 outputs"),
            std::string::npos);
  EXPECT_NE(refusal(body + "{sector: {layers: [{dense: 3}], class_weights: [1, 2]}}")
                .find("heads.sector.class_weights: has 2 numbers"),
            std::string::npos);
  const std::string two =
      "layers: [{branches: {sector: {layers: [{dense: 3}]}, "
      "distance: {layers: [{dense: 2}]}}, join: none}]\n";
  EXPECT_NE(
      refusal(two + "heads: {sector: {}}").find("none learns the network's output 'distance'"),
      std::string::npos);
  EXPECT_NE(refusal(two).find("heads: the network has several outputs (sector 3, distance 2)"),
            std::string::npos);
}

}  // namespace
}  // namespace sagips::train::branching

// TorchScript modules of files as layers: they learn as layers of ours do, and what they cannot have is
// refused.
#include <gtest/gtest.h>
#include <torch/script.h>

#include <fstream>
#include <thread>

#include "sagips/core/config/config.hpp"
#include "sagips/core/error.hpp"
#include "sagips/nn/initialise.hpp"
#include "sagips/nn/layers/layer_config.hpp"
#include "sagips/nn/layers/layers.hpp"
#include "sagips/nn/script.hpp"
#include "tests/core/message_of.hpp"

namespace sagips::nn {
namespace {

using testing::message_of;
using Tensors = std::map<std::string, torch::Tensor>;

/// A module as torch.jit.script makes it.
torch::jit::Module module_of(const std::string& source, const Tensors& parameters,
                             const Tensors& buffers = {}) {
  torch::jit::Module module("Net");
  if (!module.hasattr("training"))
    module.register_attribute("training", c10::BoolType::get(), true);
  for (const auto& [name, tensor] : parameters) module.register_parameter(name, tensor, false);
  for (const auto& [name, tensor] : buffers) module.register_buffer(name, tensor);
  module.define(source);
  return module;
}

std::string saved(const torch::jit::Module& module) {
  static int count = 0;
  std::string path = ::testing::TempDir() + "script_layer_" + std::to_string(count++) + ".pt";
  module.save(path);
  return path;
}

std::shared_ptr<const Network> network_from(const std::string& layers, const Shape& input) {
  struct Layers {
    std::vector<LayerConfig> layers{};
    void fields(core::FieldList& list) { list.list("layers", layers, LayerConfig::help()); }
  };
  const Layers config = core::read_config(
      core::ConfigDocument::from_text("layers: [" + layers + "]\n", "layers.yaml"), Layers{});
  return std::make_shared<LayeredNetwork>(config.layers, input, "layers");
}

std::shared_ptr<const Network> script_network(const torch::jit::Module& module, const Shape& input,
                                              const std::string& more = "") {
  return network_from("{script: " + saved(module) + more + "}", input);
}

torch::Tensor weight_of(const Shape& shape) { return (0.5 * torch::randn(shape)).requires_grad_(); }

Replica replica_from(const std::shared_ptr<const Network>& network, std::uint64_t seed = 1) {
  Replica replica(network, SharedPart::all, torch::kCPU);
  initialise_uniform(replica, core::RandomStream(seed, "weights"));
  return replica;
}

double relative_distance(const torch::Tensor& one, const torch::Tensor& other) {
  return ((one - other).norm() / other.norm()).item<double>();
}

void differentiate(const Network& network, Leaves& leaves, const torch::Tensor& rows,
                   const core::RandomStream& random) {
  network(leaves, rows, {.training = &random})
      .square()
      .sum()
      .backward({}, {}, false, leaves.tensors);
}

/// Both begin at the same weights, whose names have the same order in either, and learn on.
void expect_equal_training(const std::shared_ptr<const Network>& ours,
                           const std::shared_ptr<const Network>& script, const Shape& input) {
  ASSERT_EQ(ours->output(), script->output());
  ASSERT_EQ(ours->separable(), script->separable());
  Replica peer = replica_from(ours), replica = replica_from(script);
  ASSERT_EQ(peer.size(), replica.size());
  peer.weights().copy_(replica.weights());
  const core::RandomStream random(1, "nothing is drawn");
  Shape shape = input;
  shape.insert(shape.begin(), 9);
  for (int step = 0; step < 4; ++step) {
    const torch::Tensor rows = torch::randn(shape);
    for (auto [network, which] : {std::pair(ours, &peer), std::pair(script, &replica)}) {
      which->zero_gradients();
      differentiate(*network, which->leaves(), rows, random);
      which->check_views();
    }
    EXPECT_GT(peer.gradients().norm().item<double>(), 0.1);
    EXPECT_LE(relative_distance(replica.gradients(), peer.gradients()), 1e-5) << step;
    EXPECT_LE(
        relative_distance((*script)(replica.leaves(), rows, {}), (*ours)(peer.leaves(), rows, {})),
        1e-5)
        << step;
    for (Replica* which : {&peer, &replica}) which->weights().sub_(which->gradients() * 0.01);
  }
}

constexpr const char* dense_source = R"(
def forward(self, x: Tensor) -> Tensor:
    x = torch.tanh(torch.linear(x, self.a_weight, self.b_bias))
    return torch.linear(x, self.c_weight, self.d_bias)
)";

torch::jit::Module dense_module() {
  return module_of(dense_source, {{"a_weight", weight_of({6, 4})},
                                  {"b_bias", weight_of({6})},
                                  {"c_weight", weight_of({2, 6})},
                                  {"d_bias", weight_of({2})}});
}

TEST(ScriptLayer, LearnsAsDenseLayersDo) {
  torch::manual_seed(1);
  const auto script = script_network(dense_module(), {4});
  EXPECT_EQ(script->parameters()[0].name, "layer0.a_weight");
  EXPECT_TRUE(script->parameters()[1].is_bias);
  EXPECT_TRUE(script->separable());
  EXPECT_FALSE(script->is_random());
  expect_equal_training(network_from("{dense: 6, activation: tanh}, {dense: 2}", {4}), script, {4});
}

TEST(ScriptLayer, LearnsAsConvolutionsDo) {
  torch::manual_seed(2);
  const auto script = script_network(module_of(R"(
def forward(self, x: Tensor) -> Tensor:
    x = torch.relu(torch.conv2d(x, self.a_weight, self.b_bias))
    return torch.linear(torch.flatten(x, 1), self.c_weight, self.d_bias)
)",
                                               {{"a_weight", weight_of({3, 2, 3, 3})},
                                                {"b_bias", weight_of({3})},
                                                {"c_weight", weight_of({2, 48})},
                                                {"d_bias", weight_of({2})}}),
                                     {2, 6, 6});
  expect_equal_training(
      network_from("{convolution: 3, kernel: [3, 3], activation: relu}, {flatten: {}}, {dense: 2}",
                   {2, 6, 6}),
      script, {2, 6, 6});
}

TEST(ScriptLayer, KeepsRunningStatisticsInTheReplica) {
  torch::manual_seed(3);
  const auto script =
      script_network(module_of(R"(
def forward(self, x: Tensor) -> Tensor:
    if self.training:
        self.num_batches_tracked.add_(1)
    x = torch.batch_norm(x, self.a_weight, self.b_bias, self.c_mean, self.d_variance, self.training,
                         0.1, 1e-5, True)
    return torch.linear(x, self.e_weight, self.f_bias)
)",
                               {{"a_weight", weight_of({4})},
                                {"b_bias", weight_of({4})},
                                {"e_weight", weight_of({2, 4})},
                                {"f_bias", weight_of({2})}},
                               {{"c_mean", torch::zeros({4})},
                                {"d_variance", torch::ones({4})},
                                {"num_batches_tracked", torch::zeros({}, torch::kInt64)}}),
                     {4});
  ASSERT_EQ(script->buffers().size(), 2U) << "the count of batches stays where it is";
  EXPECT_FALSE(script->separable());
  const auto ours = network_from("{batch_norm: {}}, {dense: 2}", {4});
  expect_equal_training(ours, script, {4});
  Replica replica = replica_from(script);
  EXPECT_EQ(replica.leaves().buffers[0].abs().sum().item<double>(), 0) << "a trial leaves no trace";
  const core::RandomStream random(1, "nothing is drawn");
  Leaves other = replica.make_leaves();
  differentiate(*script, other, torch::randn({50, 4}) + 3, random);
  EXPECT_NEAR(replica.leaves().buffers[0].mean().item<double>(), 0.3, 0.05);
}

TEST(ScriptLayer, IsNotCutIntoTilesWhereItMovesABuffer) {
  const auto network =
      script_network(module_of(R"(
def forward(self, x: Tensor) -> Tensor:
    if self.training:
        self.seen.add_(x.detach().sum(0))
    return x * self.scale
)",
                               {{"scale", weight_of({4})}}, {{"seen", torch::zeros({4})}}),
                     {4});
  EXPECT_FALSE(network->separable());
}

TEST(ScriptLayer, DrawsDropoutFromOurStreams) {
  torch::manual_seed(4);
  const torch::Tensor scale = torch::ones({5}).requires_grad_();
  for (const std::string call :
       {"torch.dropout(x, 0.4, self.training)", "torch.dropout_(x + 0, 0.4, self.training)"}) {
    const auto network = script_network(module_of("\ndef forward(self, x: Tensor) -> Tensor:\n"
                                                  "    if self.training:\n"
                                                  "        x = " +
                                                      call + "\n    return x * self.scale\n",
                                                  {{"scale", scale}}),
                                        {5});
    EXPECT_TRUE(network->is_random());
    EXPECT_TRUE(network->separable());
    const Replica replica = replica_from(network);
    const core::RandomStream random(1, "dropout", 3), next(1, "dropout", 4);
    const torch::Tensor rows = torch::randn({40, 5});
    const auto of = [&](const torch::Tensor& some, const Evaluation& evaluation) {
      return (*network)(replica.leaves(), some, evaluation);
    };
    const Evaluation training{.training = &random};
    const torch::Tensor whole = of(rows, training);
    EXPECT_TRUE(torch::equal(whole, left_out(rows, 0.4, training, 1U << 16U))) << call;
    EXPECT_TRUE(torch::equal(of(rows.narrow(0, 30, 10), {.training = &random, .first_sample = 30}),
                             whole.narrow(0, 30, 10)));
    EXPECT_FALSE(torch::equal(of(rows, {.training = &next}), whole));
    EXPECT_TRUE(torch::equal(of(rows, {}), rows)) << "a prediction leaves nothing out";
  }
}

TEST(ScriptLayer, LeavesOutWholeChannels) {
  const auto network = script_network(module_of(R"(
def forward(self, x: Tensor) -> Tensor:
    return torch.feature_dropout(x, 0.5, True) * self.scale
)",
                                                {{"scale", torch::ones({1}).requires_grad_()}}),
                                      {6, 2, 2});
  const Replica replica = replica_from(network);
  const core::RandomStream random(1, "dropout");
  const torch::Tensor rows = torch::ones({30, 6, 2, 2});
  const torch::Tensor some = (*network)(replica.leaves(), rows, {.training = &random});
  EXPECT_TRUE(torch::equal(some.amin({2, 3}), some.amax({2, 3})));
  EXPECT_EQ(some.max().item<double>(), 2);
  EXPECT_NEAR(some.mean().item<double>(), 1, 0.3);
  EXPECT_TRUE(torch::equal((*network)(replica.leaves(), rows, {}), rows))
      << "also where a trace has it train for ever";
}

TEST(ScriptLayer, BeginsAsItsFileForEachSeed) {
  const torch::jit::Module module = dense_module();
  const auto network = script_network(module, {4});
  const Replica replica = replica_from(network, 1), other = replica_from(network, 2);
  EXPECT_TRUE(torch::equal(replica.weights(), other.weights()));
  EXPECT_TRUE(torch::equal(replica.view(replica.weights(), 0),
                           module.attr("a_weight").toTensor().detach()));
}

TEST(ScriptLayer, HasACopyForEachThread) {
  torch::manual_seed(5);
  const auto network = script_network(dense_module(), {4});
  Replica replica = replica_from(network);
  const core::RandomStream random(1, "nothing is drawn");
  const torch::Tensor rows = torch::randn({400, 4});
  differentiate(*network, replica.leaves(), rows, random);
  const torch::Tensor whole = replica.gradients().clone();
  replica.zero_gradients();
  std::vector<Leaves> leaves;
  for (int i = 0; i < 2; ++i) leaves.push_back(replica.make_leaves());
  std::vector<std::thread> threads;
  for (std::int64_t i = 0; i < 2; ++i)
    threads.emplace_back([&, i] {
      for (std::int64_t tile = 0; tile < 20; ++tile)
        differentiate(*network, leaves[static_cast<std::size_t>(i)],
                      rows.narrow(0, 200 * i + 10 * tile, 10), random);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(replica.gradients().abs().sum().item<double>(), 0);
  EXPECT_FALSE(torch::equal(leaves[0].gradients, leaves[1].gradients));
  for (Leaves& one : leaves) replica.collect(one);
  EXPECT_LE(relative_distance(replica.gradients(), whole), 1e-5);
  const torch::Tensor zeros = torch::zeros_like(replica.weights());
  EXPECT_EQ((*network)(replica.leaves_over(zeros), rows, {}).abs().sum().item<double>(), 0);
}

TEST(ScriptLayer, GivesTiedWeightsTheSumOfBothGradients) {
  torch::manual_seed(6);
  const torch::Tensor first = weight_of({4, 4}), other = weight_of({4, 4});
  torch::jit::Module part("Part");
  part.register_attribute("training", c10::BoolType::get(), true);
  part.register_parameter("weight", first.detach().requires_grad_(), false);  // the same numbers
  torch::jit::Module module = module_of("", {{"weight", first}, {"other", other}});
  module.register_module("part", part);
  module.register_attribute("flat", c10::ListType::ofTensors(), c10::List<torch::Tensor>({other}));
  module.define(R"(
def forward(self, x: Tensor) -> Tensor:
    return torch.linear(torch.tanh(torch.linear(x, self.weight)), self.part.weight) @ self.flat[0]
)");
  const auto network = script_network(module, {4});
  ASSERT_EQ(network->parameters().size(), 2U);
  Replica replica = replica_from(network);
  const core::RandomStream random(1, "nothing is drawn");
  const torch::Tensor rows = torch::randn({7, 4});
  for (int step = 0; step < 2; ++step) {
    const torch::Tensor peer = first.detach().clone().requires_grad_(),
                        last = other.detach().clone().requires_grad_();
    torch::linear(torch::tanh(torch::linear(rows, peer)), peer).mm(last).square().sum().backward();
    Leaves leaves = replica.make_leaves();
    differentiate(*network, leaves, rows, random);
    replica.check_views(leaves);
    for (std::size_t i = 0; i < 2; ++i)
      EXPECT_LE(relative_distance(
                    replica.view(leaves.gradients, i),
                    network->parameters()[i].name == "layer0.weight" ? peer.grad() : last.grad()),
                1e-5);
    const torch::NoGradGuard no_grad;
    for (const torch::Tensor& tensor : {first, other}) tensor.mul_(0.5);
    replica.weights().mul_(0.5);
  }
}

TEST(ScriptLayer, CutsARowIntoArguments) {
  const auto network = script_network(module_of(R"(
def forward(self, tracks: Tensor, event: Tensor, factor: float = 2.0) -> Tensor:
    return factor * self.scale * torch.cat([tracks.sum(2), event], 1)
)",
                                                {{"scale", torch::ones({1}).requires_grad_()}}),
                                      {8}, ", arguments: [2x3, 2]");
  EXPECT_EQ(network->output(), Shape{4});
  const Replica replica = replica_from(network);
  const torch::Tensor rows = torch::arange(8.0).unsqueeze(0);
  EXPECT_TRUE(torch::equal((*network)(replica.leaves(), rows, {}),
                           2 * torch::tensor({{3.0F, 12.0F, 6.0F, 7.0F}})));
}

TEST(ScriptLayer, SavesWhatItHasLearnedForPython) {
  torch::manual_seed(7);
  torch::jit::Module module = module_of(
      R"(
def forward(self, x: Tensor) -> Tensor:
    x = torch.batch_norm(x, None, None, self.mean, self.variance, self.training, 0.1, 1e-5, True)
    return torch.linear(torch.dropout(x, 0.5, self.training), self.weight)
)",
      {{"weight", weight_of({2, 4})}},
      {{"mean", torch::zeros({4})}, {"variance", torch::ones({4})}});
  const std::string from = saved(module), to = from + ".trained.pt";
  const auto network = network_from("{script: " + from + "}", {4});
  ASSERT_EQ(network->layers()[0].script, from);
  Replica replica = replica_from(network);
  const core::RandomStream random(1, "dropout");
  for (int step = 0; step < 3; ++step) {
    differentiate(*network, replica.leaves(), torch::randn({20, 4}) + 1, random);
    replica.weights().sub_(replica.gradients() * 0.01);
  }
  const Leaves& leaves = replica.leaves();
  save_script(from, to,
              std::vector<NamedTensor>{{"weight", leaves.tensors[0]},
                                       {"mean", leaves.buffers[0]},
                                       {"variance", leaves.buffers[1]}});
  torch::jit::Module trained = torch::jit::load(to), before = torch::jit::load(from);
  const torch::Tensor rows = torch::randn({5, 4});
  EXPECT_TRUE(
      torch::equal(trained.forward({rows}).toTensor(), (*network)(replica.leaves(), rows, {})));
  before.eval();
  EXPECT_FALSE(torch::allclose(before.forward({rows}).toTensor(),
                               trained.forward({rows}).toTensor(), 1e-2, 1e-2));
  EXPECT_NE(trained.get_method("forward").graph()->toString().find("aten::dropout"),
            std::string::npos);
  EXPECT_FALSE(trained.attr("training").toBool());
  EXPECT_TRUE(trained.attr("weight").toTensor().requires_grad());
  const auto message = message_of<core::DataError>([&] {
    save_script(from, to, std::vector<NamedTensor>{{"weight", torch::zeros({3, 4})}});
  });
  EXPECT_NE(message.find("holds no 'weight' of such a shape"), std::string::npos) << message;
}

void expect_refusal(const std::string& layer, const std::string& words, const Shape& input = {4}) {
  SCOPED_TRACE(words);
  const std::string line =
      message_of<core::ConfigError>([&] { network_from("{" + layer + "}", input); });
  EXPECT_NE(line.find(words), std::string::npos) << line;
  EXPECT_NE(line.find("layers.0 (script)"), std::string::npos) << line;
}

void expect_refused(const torch::jit::Module& module, const std::string& words,
                    const std::string& more = "") {
  expect_refusal("script: " + saved(module) + more, words);
}

/// A module of one scale and one buffer.
torch::jit::Module one_line(const std::string& line, const std::string& signature = "x: Tensor") {
  return module_of("\ndef forward(self, " + signature + ") -> Tensor:\n    " + line + "\n",
                   {{"scale", weight_of({4})}}, {{"buffer", torch::zeros({4})}});
}

TEST(ScriptLayer, SaysWhichFilesItCannotRead) {
  const std::string folder = ::testing::TempDir();
  expect_refusal("script: " + folder + "nowhere.pt", "nowhere.pt: is not there (looked for it");
  std::ofstream(folder + "text.pt") << "weights\n";
  expect_refusal("script: " + folder + "text.pt",
                 "text.pt: is no TorchScript module, or is cut off. Save one");
  std::ofstream(folder + "old.pt", std::ios::binary)
      << "\x80\x02\x8a\nl\xfc\x9c";  // torch.save before 1.6
  expect_refusal("script: " + folder + "old.pt",
                 "old.pt: was written by torch.save, which keeps no code. Save");
  torch::jit::Module module = dense_module();
  module.eval();
  expect_refused(torch::jit::freeze(module), "is frozen, so its weights are constants");
  expect_refused(module_of("\ndef infer(self, x: Tensor) -> Tensor:\n    return x\n", {}),
                 "has no method forward");
}

TEST(ScriptLayer, SaysWhichWeightsItCannotHave) {
  torch::jit::Module frozen = dense_module();
  frozen.attr("c_weight").toTensor().requires_grad_(false);
  expect_refused(frozen, "'c_weight' is frozen, and updates move all weights");
  const std::string half = "\ndef forward(self, x: Tensor) -> Tensor:\n    return x * self.scale\n";
  expect_refused(module_of(half, {{"scale", torch::ones({4}, torch::kFloat64).requires_grad_()}}),
                 "'scale' holds double");
  expect_refused(
      module_of(half, {{"scale", weight_of({4})}}, {{"far", torch::zeros({1}, torch::kFloat64)}}),
      "the buffer 'far' holds double");
  expect_refused(module_of(half, {{"scale", weight_of({4})}, {"idle", weight_of({4})}}),
                 "'idle' is registered, and its output does not depend on it. Leave it out.");
  const torch::Tensor whole = weight_of({8}).detach();
  const auto pair_from = [&](std::int64_t second) {
    return module_of("\ndef forward(self, x: Tensor) -> Tensor:\n    return x * self.a * self.b\n",
                     {{"a", whole.narrow(0, 0, 4).requires_grad_()},
                      {"b", whole.narrow(0, second, 4).requires_grad_()}});
  };
  expect_refused(pair_from(3), "'b' looks into the memory of 'a'");
  EXPECT_EQ(script_network(pair_from(4), {4})->parameters().size(), 2U) << "they lie side by side";
}

TEST(ScriptLayer, SaysWhatForwardMayNotDo) {
  expect_refused(one_line("return x * self.scale + torch.rand_like(x)"), "LibTorch's generator");
  expect_refused(one_line("return torch.alpha_dropout(x * self.scale, 0.1, self.training)"),
                 "only torch.nn.Dropout");
  expect_refused(one_line("return torch.dropout(x * self.scale, 1.0, self.training)"),
                 "it takes a share below 1");
  expect_refused(one_line("return (x * self.scale).sum(0)"), "needs a row for each");
  expect_refused(one_line("return torch.linear(x * self.scale, torch.ones([3, 3]))"),
                 ".pt' fails: mat1 and mat2 shapes cannot be multiplied");
  expect_refused(one_line("self.buffer = x.sum(0)\n    return x * self.scale"),
                 "assigns to its attribute 'buffer'");
  expect_refused(one_line("return torch.batch_norm(x * self.scale, None, None, self.buffer, "
                          "self.buffer, True, 0.1, 1e-5, True)"),
                 "trains for ever");
  torch::jit::Module cumulative = module_of(
      R"(
def forward(self, x: Tensor) -> Tensor:
    return x * self.scale / (1.0 + float(self.num_batches_tracked))
)",
      {{"scale", weight_of({4})}}, {{"num_batches_tracked", torch::zeros({}, torch::kInt64)}});
  expect_refused(cumulative, "Give it a momentum");
}

TEST(ScriptLayer, SaysWhatDoesNotFitForward) {
  expect_refused(one_line("return x * self.scale", "x: Tensor, words: str"),
                 "a layer makes tensors of tensors");
  expect_refused(one_line("return x * y * self.scale", "x: Tensor, y: Tensor"),
                 "takes 2 tensors, and the config gives 1");
  const auto two = one_line("return torch.cat([x, y], 1) * self.scale", "x: Tensor, y: Tensor");
  expect_refused(two, "take 5 numbers of a row, which has 4", ", arguments: [3, 2]");
  expect_refused(two, "takes 2 tensors, and the config gives 3", ", arguments: [1, 2, 1]");
  expect_refused(two, "'2 by 2' of its arguments is no shape", ", arguments: [2 by 2, 0]");
  const std::string path = saved(one_line("return x * self.scale"));
  expect_refusal("script: " + path, "fails: The size of tensor", {3});
}

}  // namespace
}  // namespace sagips::nn

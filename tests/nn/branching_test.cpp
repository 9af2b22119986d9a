// Layers that hold chains of layers, and networks with several named inputs and outputs, against the same
// networks in TorchScript: outputs and gradients.
#include <gtest/gtest.h>

#include <map>

#include <torch/nn.h>
#include <torch/script.h>

#include "sagips/core/config/config.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/nn/initialise.hpp"
#include "sagips/nn/layers/layer_config.hpp"
#include "sagips/nn/module.hpp"
#include "tests/core/message_of.hpp"

namespace sagips::nn::branching {
namespace {

using testing::message_of;

struct Layers {
  std::vector<LayerConfig> layers{};
  void fields(core::FieldList& list) { list.list("layers", layers, LayerConfig::help()); }
};

core::RowTensors tensors_of(const std::vector<std::pair<std::string, Shape>>& all) {
  core::RowTensors tensors;
  for (const auto& [name, shape] : all) tensors.add(name, shape);
  return tensors;
}

std::shared_ptr<const Network> network_of(const std::string& yaml, const Shape& input,
                                          const core::RowTensors& tensors = {}) {
  const Layers config = core::read_config(
      core::ConfigDocument::from_text("layers: [" + yaml + "]\n", "layers.yaml"), Layers{});
  return std::make_shared<LayeredNetwork>(config.layers, input, "layers", tensors);
}

Replica replica_of(const std::shared_ptr<const Network>& network) {
  Replica replica(network, SharedPart::all, torch::kCPU);
  initialise_uniform(replica, core::RandomStream(1, "weights"));
  return replica;
}

torch::Tensor rows_for(const Network& network, std::int64_t rows = 5) {
  Shape shape = network.input();
  shape.insert(shape.begin(), rows);
  torch::manual_seed(3);
  return torch::randn(shape);
}

double relative(const torch::Tensor& ours, const torch::Tensor& theirs) {
  EXPECT_EQ(ours.sizes(), theirs.sizes());
  return ((ours - theirs).norm() / (theirs.norm() + 1e-12)).item<double>();
}

/// The largest relative distance of outputs and gradients from a module's of PyTorch's language, whose
/// weights p0, p1, ... are ours in our order.
double distance(const std::shared_ptr<const Network>& network, const std::string& forward) {
  Replica replica = replica_of(network);
  torch::jit::Module peer("Net");
  const auto count = replica.parameters().size();
  for (std::size_t i = 0; i < count; ++i)
    peer.register_parameter("p" + std::to_string(i),
                            replica.view(replica.weights(), i).clone().requires_grad_(), false);
  peer.define(forward);
  const core::RandomStream random(1, "nothing is drawn");
  const torch::Tensor ours_in = rows_for(*network).requires_grad_(),
                      theirs_in = ours_in.detach().clone().requires_grad_();
  const torch::Tensor ours = (*network)(replica.leaves(), ours_in, {.training = &random}),
                      theirs = peer.forward({theirs_in}).toTensor();
  ours.square().sum().backward();
  theirs.square().sum().backward();
  double worst = std::max(relative(ours, theirs), relative(ours_in.grad(), theirs_in.grad()));
  for (std::size_t i = 0; i < count; ++i)
    worst = std::max(worst, relative(replica.view(replica.gradients(), i),
                                     peer.attr("p" + std::to_string(i)).toTensor().grad()));
  replica.check_views();
  return worst;
}

const std::string residual =
    "{convolution: 8, kernel: 3, padding: same, activation: relu}, "
    "{residual: [{convolution: 8, kernel: 3, padding: same, activation: relu}, "
    "{convolution: 8, kernel: 3, padding: same}]}, {activation: relu}, "
    "{residual: [{convolution: 16, kernel: 3, stride: 2, padding: 1, activation: relu}, "
    "{convolution: 16, kernel: 3, padding: same}], "
    "shortcut: [{convolution: 16, kernel: 1, stride: 2}]}, {activation: relu}, "
    "{average_pooling: 4}, {flatten: {}}, {dense: 10}";

TEST(Branching, ResidualNetworksAreThoseOfPyTorch) {
  const auto network = network_of(residual, {1, 8, 8});
  EXPECT_LT(distance(network, R"(
def forward(self, x: Tensor) -> Tensor:
    x = torch.relu(torch.conv2d(x, self.p0, self.p1, [1, 1], [1, 1]))
    y = torch.relu(torch.conv2d(x, self.p2, self.p3, [1, 1], [1, 1]))
    x = torch.relu(x + torch.conv2d(y, self.p4, self.p5, [1, 1], [1, 1]))
    y = torch.relu(torch.conv2d(x, self.p6, self.p7, [2, 2], [1, 1]))
    y = torch.conv2d(y, self.p8, self.p9, [1, 1], [1, 1])
    x = torch.relu(y + torch.conv2d(x, self.p10, self.p11, [2, 2]))
    x = torch.flatten(torch.avg_pool2d(x, [4, 4]), 1)
    return torch.linear(x, self.p12, self.p13)
)"),
            1e-5);
  std::int64_t weights = 0;
  for (const LayerSummary& layer : network->layers()) weights += layer.weights;
  EXPECT_EQ(weights, 80 + 2 * 584 + 1168 + 2320 + 144 + 170) << "by hand: out (in places + 1)";
  EXPECT_EQ(network->layers()[3].inside.size(), 3U);
  EXPECT_EQ(network->parameters()[10].name, "layer3.shortcut.layer0.weight");
  EXPECT_EQ(network->parameters()[6].name, "layer3.layer0.weight");
  EXPECT_FALSE(network->fusable());
}

const core::RowTensors image_and_numbers = tensors_of({{"image", {1, 8, 8}}, {"numbers", {3}}});
const std::string two_inputs =
    "{branches: {numbers: {layers: [{dense: 5, activation: tanh}]}, "
    "picture: {input: image, layers: [{convolution: 4, kernel: 3, stride: 2, activation: relu}, "
    "{flatten: {}}]}}}, {dense: 2}";

TEST(Branching, NetworksOfTwoInputsAreThoseOfPyTorch) {
  const auto network = network_of(two_inputs, {67}, image_and_numbers);
  EXPECT_LT(distance(network, R"(
def forward(self, row: Tensor) -> Tensor:
    image = row[:, :64].reshape(-1, 1, 8, 8)
    x = torch.tanh(torch.linear(row[:, 64:], self.p0, self.p1))
    y = torch.relu(torch.conv2d(image, self.p2, self.p3, [2, 2]))
    return torch.linear(torch.cat([x, y.flatten(1)], 1), self.p4, self.p5)
)"),
            1e-5);
  EXPECT_EQ(network->parameters()[2].name, "layer0.picture.layer0.weight");
  EXPECT_EQ(network->input_tensors().written(), "image 1 x 8 x 8, numbers 3");
}

TEST(Branching, NetworksOfTwoOutputsAreThoseOfPyTorch) {
  const auto network = network_of(
      "{dense: 8, activation: relu}, {branches: {kind: {layers: [{dense: 3}]}, "
      "value: {layers: [{reshape: [2, 4]}, {dense: 2}]}}, join: none}",
      {6});
  EXPECT_LT(distance(network, R"(
def forward(self, x: Tensor) -> Tensor:
    x = torch.relu(torch.linear(x, self.p0, self.p1))
    kind = torch.linear(x, self.p2, self.p3)
    value = torch.linear(x.reshape(-1, 2, 4), self.p4, self.p5)
    return torch.cat([kind, value.flatten(1)], 1)
)"),
            1e-5);
  EXPECT_EQ(network->output(), Shape{7});
  EXPECT_EQ(network->output_tensors().written(), "kind 3, value 2 x 2");
}

TEST(Branching, ConcatenatesAndAddsInsideOfEachOther) {
  EXPECT_LT(distance(network_of("{branches: {a: {layers: [{dense: 4}]}, b: {layers: [{dense: 3}, "
                                "{residual: [{dense: 3, activation: tanh}]}]}}, dimension: -1}, "
                                "{branches: {c: {layers: [{dense: 2}]}, d: {layers: [{dense: 2}]}, "
                                "e: {layers: [{dense: 2}]}}, join: add}",
                                {5, 6}),
                     R"(
def forward(self, x: Tensor) -> Tensor:
    b = torch.linear(x, self.p2, self.p3)
    b = b + torch.tanh(torch.linear(b, self.p4, self.p5))
    x = torch.cat([torch.linear(x, self.p0, self.p1), b], 2)
    return torch.linear(x, self.p6, self.p7) + torch.linear(x, self.p8, self.p9) + torch.linear(x, self.p10, self.p11)
)"),
            1e-5);
}

// Layers of chains have random numbers of their own, which belong to the sample.
TEST(Branching, DropoutInBranchesDependsOnTheSampleAlone) {
  const auto network = network_of(
      "{branches: {a: {layers: [{dropout: 0.5}]}, b: {layers: [{dropout: 0.5}]}}}, {dropout: 0.1}",
      {50});
  EXPECT_TRUE(network->is_random());
  Replica replica = replica_of(network);
  const core::RandomStream random(1, "dropout", 3);
  const torch::Tensor ones = torch::ones({40, 50});
  const torch::Tensor whole = (*network)(replica.leaves(), ones, {.training = &random}),
                      part = (*network)(replica.leaves(), ones.narrow(0, 0, 10),
                                        {.training = &random, .first_sample = 30});
  EXPECT_TRUE(torch::equal(part, whole.narrow(0, 30, 10)));
  EXPECT_FALSE(torch::equal(whole.narrow(1, 0, 50) > 0, whole.narrow(1, 50, 50) > 0));
}

struct ScaledImpl : torch::nn::Module {
  torch::Tensor factor;
  explicit ScaledImpl(std::int64_t inputs)
      : factor(register_parameter("factor", torch::full({inputs}, 3.0F))) {}
  torch::Tensor forward(const torch::Tensor& rows) { return rows * factor; }
};
TORCH_MODULE(Scaled);

// Modules look into the replica's arrays, and batch norms write into its buffers, also inside of chains.
TEST(Branching, HoldsModulesAndBuffers) {
  add_module("scaled", [](const Shape& input) { return Scaled(input[0]); });
  const auto network =
      network_of("{residual: [{batch_norm: {momentum: 1}}, {module: scaled}]}", {4});
  EXPECT_FALSE(network->separable());
  Replica replica = replica_of(network);
  Leaves other = replica.make_leaves();
  const core::RandomStream random(1, "nothing is drawn");
  const torch::Tensor rows = rows_for(*network, 50);
  const torch::Tensor mean = rows.mean(0), deviation = rows.std(0, /*unbiased=*/false);
  for (Leaves* leaves : {&replica.leaves(), &other}) {
    const torch::Tensor outputs = (*network)(*leaves, rows, {.training = &random});
    EXPECT_LT(relative(outputs, rows + 3 * (rows - mean) / deviation), 1e-4);
    outputs.sum().backward();
    replica.check_views(*leaves);
  }
  EXPECT_LT(relative(replica.leaves().buffers[0], mean), 1e-5);
  replica.weights().mul_(2);
  EXPECT_GT(relative((*network)(other, rows, {}), rows + 3 * (rows - mean) / deviation), 0.5);
}

struct TwoSidesImpl : torch::nn::Module {
  torch::nn::Linear first{nullptr}, second{nullptr};
  explicit TwoSidesImpl(const std::map<std::string, Shape>& inputs)
      : first(register_module("first", torch::nn::Linear(inputs.at("numbers")[0], 2))),
        second(register_module("second", torch::nn::Linear(numbers_in(inputs.at("image")), 4))) {}
  NamedRows forward(const NamedRows& rows) {
    return {{"value", first->forward(rows.at("numbers"))},
            {"kind", second->forward(rows.at("image").flatten(1)).reshape({-1, 2, 2})}};
  }
};
TORCH_MODULE(TwoSides);

std::string saved_script(const std::string& forward) {
  torch::jit::Module module("Net");
  if (!module.hasattr("training"))
    module.register_attribute("training", c10::BoolType::get(), true);
  torch::manual_seed(5);
  for (const auto& [name, shape] : {std::pair("a", Shape{2, 3}), std::pair("b", Shape{2}),
                                    std::pair("c", Shape{4, 64}), std::pair("d", Shape{4})})
    module.register_parameter(name, torch::randn(shape).requires_grad_(), false);
  module.define(forward);
  static int count = 0;
  std::string path = ::testing::TempDir() + "branching_" + std::to_string(count++) + ".pt";
  module.save(path);
  return path;
}

const std::string takes_and_gives_dictionary = R"(
def forward(self, rows: Dict[str, Tensor]) -> Dict[str, Tensor]:
    value = torch.linear(rows["numbers"], self.a, self.b)
    kind = torch.linear(rows["image"].flatten(1), self.c, self.d).reshape(-1, 2, 2)
    return {"value": value, "kind": kind}
)";
const std::string takes_and_gives_several = R"(
def forward(self, numbers: Tensor, image: Tensor):
    value = torch.linear(numbers, self.a, self.b)
    kind = torch.linear(image.flatten(1), self.c, self.d).reshape(-1, 2, 2)
    return (kind, value)
)";

// The same network as branches, with the same weights.
TEST(Branching, ModulesAndScriptsTakeAndGiveTensorsByName) {
  add_module("two_sides",
             [](const std::map<std::string, Shape>& inputs) { return TwoSides(inputs); });
  const auto branches = network_of(
      "{branches: {value: {input: numbers, layers: [{dense: 2}]}, kind: {input: image, layers: "
      "[{flatten: {}}, {dense: 4}, {reshape: [2, 2]}]}}, join: none}",
      {67}, image_and_numbers);
  for (const std::string& layer :
       {std::string("{module: two_sides}"),
        "{script: " + saved_script(takes_and_gives_dictionary) + "}",
        "{script: " + saved_script(takes_and_gives_several) + ", outputs: [kind, value]}"}) {
    const auto network = network_of(layer, {67}, image_and_numbers);
    EXPECT_EQ(network->output_tensors().written(), "kind 2 x 2, value 2") << layer;
    Replica ours = replica_of(network), peer = replica_of(branches);
    ASSERT_EQ(ours.size(), peer.size());
    peer.weights().copy_(ours.weights());
    const core::RandomStream random(1, "nothing is drawn");
    const torch::Tensor rows = rows_for(*network);
    const torch::Tensor out = (*network)(ours.leaves(), rows, {.training = &random}),
                        other = (*branches)(peer.leaves(), rows, {.training = &random});
    for (const char* name : {"kind", "value"})
      EXPECT_LT(relative(network->output_tensors().at(name).of(out),
                         branches->output_tensors().at(name).of(other)),
                1e-6)
          << layer;
    out.square().sum().backward();
    other.square().sum().backward();
    EXPECT_LT(relative(ours.gradients(), peer.gradients()), 1e-5) << layer;
    ours.check_views();
  }
}

TEST(Branching, SaysWhichNamesModulesAndScriptsLack) {
  const auto refusal = [](const std::string& layer, const core::RowTensors& tensors) {
    return message_of<core::ConfigError>([&] { network_of(layer, {67}, tensors); });
  };
  add_module("two_sides",
             [](const std::map<std::string, Shape>& inputs) { return TwoSides(inputs); });
  const std::string dictionary = "{script: " + saved_script(takes_and_gives_dictionary) + "}",
                    several = "{script: " + saved_script(takes_and_gives_several) + "}";
  EXPECT_NE(refusal(dictionary, {}).find("a dictionary takes an input of several named tensors"),
            std::string::npos);
  EXPECT_NE(
      refusal(several, image_and_numbers).find("gives a tuple of 2, and `outputs` has 0 names"),
      std::string::npos);
  EXPECT_NE(
      refusal("{script: " + saved_script(takes_and_gives_several) + ", outputs: [kind, value]}",
              tensors_of({{"picture", {1, 8, 8}}, {"numbers", {3}}}))
          .find("There is no tensor 'image', known: picture, numbers"),
      std::string::npos);
  EXPECT_NE(
      refusal(dictionary, tensors_of({{"picture", {1, 8, 8}}, {"numbers", {3}}})).find("fails: "),
      std::string::npos);
}

TEST(Branching, SaysWhatDoesNotFit) {
  const auto refusal = [](const std::string& yaml, const core::RowTensors& tensors = {}) {
    return message_of<core::ConfigError>(
        [&] { network_of(yaml, {tensors.empty() ? 8 : tensors.numbers()}, tensors); });
  };
  EXPECT_EQ(
      refusal("{residual: [{dense: 8}, {dense: 7}]}"),
      "layers.0 (residual): 'residual' makes 7, and 'shortcut' 8, which do not add. Make them "
      "fit by a further layer. Its input is 8.");
  EXPECT_EQ(refusal("{dense: 4}, {residual: [{convolution: 4}]}"),
            "layers.1.residual.0 (convolution): It needs samples [channels, length, ...] of 1 to 3 "
            "dimensions. Its input is 4.");
  EXPECT_NE(refusal("{residual: []}").find("holds no layers"), std::string::npos);
  EXPECT_NE(refusal("{branches: {}}").find("holds no branches"), std::string::npos);
  EXPECT_NE(refusal("{branches: {a: {layers: [{reshape: [2, 4]}]}, b: {}}}")
                .find("'a' makes 2 x 4, and 'b' 8, which do not follow each other"),
            std::string::npos);
  EXPECT_NE(refusal("{branches: {a: {}, b: {}}, dimension: 1}").find("dimension is 1"),
            std::string::npos);
  EXPECT_NE(refusal("{branches: {a: {}, b: {}}, dimension: 1, join: add}").find("no effect"),
            std::string::npos);
  EXPECT_NE(refusal("{branches: {a: {input: image}}}").find("one tensor without a name"),
            std::string::npos);
  EXPECT_NE(refusal("{branches: {imgae: {}, numbers: {}}}", image_and_numbers)
                .find("There is no tensor 'imgae', did you mean 'image'?"),
            std::string::npos);
  EXPECT_NE(refusal("{branches: {numbers: {}}}", image_and_numbers)
                .find("no branch takes the tensor 'image'"),
            std::string::npos);
  EXPECT_NE(refusal("{convolution: 3}", image_and_numbers)
                .find("Its input is image 1 x 8 x 8, numbers 3."),
            std::string::npos);
  EXPECT_NE(refusal("{residual: [{dense: 3, activaton: relu}]}").find("activation"),
            std::string::npos);
}

// The published form: matrices that say which particle receives and sends on each directed edge.
// source: Moreno et al., arXiv 1908.05318
std::string jets_of_pytorch(const std::string& message, const std::string& object,
                            const std::string& behind) {
  return R"(
def forward(self, x: Tensor) -> Tensor:
    n = x.size(1)
    edges = (1 - torch.eye(n)).nonzero()
    receivers = torch.one_hot(edges[:, 0], n).to(x.dtype)
    senders = torch.one_hot(edges[:, 1], n).to(x.dtype)
    e = torch.cat([torch.matmul(receivers, x), torch.matmul(senders, x)], 2)
    e = )" +
         message + R"((torch.linear(e, self.p0, self.p1))
    e = )" +
         message + R"((torch.linear(e, self.p2, self.p3))
    e = )" +
         message + R"((torch.linear(e, self.p4, self.p5))
    o = torch.cat([x, torch.matmul(receivers.t(), e)], 2)
    o = )" +
         object + R"((torch.linear(o, self.p6, self.p7))
    o = )" +
         object + R"((torch.linear(o, self.p8, self.p9))
    return torch.linear()" +
         behind + R"(, self.p10, self.p11)
)";
}
std::string dense(std::int64_t outputs, const std::string& activation) {
  return core::text("{dense: ", outputs, ", activation: ", activation, "}");
}
std::string jets(const std::string& message, const std::string& object, const std::string& more) {
  return "{interaction: {messages: [" + dense(30, message) + ", " + dense(15, message) + ", " +
         dense(10, message) + "], objects: [" + dense(20, object) + ", " + dense(6, object) + "]" +
         more + "}}";
}

TEST(Branching, InteractionsAreThoseOfIncidenceMatrices) {
  for (const auto& [name, particles] : std::map<std::string, std::int64_t>{
           {"elu", 2}, {"selu", 9}, {"relu", 24}, {"tanh", 8}, {"sigmoid", 7}, {"gelu", 5}})
    EXPECT_LT(
        distance(network_of(jets(name, "elu", "") + ", {flatten: {}}, {dense: 5}", {particles, 7}),
                 jets_of_pytorch("torch." + name, "torch.elu", "torch.flatten(o, 1)")),
        1e-5)
        << name << ", " << particles << " particles";
  EXPECT_LT(distance(network_of(jets("elu", "relu", ", sum: true") + ", {dense: 5}", {30, 16}),
                     jets_of_pytorch("torch.elu", "torch.relu", "o.sum(1)")),
            1e-5);
}

TEST(Branching, MessagesAreTheSameInDoubleAndOfFewRows) {
  const auto network = network_of(jets("elu", "elu", ""), {21, 5});
  Replica replica = replica_of(network);
  const torch::Tensor rows = rows_for(*network, 7);
  const torch::Tensor together = (*network)(replica.leaves(), rows, {});
  EXPECT_LT(
      relative((*network)(replica.leaves(), rows.slice(0, 3, 4), {}), together.slice(0, 3, 4)),
      1e-6);
  Leaves exact = replica.leaves();
  for (torch::Tensor& tensor : exact.tensors) tensor = tensor.detach().to(torch::kFloat64);
  EXPECT_LT(relative(together.to(torch::kFloat64), (*network)(exact, rows.to(torch::kFloat64), {})),
            1e-6);
}

// Without the empty ones, the others make what a network for so few makes.
TEST(Branching, EmptyParticlesAreSkipped) {
  for (const std::string name : {"elu", "gelu"}) {
    const auto large = network_of(jets(name, "elu", ", skip_empty: true"), {12, 4}),
               small = network_of(jets(name, "elu", ""), {7, 4}),
               summed = network_of(jets(name, "elu", ", skip_empty: true, sum: true"), {12, 4});
    EXPECT_TRUE(large->skips_empty() && summed->skips_empty() && !small->skips_empty());
    Replica replica = replica_of(large);
    const torch::Tensor few = rows_for(*small).requires_grad_();
    // Two of the empty places stand among the others.
    const torch::Tensor zeros = torch::zeros({5, 2, 4}),
                        many = torch::cat({few.narrow(1, 0, 3), zeros, few.narrow(1, 3, 4), zeros,
                                           zeros.narrow(1, 0, 1)},
                                          1);
    const torch::Tensor of_few = (*small)(replica.leaves(), few, {}),
                        of_many = (*large)(replica.leaves(), many, {});
    EXPECT_LT(relative(torch::cat({of_many.narrow(1, 0, 3), of_many.narrow(1, 5, 4)}, 1), of_few),
              1e-6);
    EXPECT_EQ(of_many.narrow(1, 3, 2).abs().max().item<float>(), 0);
    EXPECT_LT(relative((*summed)(replica.leaves(), many, {}), of_few.sum(1)), 1e-6);
    of_few.square().sum().backward();
    const torch::Tensor gradients = replica.gradients().clone(), of_input = few.grad().clone();
    replica.gradients().zero_();
    few.mutable_grad().zero_();
    of_many.square().sum().backward();
    EXPECT_LT(relative(replica.gradients(), gradients), 1e-5) << name;
    EXPECT_LT(relative(few.grad(), of_input), 1e-5) << name;
    EXPECT_TRUE(
        (*large)(replica.leaves(), torch::zeros({2, 12, 4}), {}).equal(torch::zeros({2, 12, 6})));
  }
}

TEST(Branching, PublishedNetworksOfJetsHaveTheirCounts) {
  const auto weights = [](const std::string& layers, const Shape& input) {
    std::int64_t all = 0;
    const auto network = network_of(layers, input);
    for (const auto& parameter : network->parameters()) all += parameter.size();
    return all;
  };
  const auto chain = [](const std::vector<std::int64_t>& widths) {
    std::string layers;
    for (const std::int64_t width : widths)
      layers += (layers.empty() ? "" : ", ") + dense(width, "elu");
    return layers;
  };
  EXPECT_EQ(
      weights("{interaction: {messages: [" + chain({30, 15, 10}) + "], objects: [" +
                  chain({30, 15, 10}) + "]}}, {flatten: {}}, " + chain({30, 15}) + ", {dense: 5}",
              {100, 16}),
      33625);
  EXPECT_EQ(weights("{lstm: 20, hidden_bias: false}, {dense: 3}", {338, 20}), 3343)
      << "NNLO's benchmark of 2017";
  for (const auto& [outputs, count] : {std::pair{10, 8329}, std::pair{12, 8481}})
    EXPECT_EQ(weights("{interaction: {messages: [" + chain({50, 25, 14}) + "], objects: [" +
                          chain({50, 25, outputs}) + "], sum: true}}, " + chain({50, 25}) +
                          ", {dense: 5}",
                      {150, 16}),
              count);
}

TEST(Branching, WrongInteractionsAreRefused) {
  const auto refused = [](const std::string& yaml, const Shape& input) {
    return message_of<core::Error>([&] { network_of("{interaction: {" + yaml + "}}", input); });
  };
  EXPECT_EQ(
      refused("messages: [{dense: 3}]", {16}),
      "layers.0 (interaction): It needs samples [particles, numbers] of two particles or more. "
      "Its input is 16.");
  EXPECT_EQ(
      refused("sum: true", {5, 4}),
      "layers.0 (interaction): It has no messages. Name at least one dense layer. Its input is "
      "5 x 4.");
  EXPECT_EQ(
      refused("messages: [{dense: 3}, {dropout: 0.1}]", {5, 4}),
      "layers.0 (interaction): Its messages are dense layers with a bias alone. Put others into "
      "objects. Its input is 5 x 4.");
  EXPECT_EQ(refused("messages: [{dense: 3}], objects: [{flatten: {}}], sum: true", {5, 4}),
            "layers.0 (interaction): objects makes 35, and sum and skip_empty need [5, numbers]. "
            "Leave out what joins particles. Its input is 5 x 4.");
}

}  // namespace
}  // namespace sagips::nn::branching

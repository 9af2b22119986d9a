#include <algorithm>
#include <map>

#include <torch/autograd.h>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/nn/device_library.hpp"
#include "sagips/nn/kernel_function.hpp"
#include "sagips/nn/layers/layers.hpp"
#include "sagips/nn/layers/norm_over_ranks.hpp"

namespace sagips::nn {

using core::Range;
using core::text;

namespace {

using Function = torch::Tensor (*)(const torch::Tensor&, double);

const std::map<std::string, Function>& activations() {
  static const std::map<std::string, Function> all = {
      {"none", [](const torch::Tensor& x, double) { return x; }},
      {"relu", [](const torch::Tensor& x, double) { return torch::relu(x); }},
      {"leaky_relu",
       [](const torch::Tensor& x, double slope) { return torch::leaky_relu(x, slope); }},
      {"elu", [](const torch::Tensor& x, double) { return torch::elu(x); }},
      {"selu", [](const torch::Tensor& x, double) { return torch::selu(x); }},
      {"gelu", [](const torch::Tensor& x, double) { return torch::gelu(x); }},
      {"silu", [](const torch::Tensor& x, double) { return torch::silu(x); }},
      {"softplus", [](const torch::Tensor& x, double) { return torch::softplus(x); }},
      {"tanh", [](const torch::Tensor& x, double) { return torch::tanh(x); }},
      {"sigmoid", [](const torch::Tensor& x, double) { return torch::sigmoid(x); }}};
  return all;
}

class Dense final : public CopiedLayer<Dense> {
 public:
  Dense() = default;
  Dense(std::int64_t outputs, Activation activation)
      : outputs_(outputs), activation_(std::move(activation)) {}
  void fields(core::FieldList& list) override {
    list.add("dense", outputs_, "outputs of a fully connected layer", Range::between(1, 1e7));
    activation_.fields(list);
    list.add("bias", has_bias_, "adds a bias");
    initial_.field(list);
  }
  Shape declare(const Shape& input, LayerPlace& place) override {
    if (input.empty()) throw core::Error("It needs a dimension to connect.");
    activation_.check();
    const std::int64_t inputs = input.back();
    place.parameter("weight", {outputs_, inputs}, inputs, false);
    if (has_bias_) place.parameter("bias", {outputs_}, inputs, true);
    initial_.apply(place);
    place.operations = numbers_in(input) * outputs_;
    if (has_bias_ && input.size() == 1) place.connects = &activation_;
    Shape output = input;
    output.back() = outputs_;
    return output;
  }
  torch::Tensor operator()(const torch::Tensor& input, const LayerTensors& tensors,
                           const Evaluation&) const override {
    const auto bias = has_bias_ ? tensors.weights[1] : torch::Tensor();
    return activation_(torch::linear(input, tensors.weights[0], bias));
  }

 private:
  std::int64_t outputs_ = 128;
  bool has_bias_ = true;
  Activation activation_;
  InitialValues initial_;
};

class Flatten final : public CopiedLayer<Flatten> {
 public:
  void fields(core::FieldList& list) override { list.add_group("flatten", {}, "one long row"); }
  Shape declare(const Shape& input, LayerPlace& place) override {
    place.only_flattens = true;
    return {numbers_in(input)};
  }
  torch::Tensor operator()(const torch::Tensor& input, const LayerTensors&,
                           const Evaluation&) const override {
    return input.flatten(1);
  }
};

class Reshape final : public CopiedLayer<Reshape> {
 public:
  void fields(core::FieldList& list) override {
    list.add("reshape", shape_, "the same numbers as a sample of this shape", Range::at_least(1));
  }
  Shape declare(const Shape& input, LayerPlace&) override {
    if (numbers_in(shape_) != numbers_in(input))
      throw core::Error(text(written(shape_), " holds ", numbers_in(shape_), " numbers for ",
                             numbers_in(input), "."));
    return shape_;
  }
  torch::Tensor operator()(const torch::Tensor& input, const LayerTensors&,
                           const Evaluation&) const override {
    Shape shape = shape_;
    shape.insert(shape.begin(), input.size(0));
    return input.reshape(shape);
  }

 private:
  Shape shape_{1};
};

class ActivationLayer final : public CopiedLayer<ActivationLayer> {
 public:
  void fields(core::FieldList& list) override { activation_.fields(list); }
  Shape declare(const Shape& input, LayerPlace&) override {
    activation_.check();
    return input;
  }
  torch::Tensor operator()(const torch::Tensor& input, const LayerTensors&,
                           const Evaluation&) const override {
    return activation_(input);
  }

 private:
  Activation activation_;
};

/// Each number of a sample is left out with some probability, named by the sample's number in the
/// batch of all ranks: no result depends on threads, tiles or ranks.
class Dropout final : public CopiedLayer<Dropout> {
 public:
  void fields(core::FieldList& list) override {
    list.add("dropout", probability_, "share of the numbers that training leaves out",
             Range{0, 1, false, true});
  }
  Shape declare(const Shape& input, LayerPlace& place) override {
    place.is_random = probability_ > 0;
    return input;
  }
  torch::Tensor operator()(const torch::Tensor& input, const LayerTensors& tensors,
                           const Evaluation& evaluation) const override {
    if (!evaluation.training || probability_ == 0) return input;
    return left_out(input, probability_, evaluation, tensors.number);
  }

 private:
  double probability_ = 0.5;
};

/// source: Ioffe and Szegedy, ICML 2015. Over rows and all dimensions but the first, as PyTorch.
class BatchNorm final : public CopiedLayer<BatchNorm> {
 public:
  void fields(core::FieldList& list) override {
    core::FieldList own;
    own.add("momentum", momentum_, "weight of a batch in the running mean and variance",
            Range::between(0, 1));
    own.add("epsilon", epsilon_, "added to the variance", Range::positive());
    list.add_group("batch_norm", std::move(own),
                   "each channel shifted and scaled by its mean and deviation over the batch");
  }
  Shape declare(const Shape& input, LayerPlace& place) override {
    if (input.empty()) throw core::Error("It needs a dimension of channels.");
    place.constant("weight", {input[0]}, 1, false);
    place.constant("bias", {input[0]}, 0, true);
    place.buffer("running_mean", {input[0]}, 0);
    place.buffer("running_variance", {input[0]}, 1);
    place.operations = numbers_in(input);
    place.separable = false;
    return input;
  }
  torch::Tensor operator()(const torch::Tensor& input, const LayerTensors& tensors,
                           const Evaluation& evaluation) const override {
    if (evaluation.training && evaluation.add_up)
      return batch_norm_over_ranks(input, tensors, momentum_, epsilon_, *evaluation.add_up);
    return torch::batch_norm(input, tensors.weights[0], tensors.weights[1], tensors.buffers[0],
                             tensors.buffers[1], evaluation.training != nullptr, momentum_,
                             epsilon_,
                             /*cudnn_enabled=*/true);
  }

 private:
  double momentum_ = 0.1, epsilon_ = 1e-5;
};

/// source: Ba, Kiros and Hinton, arXiv 1607.06450
class LayerNorm final : public CopiedLayer<LayerNorm> {
 public:
  void fields(core::FieldList& list) override {
    core::FieldList own;
    own.add("dimensions", dimensions_, "how many of a sample's last dimensions it takes together",
            Range::between(1, 4));
    own.add("epsilon", epsilon_, "added to the variance", Range::positive());
    list.add_group("layer_norm", std::move(own),
                   "the numbers of a sample shifted and scaled by their mean and deviation");
  }
  Shape declare(const Shape& input, LayerPlace& place) override {
    if (dimensions_ > static_cast<std::int64_t>(input.size()))
      throw core::Error(
          text("dimensions is ", dimensions_, ", and a sample has ", input.size(), "."));
    over_.assign(input.end() - dimensions_, input.end());
    place.constant("weight", over_, 1, false);
    place.constant("bias", over_, 0, true);
    place.operations = numbers_in(input);
    return input;
  }
  torch::Tensor operator()(const torch::Tensor& input, const LayerTensors& tensors,
                           const Evaluation&) const override {
    return torch::layer_norm(input, over_, tensors.weights[0], tensors.weights[1], epsilon_);
  }

 private:
  std::int64_t dimensions_ = 1;
  double epsilon_ = 1e-5;
  Shape over_;
};

/// A row of numbers that are learned for each of a few whole numbers, which rows hold as float32.
class Embedding final : public CopiedLayer<Embedding> {
 public:
  void fields(core::FieldList& list) override {
    list.add("embedding", width_, "numbers that are learned for each whole number of its input",
             Range::between(1, 1e6));
    list.add("numbers", numbers_, "how many whole numbers there are, from 0",
             Range::between(1, 1 << 24));  // float32 skips some beyond
    initial_.field(list);
  }
  Shape declare(const Shape& input, LayerPlace& place) override {
    place.parameter("weight", {numbers_, width_}, width_, false);
    place.parameters.back().initial = initial_values("normal", place.parameters.back());
    initial_.apply(place);
    Shape output = input;
    output.push_back(width_);
    place.operations = numbers_in(output);
    return output;
  }
  torch::Tensor operator()(const torch::Tensor& input, const LayerTensors& tensors,
                           const Evaluation&) const override {
    const torch::Tensor numbers = input.to(torch::kInt64);
    if (((numbers != input) | (numbers < 0) | (numbers >= numbers_)).any().item<bool>())
      throw core::DataError("data.inputs",
                            text("an embedding knows the whole numbers from 0 to ", numbers_ - 1,
                                 ", and a row holds another one. Correct it, raise `numbers`, or "
                                 "leave out what scales the inputs."));
    return torch::embedding(tensors.weights[0], numbers);
  }

 private:
  std::int64_t width_ = 16, numbers_ = 100;
  InitialValues initial_;
};

}  // namespace

void Activation::fields(core::FieldList& list) {
  std::vector<std::string> names;
  for (const auto& [known, function] : activations()) names.push_back(known);
  list.add_choice(
      "activation", names, [this] { return name; },
      [this](const std::string& chosen) { name = chosen; }, "function of each output");
  list.add("negative_slope", negative_slope, "of leaky_relu, below zero", Range::between(0, 1));
}

void Activation::check() const {
  if (name != "leaky_relu" && negative_slope != Activation().negative_slope)
    throw core::Error(text("negative_slope has no effect with activation=", name,
                           ". Set leaky_relu, or leave it out."));
}

torch::Tensor Activation::operator()(const torch::Tensor& input) const {
  return activations().at(name)(input, negative_slope);
}

std::optional<kernels::PanelActivation> Activation::fusable() const {
  using Kind = kernels::PanelActivation::Kind;
  if (name == "relu") return {{Kind::leaky_relu, 0}};
  if (name == "leaky_relu") return {{Kind::leaky_relu, static_cast<float>(negative_slope)}};
  if (name == "elu") return {{Kind::elu}};
  if (name == "selu") return {{Kind::selu}};
  if (name == "tanh") return {{Kind::tanh}};
  if (name == "sigmoid") return {{Kind::sigmoid}};
  return {};
}

namespace {

// LibTorch's `where` takes numbers one by one.
template <class Number>
torch::Tensor kept_of(const torch::Tensor& numbers, const torch::Tensor& kept, double share,
                      bool in_place) {
  const torch::Tensor from = numbers.contiguous();
  torch::Tensor result = in_place ? from : torch::empty_like(from);
  const auto* const number = from.const_data_ptr<Number>();
  const auto* const keep = kept.const_data_ptr<bool>();
  auto* const to = result.mutable_data_ptr<Number>();
  share_pieces(from.numel(), 1 << 15, [&](std::int64_t i, std::int64_t end) {
    for (; i < end; ++i)
      to[i] = number[i] * static_cast<Number>(keep[i]) / static_cast<Number>(share);
  });
  return result;
}

torch::Tensor kept_of(const torch::Tensor& numbers, const torch::Tensor& kept, double share,
                      bool in_place) {
  if (!numbers.is_cpu()) return numbers * kept / share;
  return numbers.scalar_type() == torch::kFloat64 ? kept_of<double>(numbers, kept, share, in_place)
                                                  : kept_of<float>(numbers, kept, share, in_place);
}

/// Keeps one byte a number for the way back.
struct LeavingOut : torch::autograd::Function<LeavingOut> {
  static torch::Tensor forward(torch::autograd::AutogradContext* context,
                               const torch::Tensor& input, const torch::Tensor& kept,
                               double share) {
    context->save_for_backward({kept});
    context->saved_data["share"] = share;
    return kept_of(input, kept, share, false);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& gradients) {
    const torch::Tensor kept = context->get_saved_variables()[0];
    const double share = context->saved_data["share"].toDouble();
    if (torch::GradMode::is_enabled())  // it is differentiated again
      return {LeavingOut::apply(gradients[0], kept, share), {}, {}};
    return {kept_of(gradients[0], kept, share, is_owned_alone(gradients[0])), {}, {}};
  }
};

}  // namespace

torch::Tensor left_out(const torch::Tensor& input, double probability, const Evaluation& evaluation,
                       std::uint32_t dimension) {
  const std::int64_t rows = input.size(0), each = rows > 0 ? input.numel() / rows : 0;
  if (device_library(input.device()) != nullptr) {
    torch::Tensor uniform = torch::empty(input.sizes(), input.options().dtype(torch::kFloat32));
    on_device(input.device(), &DeviceLibrary::uniform, stream_name(*evaluation.training),
              static_cast<std::uint32_t>(evaluation.first_sample), rows, dimension, std::int64_t{1},
              each, 1.0F, uniform.data_ptr<float>());
    return LeavingOut::apply(input, uniform >= probability, 1 - probability);
  }
  torch::Tensor kept = torch::empty(input.sizes(), torch::kBool);
  bool* const keep = kept.mutable_data_ptr<bool>();
  share_pieces(rows, 1, [&](std::int64_t row, std::int64_t end) {
    std::vector<float> uniform(static_cast<std::size_t>(each));
    for (; row < end; ++row) {
      evaluation.training->uniform(static_cast<std::uint32_t>(evaluation.first_sample + row),
                                   dimension, uniform);
      std::transform(uniform.begin(), uniform.end(), keep + row * each,
                     [&](float number) { return number >= probability; });
    }
  });
  return LeavingOut::apply(input, kept.to(input.device()), 1 - probability);
}

std::shared_ptr<Layer> dense_layer(std::int64_t outputs, const Activation& activation) {
  return std::make_shared<Dense>(outputs, activation);
}

std::vector<LayerKind> dense_layers() {
  return {kind_of<Dense>("dense"),          kind_of<Flatten>("flatten"),
          kind_of<Reshape>("reshape"),      kind_of<Dropout>("dropout"),
          kind_of<BatchNorm>("batch_norm"), kind_of<LayerNorm>("layer_norm"),
          kind_of<Embedding>("embedding"),  kind_of<ActivationLayer>("activation")};
}

}  // namespace sagips::nn

#include <torch/nn/modules/batchnorm.h>

#include <map>
#include <utility>

#include "sagips/core/crc32c.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/nn/layers/layers.hpp"
#include "sagips/nn/module.hpp"

namespace sagips::nn {

using core::Error;
using core::text;

namespace {

constexpr std::int64_t trial_rows = 3;
constexpr std::uint32_t calls_apart = 1U << 16U;  // dropout dimensions: layers below, calls above

std::map<std::string, MakeModule>& makers() {
  static std::map<std::string, MakeModule> all;
  return all;
}

/// What `dropout` draws with while a module of this thread evaluates rows; modules take no further
/// arguments.
struct Evaluating {
  const Evaluation& evaluation;
  std::uint32_t layer;
  std::int64_t rows;
  std::uint32_t calls = 0;
  Evaluating* outer;

  Evaluating(const Evaluation& by, std::uint32_t number, std::int64_t count)
      : evaluation(by), layer(number), rows(count), outer(std::exchange(now, this)) {}
  ~Evaluating() { now = outer; }
  Evaluating(const Evaluating&) = delete;
  Evaluating& operator=(const Evaluating&) = delete;

  static thread_local Evaluating* now;
};
thread_local Evaluating* Evaluating::now = nullptr;

/// LibTorch's own random numbers: those that modules begin with come from a seed, and what others draw
/// goes on as if nothing had happened.
class TorchNumbers {
 public:
  explicit TorchNumbers(std::uint64_t seed)
      : generator_(at::detail::getDefaultCPUGenerator()), before_(generator_.get_state()) {
    generator_.set_current_seed(seed);
    seeded_ = generator_.get_state();
  }
  ~TorchNumbers() { generator_.set_state(before_); }
  TorchNumbers(const TorchNumbers&) = delete;
  TorchNumbers& operator=(const TorchNumbers&) = delete;

  bool were_drawn() const { return !torch::equal(generator_.get_state(), seeded_); }

 private:
  torch::Generator generator_;
  torch::Tensor before_, seeded_;
};

struct NamedTensor {
  std::string name;
  torch::Tensor tensor;
};

/// A module with the tensors that a replica holds in its place, each once.
struct Module {
  AnyRowsModule any;
  std::vector<NamedTensor> parameters{}, buffers{};

  torch::Tensor forward(const torch::Tensor& rows, const Evaluation& evaluation) const {
    any.module().train(evaluation.training != nullptr);
    return any.forward(rows);
  }
};

void add_once(std::vector<NamedTensor>& list, const std::string& name,
              const torch::Tensor& tensor) {
  for (const NamedTensor& known : list) {
    if (known.tensor.is_same(tensor)) return;  // tied
    if (known.tensor.is_alias_of(tensor))
      throw Error(text("'", name, "' looks into the memory of '", known.name,
                       "'. Register one tensor, and let both use that."));
  }
  list.push_back({name, tensor});
}

Module module_of(const MakeModule& make, const Shape& input, std::uint64_t seed) {
  const TorchNumbers numbers(seed);
  Module module{make(input)};
  for (const auto& item : module.any.module().named_parameters())
    add_once(module.parameters, item.key(), item.value());
  for (const auto& item : module.any.module().named_buffers())
    if (item.value().defined() && item.value().scalar_type() != torch::kInt64)
      add_once(module.buffers, item.key(), item.value());
  return module;
}

/// Its counters alone would need whole numbers, and they count for nothing where there is a momentum.
template <class BatchNorm>
void check_momentum(const torch::nn::Module& module) {
  if (const auto* norm = module.as<BatchNorm>(); norm && !norm->options.momentum())
    throw Error("a batch norm averages over all batches. Give it a momentum.");
}

void check_tensors(const Module& module) {
  for (const auto& [name, tensor] : module.parameters) {
    if (!tensor.requires_grad())
      throw Error(text("'", name, "' is frozen, and updates move all weights. Register it as a ",
                       "buffer."));
    if (tensor.scalar_type() != torch::kFloat32)
      throw Error(text("'", name, "' holds ", tensor.dtype().name(), ", and weights are float32."));
  }
  for (const auto& [name, tensor] : module.buffers)
    if (tensor.scalar_type() != torch::kFloat32)
      throw Error(text("the buffer '", name, "' holds ", tensor.dtype().name(),
                       "; it must be float32 (int64 counters are left where they are)."));
  for (const auto& part : module.any.module().modules()) {
    check_momentum<torch::nn::BatchNorm1dImpl>(*part);
    check_momentum<torch::nn::BatchNorm2dImpl>(*part);
    check_momentum<torch::nn::BatchNorm3dImpl>(*part);
  }
}

/// What a module does with rows of its own is found by a trial, as it cannot be read.
class Trial {
 public:
  Trial(Module& module, const Shape& input) : module_(module) {
    Shape shape = input;
    shape.insert(shape.begin(), trial_rows);
    const TorchNumbers numbers(1);
    first_ = torch::randn(shape);
    other_ = torch::cat({first_.narrow(0, 0, 1), torch::randn(shape).narrow(0, 1, trial_rows - 1)});
  }

  Shape output() {
    const torch::NoGradGuard no_grad;
    const torch::Tensor rows = forward(first_, nullptr);
    if (rows.dim() == 0 || rows.size(0) != trial_rows)
      throw Error(text("it makes ", written(rows.sizes().vec()), " of ", trial_rows,
                       " rows. Its output needs a row for each."));
    return shape_of_rows(rows);
  }

  /// throws: Error for numbers of LibTorch's generator, and for weights that do nothing
  void train(LayerPlace& place) {
    const core::RandomStream stream(1, "trial of a module");
    const TorchNumbers numbers(2);
    const torch::Tensor together = forward(first_, &stream);
    if (numbers.were_drawn())
      throw Error(
          "it draws random numbers from LibTorch's generator, which all threads share, so no run "
          "would repeat. Call sagips::nn::dropout in place of torch::dropout and "
          "torch::nn::Dropout.");
    check_that_all_learn(together);
    place.is_random = calls_ > 0;
    const torch::NoGradGuard no_grad;
    const torch::Tensor beside_others = forward(other_, &stream);
    place.separable = torch::allclose(together[0], beside_others[0], 1e-4, 1e-6);
  }

 private:
  torch::Tensor forward(const torch::Tensor& rows, const core::RandomStream* training) {
    const Evaluation evaluation{.training = training};
    Evaluating evaluating(evaluation, 0, rows.size(0));
    torch::Tensor output = module_.forward(rows, evaluation);
    calls_ = evaluating.calls;
    return output;
  }

  void check_that_all_learn(const torch::Tensor& output) const {
    std::vector<torch::Tensor> weights;
    for (const NamedTensor& parameter : module_.parameters) weights.push_back(parameter.tensor);
    if (weights.empty()) return;
    const auto slopes =
        output.requires_grad()
            ? torch::autograd::grad({output.sum()}, weights, {}, {}, false, /*allow_unused=*/true)
            : torch::autograd::variable_list(weights.size());
    for (std::size_t i = 0; i < slopes.size(); ++i)
      if (!slopes[i].defined())
        throw Error(
            text("'", module_.parameters[i].name, "' is registered, and its output does not ",
                 "depend on it. Leave it out; a weight that two parts share is used through ",
                 "one of them (torch::linear(x, first->weight))."));
  }

  Module& module_;
  torch::Tensor first_, other_;
  std::uint32_t calls_ = 0;
};

class ModuleLayer final : public CopiedLayer<ModuleLayer> {
 public:
  void fields(core::FieldList& list) override {
    list.add("module", name_, "name of a torch::nn module that the program or its plug-in has");
  }

  Shape declare(const Shape& input, LayerPlace& place) override {
    const auto found = makers().find(name_);
    if (found == makers().end()) throw Error(unknown());
    make_ = found->second;
    input_ = input;
    try {
      Module module = module_of(make_, input, 0);
      check_tensors(module);
      for (std::size_t i = 0; i < module.parameters.size(); ++i)
        declare_parameter(place, module, i);
      for (const auto& [name, tensor] : module.buffers)
        place.buffers.push_back({place.name + "." + name, tensor.clone()});
      Trial trial(module, input);
      Shape output = trial.output();
      trial.train(place);
      return output;
    } catch (const Error&) {
      throw;
    } catch (const std::exception& error) {  // LibTorch's first line says what, others say where
      const std::string all = error.what();
      throw Error(text("'", name_, "' fails: ", all.substr(0, all.find('\n'))));
    }
  }

  std::shared_ptr<void> bind(std::span<torch::Tensor> weights,
                             std::span<torch::Tensor> buffers) const override {
    auto module = std::make_shared<Module>(module_of(make_, input_, 0));
    const auto look_into = [&](std::vector<NamedTensor>& own, std::span<torch::Tensor> flat) {
      for (std::size_t i = 0; i < own.size(); ++i) {
        torch::Tensor& tensor = own[i].tensor;
        tensor.requires_grad_(flat[i].requires_grad());
        tensor.set_data(flat[i].detach());
        tensor.mutable_grad() = flat[i].grad();
        flat[i] = tensor;
      }
    };
    look_into(module->parameters, weights);
    look_into(module->buffers, buffers);
    return module;
  }

  torch::Tensor operator()(const torch::Tensor& input, const LayerTensors& tensors,
                           const Evaluation& evaluation) const override {
    if (!tensors.bound) throw core::StateError("these leaves are bound to no module");
    Evaluating evaluating(evaluation, tensors.number, input.size(0));
    return static_cast<Module*>(tensors.bound)->forward(input, evaluation);
  }

 private:
  std::string unknown() const {
    std::vector<std::string> known;
    for (const auto& [name, make] : makers()) known.push_back(name);
    if (known.empty())
      return text("There is no module '", name_,
                  "': neither the program nor `plugin: FILE` of the ",
                  "config has one (sagips::nn::add_module).");
    return text("There is no module '", name_, "'", core::suggestion(name_, known), ".");
  }

  // All of its weights begin as one module of a seed has them.
  void declare_parameter(LayerPlace& place, const Module& module, std::size_t i) const {
    const auto& [name, tensor] = module.parameters[i];
    const auto number = core::crc32c(place.name);
    place.parameters.push_back(
        {.name = place.name + "." + name,
         .shape = tensor.sizes().vec(),
         .is_bias = name.size() >= 4 && name.compare(name.size() - 4, 4, "bias") == 0,
         .initial = [make = make_, input = input_, number, i](const core::RandomStream& stream) {
           std::int64_t seed = 0;
           stream.integers(number, 0, 1U << 31U, {&seed, 1});
           return module_of(make, input, static_cast<std::uint64_t>(seed))
               .parameters[i]
               .tensor.detach();
         }});
  }

  std::string name_;
  MakeModule make_;  ///< once declared
  Shape input_;
};

}  // namespace

void add_module(const std::string& name, MakeModule make) {
  makers().insert_or_assign(name, std::move(make));
}

torch::Tensor dropout(const torch::Tensor& input, double probability) {
  Evaluating* const evaluating = Evaluating::now;
  if (!evaluating || !evaluating->evaluation.training || probability <= 0) return input;
  if (input.dim() == 0 || input.size(0) != evaluating->rows || probability >= 1)
    throw Error(text("dropout of ", probability, " for ", written(input.sizes().vec()),
                     " numbers: it takes a share below 1, and the ", evaluating->rows,
                     " rows of the module's input come first."));
  return left_out(input, probability, evaluating->evaluation,
                  evaluating->layer + calls_apart * ++evaluating->calls);
}

std::vector<LayerKind> module_layers() { return {kind_of<ModuleLayer>("module")}; }

}  // namespace sagips::nn

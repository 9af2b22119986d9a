#include "sagips/nn/layers/bound_module.hpp"

#include <utility>

#include "sagips/core/crc32c.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/exception_watch.hpp"
#include "sagips/core/text.hpp"
#include "sagips/nn/layers/layers.hpp"
#include "sagips/nn/module.hpp"
#include "sagips/nn/script.hpp"

namespace sagips::nn {

using core::Error;
using core::text;

namespace {

constexpr std::int64_t trial_rows = 3;
constexpr std::uint32_t calls_apart = 1U << 16U;  // dropout dimensions: layers below, calls above

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

std::shared_ptr<BoundModule> made(const MakeBoundModule& make, std::uint64_t seed) {
  const TorchNumbers numbers(seed);
  return make(seed);
}

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

void check_tensors(const BoundModule& module) {
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
                       "; it must be float32 (whole numbers are left where they are)."));
}

/// What a module does with rows of its own is found by a trial, as it cannot be read.
class Trial {
 public:
  Trial(BoundModule& module, const Shape& input, const char* random_numbers,
        const char* unused_weight)
      : module_(module), random_numbers_(random_numbers), unused_weight_(unused_weight) {
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

  /// throws: Error for weights that do nothing
  void train(LayerPlace& place) {
    const core::RandomStream stream(1, "trial of a module");
    const torch::Tensor together = forward(first_, &stream);
    check_that_all_learn(together);
    place.is_random = calls_ > 0;
    const torch::NoGradGuard no_grad;
    const torch::Tensor beside_others = forward(other_, &stream);
    place.separable =
        torch::allclose(together[0], beside_others[0], 1e-4, 1e-6) && !moves_buffers(place);
    place.keeps_to_own_rows = !place.separable;
  }

 private:
  /// throws: Error for numbers of LibTorch's generator
  torch::Tensor forward(const torch::Tensor& rows, const core::RandomStream* training) {
    const Evaluation evaluation{.training = training};
    Evaluating evaluating(evaluation, 0, rows.size(0));
    const TorchNumbers numbers(2);
    torch::Tensor output = module_.forward(rows, training != nullptr);
    if (numbers.were_drawn())
      throw Error(
          text("it draws random numbers from LibTorch's generator, which all threads share, so no "
               "run would repeat. ",
               random_numbers_));
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
        throw Error(text("'", module_.parameters[i].name, "' is registered, and its output does ",
                         "not depend on it. ", unused_weight_));
  }

  // Tiles on several threads would write to the same ones.
  bool moves_buffers(const LayerPlace& place) const {
    for (std::size_t i = 0; i < place.buffers.size(); ++i)
      if (!torch::equal(module_.buffers[i].tensor, place.buffers[i].initial)) return true;
    return false;
  }

  BoundModule& module_;
  const char *random_numbers_, *unused_weight_;
  torch::Tensor first_, other_;
  std::uint32_t calls_ = 0;
};

}  // namespace

torch::Tensor BoundModule::joined(const std::vector<NamedTensor>& several, std::int64_t rows) {
  std::vector<torch::Tensor> pieces;
  core::RowTensors shapes;
  for (const auto& [name, tensor] : several) {
    if (tensor.dim() == 0 || tensor.size(0) != rows)
      throw Error(text("it makes ", written(tensor.sizes().vec()), " of ", rows, " rows as '", name,
                       "'. Each output needs a row for each."));
    shapes.add(name, tensor.dim() == 1 ? Shape{1} : shape_of_rows(tensor));
    pieces.push_back(tensor.reshape({rows, -1}));
  }
  outputs = std::move(shapes);
  return torch::cat(pieces, 1);
}

void BoundModule::add_parameter(const std::string& name, const torch::Tensor& tensor) {
  add_once(parameters, name, tensor);
}

void BoundModule::add_buffer(const std::string& name, const torch::Tensor& tensor) {
  if (tensor.defined() && (tensor.is_floating_point() || tensor.is_complex()))
    add_once(buffers, name, tensor);
}

Shape BoundLayer::declare(const Shape& input, LayerPlace& place) {
  try {
    make_ = maker(input, place.input_tensors);
    const auto module = made(make_, 0);
    check_tensors(*module);
    const auto number = core::crc32c(place.name);
    for (std::size_t i = 0; i < module->parameters.size(); ++i) {
      const auto& [own, tensor] = module->parameters[i];
      ParameterTensor& parameter = place.parameters.emplace_back();
      parameter.name = place.name + "." + own;
      parameter.shape = tensor.sizes().vec();
      parameter.is_bias = own.size() >= 4 && own.compare(own.size() - 4, 4, "bias") == 0;
      if (draws_weights())  // all as one module of a seed has them
        parameter.initial = [make = make_, number, i](const core::RandomStream& stream) {
          std::int64_t seed = 0;
          stream.integers(number, 0, 1U << 31U, {&seed, 1});
          return made(make, static_cast<std::uint64_t>(seed))->parameters[i].tensor.detach();
        };
      else
        parameter.initial = [begin = tensor.detach()](const core::RandomStream&) { return begin; };
    }
    for (const auto& [own, tensor] : module->buffers)
      place.buffers.push_back({place.name + "." + own, tensor.clone()});
    Trial trial(*module, input, advice().random_numbers, advice().unused_weight);
    Shape output = trial.output();
    trial.train(place);
    place.output_tensors = module->outputs;
    return output;
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    core::pass_on_raised();
    throw Error(text("'", name(), "' fails: ", reason_of(error.what())));
  }
}

std::shared_ptr<void> BoundLayer::bind(std::span<torch::Tensor> weights,
                                       std::span<torch::Tensor> buffers) const {
  auto module = made(make_, 0);
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

torch::Tensor BoundLayer::operator()(const torch::Tensor& input, const LayerTensors& tensors,
                                     const Evaluation& evaluation) const {
  if (!tensors.bound) throw core::StateError("these leaves are bound to no module");
  Evaluating evaluating(evaluation, tensors.number, input.size(0));
  return static_cast<BoundModule*>(tensors.bound)->forward(input, evaluation.training != nullptr);
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

}  // namespace sagips::nn

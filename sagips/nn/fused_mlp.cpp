#include "sagips/nn/fused_mlp.hpp"

#include <algorithm>
#include <vector>

#include "sagips/core/config/effects.hpp"
#include "sagips/core/error.hpp"
#include "sagips/nn/kernel_function.hpp"

namespace sagips::nn {

namespace {

using kernels::MlpPasses;

std::vector<float*> gradients_of(Leaves& leaves) {
  std::vector<float*> gradients;
  for (const torch::Tensor& leaf : leaves.tensors)
    gradients.push_back(leaf.grad().data_ptr<float>());
  return gradients;
}

/// Outputs whose way back is a second forward pass with the slopes that are known by then.
struct ByWeights : torch::autograd::Function<ByWeights> {
  /// trigger: any leaf, so that the way back is gone at all.
  static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor&,
                               const torch::Tensor& input, const FusedMlp* mlp, Leaves* leaves) {
    context->save_for_backward({input});
    context->saved_data["mlp"] = reinterpret_cast<std::int64_t>(mlp);
    context->saved_data["leaves"] = reinterpret_cast<std::int64_t>(leaves);
    return mlp->outputs(input, nullptr);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    refuse_second_derivatives("fused dense layers", " Set dense.library=libtorch.");
    // The context keeps numbers and tensors, no pointers. NOLINTBEGIN(performance-no-int-to-ptr)
    const auto* mlp = reinterpret_cast<const FusedMlp*>(context->saved_data["mlp"].toInt());
    auto* leaves = reinterpret_cast<Leaves*>(context->saved_data["leaves"].toInt());
    // NOLINTEND(performance-no-int-to-ptr)
    mlp->add_gradients(context->get_saved_variables()[0], gradients[0].contiguous(), *leaves);
    return {torch::Tensor(), torch::Tensor(), torch::Tensor(), torch::Tensor()};
  }
};

/// Numbers whose slopes by the input are known already.
struct KnownSlopes : torch::autograd::Function<KnownSlopes> {
  static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor&,
                               const torch::Tensor& output, const torch::Tensor& slopes) {
    context->save_for_backward({slopes});
    return output;
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    refuse_second_derivatives("fused dense layers", " Set dense.library=libtorch.");
    const torch::Tensor slopes = context->get_saved_variables()[0];
    return {gradients[0].unsqueeze(-1) * slopes, torch::Tensor(), torch::Tensor()};
  }
};

bool wants_slopes(const torch::Tensor& input) {
  return input.requires_grad() && torch::GradMode::is_enabled();
}

/// By kernels::MlpPasses.
class CpuMlp final : public FusedMlp {
 public:
  explicit CpuMlp(MlpPasses passes) : passes_(std::move(passes)) {}

  void pack(const Leaves& leaves) override {
    std::vector<const float*> parameters;
    for (const torch::Tensor& leaf : leaves.tensors) parameters.push_back(leaf.data_ptr<float>());
    passes_.pack(parameters);
  }
  bool is_on_cpu() const override { return true; }

  // Blocks do not know each other, so they may go to LibTorch's threads; a thread that takes tiles
  // has none of those.
  torch::Tensor outputs(const torch::Tensor& input, torch::Tensor* slopes) const override {
    const std::int64_t inputs = passes_.shape().inputs(), width = passes_.shape().outputs(),
                       rows = input.size(0);
    torch::Tensor output = torch::empty({rows, width}, input.options());
    if (slopes) *slopes = torch::empty_like(input);
    const float* const from = input.data_ptr<float>();
    float *const to = output.data_ptr<float>(), *const by_input =
                                                    slopes ? slopes->data_ptr<float>() : nullptr;
    const std::int64_t step = passes_.block_rows(), blocks = (rows + step - 1) / step;
    share_pieces(blocks, 1, [&](std::int64_t block, std::int64_t end) {
      const std::int64_t first = block * step;
      passes_.evaluate({from + first * inputs, std::min(end * step, rows) - first,
                        to + first * width, by_input ? by_input + first * inputs : nullptr});
    });
    return output;
  }

  void add_gradients(const torch::Tensor& input, const torch::Tensor& slopes,
                     Leaves& leaves) const override {
    torch::Tensor output = torch::empty_like(slopes);
    passes_.learn(
        {input.data_ptr<float>(), input.size(0), output.data_ptr<float>(), nullptr},
        [&](std::span<const float>, std::int64_t first, std::span<float> to) {
          std::copy_n(slopes.data_ptr<float>() + first * passes_.shape().outputs(), to.size(),
                      to.data());
        },
        gradients_of(leaves));
  }

  torch::Tensor learn(const torch::Tensor& given, const Slopes& slopes,
                      Leaves& leaves) const override {
    const torch::Tensor input = given.detach().contiguous();
    std::vector<std::int64_t> shape(input.sizes().begin(), input.sizes().end() - 1);
    if (passes_.shape().outputs() > 1) shape.push_back(passes_.shape().outputs());
    torch::Tensor output = torch::empty(shape, input.options()), by_input;
    if (wants_slopes(given)) by_input = torch::empty_like(input);
    passes_.learn(
        {input.data_ptr<float>(), input.numel() / passes_.shape().inputs(),
         output.data_ptr<float>(), by_input.defined() ? by_input.data_ptr<float>() : nullptr},
        slopes, gradients_of(leaves));
    return by_input.defined() ? KnownSlopes::apply(given, output, by_input) : output;
  }

 private:
  MlpPasses passes_;
};

}  // namespace

void DenseConfig::fields(core::FieldList& list) {
  std::vector<std::string> choices = {"auto", "libtorch"};
  for (const std::string& name : kernels::available_products()) choices.push_back(name);
  list.add_choice(
      "library", choices, [this] { return library; },
      [this](const std::string& chosen) { library = chosen; },
      "who multiplies matrices in the networks' fused passes; auto: the first of those here; "
      "libtorch: plain LibTorch layers");
  list.add("block_rows", block_rows,
           "events whose activations are in the cache at a time; 0: as many as its size allows",
           core::Range::between(0, 1e6));
  core::needs(list, library != "libtorch", "library=auto or that of fused passes", {"block_rows"});
}

std::unique_ptr<FusedMlp> FusedMlp::make(const Network& network, const DenseConfig& config,
                                         torch::Device device) {
  if (config.library == "libtorch" || !network.fusable()) return nullptr;
  const kernels::MlpShape& shape = *network.fusable();
  if (!device.is_cpu()) return make_device_mlp(shape, device);
  const std::string library =
      config.library == "auto" ? kernels::available_products().front() : config.library;
  const std::int64_t block_rows =
      config.block_rows > 0 ? config.block_rows
                            : kernels::rows_in_cache(shape, kernels::second_level_cache());
  return std::make_unique<CpuMlp>(
      MlpPasses(shape, block_rows, kernels::products(library, "dense.library")));
}

torch::Tensor FusedMlp::operator()(const torch::Tensor& input) const {
  const torch::Tensor rows = input.detach().reshape({-1, input.size(-1)}).contiguous();
  const auto shape = input.sizes().slice(0, static_cast<std::size_t>(input.dim() - 1));
  if (!wants_slopes(input)) return outputs(rows, nullptr).view(shape);
  torch::Tensor slopes;
  const torch::Tensor output = outputs(rows, &slopes);
  return KnownSlopes::apply(input, output.view(shape), slopes.view(input.sizes()));
}

torch::Tensor FusedMlp::operator()(const torch::Tensor& input, Leaves& leaves) const {
  return ByWeights::apply(leaves.tensors[0], input.contiguous(), this, &leaves);
}

torch::Tensor FusedMlp::learn(const torch::Tensor&, const Slopes&, Leaves&) const {
  throw core::StateError("passes on a GPU do not ask the CPU for slopes.");
}

torch::Tensor FusedMlp::learn(const torch::Tensor&, const KnownLoss&, Leaves&) const {
  throw core::StateError("passes on the CPU know no loss.");
}

}  // namespace sagips::nn

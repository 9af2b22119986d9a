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
                               const torch::Tensor& input, const MlpPasses* passes,
                               Leaves* leaves) {
    torch::Tensor output =
        torch::empty({input.size(0), passes->shape().outputs()}, input.options());
    passes->evaluate({input.data_ptr<float>(), input.size(0), output.data_ptr<float>(), nullptr});
    context->save_for_backward({input});
    context->saved_data["passes"] = reinterpret_cast<std::int64_t>(passes);
    context->saved_data["leaves"] = reinterpret_cast<std::int64_t>(leaves);
    return output;
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    refuse_second_derivatives("fused dense layers", " Set dense.library=libtorch.");
    const torch::Tensor input = context->get_saved_variables()[0];
    const torch::Tensor known = gradients[0].contiguous();
    // The context keeps numbers and tensors, no pointers. NOLINTBEGIN(performance-no-int-to-ptr)
    const auto* passes = reinterpret_cast<const MlpPasses*>(context->saved_data["passes"].toInt());
    auto* leaves = reinterpret_cast<Leaves*>(context->saved_data["leaves"].toInt());
    // NOLINTEND(performance-no-int-to-ptr)
    torch::Tensor output = torch::empty_like(known);
    passes->learn(
        {input.data_ptr<float>(), input.size(0), output.data_ptr<float>(), nullptr},
        [&](std::span<const float>, std::int64_t first, std::span<float> slopes) {
          std::copy_n(known.data_ptr<float>() + first * passes->shape().outputs(), slopes.size(),
                      slopes.data());
        },
        gradients_of(*leaves));
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

/// Input and results of a call as the passes want them.
struct Call {
  torch::Tensor input, output, slopes;  ///< slopes: undefined when nobody will ask for them

  Call(const torch::Tensor& given, std::int64_t outputs) {
    input = given.detach().contiguous();
    std::vector<std::int64_t> shape(input.sizes().begin(), input.sizes().end() - 1);
    if (outputs > 1) shape.push_back(outputs);
    output = torch::empty(shape, input.options());
    if (given.requires_grad() && torch::GradMode::is_enabled()) slopes = torch::empty_like(input);
  }
  MlpPasses::Rows rows(std::int64_t first, std::int64_t count, std::int64_t inputs) const {
    return {input.data_ptr<float>() + first * inputs, count, output.data_ptr<float>() + first,
            slopes.defined() ? slopes.data_ptr<float>() + first * inputs : nullptr};
  }
  torch::Tensor result(const torch::Tensor& given) const {
    return slopes.defined() ? KnownSlopes::apply(given, output, slopes) : output;
  }
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
  if (config.library == "libtorch" || !device.is_cpu() || !network.fusable()) return nullptr;
  const std::string library =
      config.library == "auto" ? kernels::available_products().front() : config.library;
  const kernels::MlpShape& shape = *network.fusable();
  const std::int64_t block_rows =
      config.block_rows > 0 ? config.block_rows
                            : kernels::rows_in_cache(shape, kernels::second_level_cache());
  return std::unique_ptr<FusedMlp>(
      new FusedMlp({shape, block_rows, kernels::products(library, "dense.library")}));
}

void FusedMlp::pack(const Leaves& leaves) {
  std::vector<const float*> parameters;
  for (const torch::Tensor& leaf : leaves.tensors) parameters.push_back(leaf.data_ptr<float>());
  passes_.pack(parameters);
}

// Blocks do not know each other, so they may go to LibTorch's threads; a thread that takes tiles
// has none of those.
torch::Tensor FusedMlp::operator()(const torch::Tensor& input) const {
  const Call call(input, 1);
  const std::int64_t inputs = passes_.shape().inputs(), rows = call.output.numel();
  const std::int64_t step = passes_.block_rows(), blocks = (rows + step - 1) / step;
  share_pieces(blocks, 1, [&](std::int64_t first, std::int64_t end) {
    passes_.evaluate(call.rows(first * step, std::min(end * step, rows) - first * step, inputs));
  });
  return call.result(input);
}

torch::Tensor FusedMlp::learn(const torch::Tensor& input, const Slopes& slopes,
                              Leaves& leaves) const {
  const std::int64_t inputs = passes_.shape().inputs();
  const Call call(input, passes_.shape().outputs());
  passes_.learn(call.rows(0, call.input.numel() / inputs, inputs), slopes, gradients_of(leaves));
  return call.result(input);
}

torch::Tensor FusedMlp::operator()(const torch::Tensor& input, Leaves& leaves) const {
  return ByWeights::apply(leaves.tensors[0], input.contiguous(), &passes_, &leaves);
}

}  // namespace sagips::nn

#include <torch/torch.h>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/nn/device_layers.hpp"
#include "sagips/nn/kernel_function.hpp"
#include "sagips/nn/layers/chain.hpp"
#include "sagips/nn/layers/layers.hpp"
#include "sagips/nn/pair_messages.hpp"

namespace sagips::nn {

using core::Error;
using core::text;

namespace {

/// Each particle of an event hears from all others. The first layer of messages acts on (receiver, sender), so that
/// it is a sum of a half for each of them, made once a particle in place of once a pair.
/// source: Battaglia et al., arXiv 1612.00222; of jets: Moreno et al., arXiv 1908.05318
class Interaction final : public CopiedLayer<Interaction> {
 public:
  void fields(core::FieldList& list) override {
    core::FieldList own;
    own.list(
        "messages", messages_,
        "dense layers on the numbers of a receiver and a sender; what they make is summed over "
        "all senders but the receiver itself");
    own.list(
        "objects", objects_,
        "layers on each particle's numbers and, behind them, the sum of its messages; none: the "
        "sums alone come out");
    own.add("sum", is_summed_, "adds up what all particles make");
    own.add("skip_empty", skips_empty_,
            "particles whose numbers are all 0 send and receive nothing and end as 0");
    list.add_group("interaction", std::move(own),
                   "particles of a sample [particles, numbers] that tell each other messages");
  }

  Shape declare(const Shape& input, LayerPlace& place) override {
    if (input.size() != 2 || input[0] < 2)
      throw Error("It needs samples [particles, numbers] of two particles or more.");
    if (messages_.empty()) throw Error("It has no messages. Name at least one dense layer.");
    particles_ = input[0];
    const std::string key = place.key + ".interaction";
    const std::int64_t before = place.operations;
    message_ =
        Chain(messages_, {2 * input[1]}, {}, place.name + ".messages.", key + ".messages", place);
    activations_ = message_.dense_activations();
    if (activations_.empty())
      throw Error("Its messages are dense layers with a bias alone. Put others into objects.");
    const std::int64_t once = particles_ * place.parameters[0].size();
    place.operations =
        before + once +
        particles_ * (particles_ - 1) * (place.operations - before - place.parameters[0].size());
    prepare(place);
    place.skips_empty = place.skips_empty || skips_empty_;
    const Shape each = {particles_, message_.output()[0] + (objects_.empty() ? 0 : input[1])};
    object_ = Chain(objects_, each, {}, place.name + ".objects.", key + ".objects", place);
    for (const Chain* chain : {&message_, &object_})
      place.inside.insert(place.inside.end(), chain->layers().begin(), chain->layers().end());
    Shape output = object_.output();
    if ((is_summed_ || skips_empty_) && (output.size() != 2 || output[0] != particles_))
      throw Error(text("objects makes ", written(output), ", and sum and skip_empty need [",
                       particles_, ", numbers]. Leave out what joins particles."));
    if (is_summed_) output.erase(output.begin());
    return output;
  }

  std::shared_ptr<void> bind(std::span<torch::Tensor> weights,
                             std::span<torch::Tensor> buffers) const override {
    return std::make_shared<Chain::Bound>(
        object_.bind(weights.subspan(message_.parameters()), buffers));
  }

  torch::Tensor operator()(const torch::Tensor& input, const LayerTensors& tensors,
                           const Evaluation& evaluation) const override {
    static const Chain::Bound nothing;
    const torch::Tensor present = skips_empty_ ? (input != 0).any(-1) : torch::Tensor();
    torch::Tensor values = messages(input, present, tensors.weights.first(message_.parameters()));
    if (!objects_.empty()) {
      const auto* const bound = static_cast<const Chain::Bound*>(tensors.bound);
      values =
          object_(torch::cat({input, values}, -1), tensors.weights.subspan(message_.parameters()),
                  tensors.buffers, bound ? *bound : nothing, evaluation);
      if (present.defined()) values = values.masked_fill(~present.unsqueeze(-1), 0);
    }
    return is_summed_ ? values.sum(1) : values;
  }

 private:
  // Passes of our own, where they know the functions between layers.
  void prepare(const LayerPlace& place) {
    kernels::PairShape shape{particles_, {}, {}, skips_empty_};
    for (std::size_t i = 0; i < activations_.size(); ++i) {
      const auto known = activations_[i]->fusable();
      if (!known) return;
      shape.widths.push_back(place.parameters[2 * i].shape[0]);
      shape.activations.push_back(*known);
    }
    passes_ = std::make_shared<kernels::PairPasses>(
        shape, kernels::products(kernels::available_products().front()));
  }

  // shape: [rows, particles, numbers] -> [rows, particles, width of messages]
  torch::Tensor messages(const torch::Tensor& input, const torch::Tensor& present,
                         std::span<const torch::Tensor> weights) const {
    const std::int64_t width = weights[0].size(0), numbers = input.size(2);
    const torch::Tensor both =
        weights[0].view({width, 2, numbers}).transpose(0, 1).reshape({2 * width, numbers});
    const torch::Tensor halves =
        torch::linear(input, both, torch::cat({weights[1], torch::zeros_like(weights[1])}))
            .view({input.size(0), particles_, 2, width});
    const bool is_for_gpu = passes_ && suits_gpu(passes_->shape(), halves);
    if (!passes_ || !(is_for_gpu || suits_kernels(halves)))
      return of_all_pairs(halves, present, weights);
    std::vector<torch::Tensor> flat = {torch::empty({0}, weights[0].options())};
    for (const torch::Tensor& tensor : weights.subspan(2)) flat.push_back(tensor.flatten());
    return is_for_gpu ? gpu_pair_messages(passes_->shape(), halves, present, torch::cat(flat))
                      : pair_messages(passes_, halves, present, torch::cat(flat));
  }

  torch::Tensor of_all_pairs(const torch::Tensor& halves, const torch::Tensor& present,
                             std::span<const torch::Tensor> weights) const {
    torch::Tensor values =
        (*activations_[0])(halves.select(2, 0).unsqueeze(2) + halves.select(2, 1).unsqueeze(1));
    for (std::size_t i = 1; i < activations_.size(); ++i)
      values = (*activations_[i])(torch::linear(values, weights[2 * i], weights[2 * i + 1]));
    torch::Tensor left_out =
        torch::eye(particles_, halves.options().dtype(torch::kBool).requires_grad(false));
    if (present.defined())
      left_out = left_out.logical_or(~(present.unsqueeze(2) & present.unsqueeze(1)));
    return values.masked_fill(left_out.unsqueeze(-1), 0).sum(2);
  }

  std::vector<LayerConfig> messages_, objects_;
  bool is_summed_ = false, skips_empty_ = false;
  // once declared
  std::int64_t particles_ = 0;
  Chain message_, object_;
  std::vector<const Activation*> activations_;
  std::shared_ptr<const kernels::PairPasses> passes_;
};

}  // namespace

std::vector<LayerKind> pair_layers() { return {kind_of<Interaction>("interaction")}; }

}  // namespace sagips::nn

#include "sagips/env/compare/event_classifier.hpp"

#include <cmath>
#include <numbers>

#include "sagips/env/noise/noise.hpp"

namespace sagips::env {

namespace {

constexpr double beta1 = 0.9, beta2 = 0.99, epsilon = 1e-8;  // of Adam
constexpr double least_width = 1e-12;

// Weighted mean over the events, differentiable by both factors.
torch::Tensor mean_by_weight(const torch::Tensor& numbers, const torch::Tensor& weights) {
  if (!weights.defined()) return numbers.mean();
  const torch::Tensor same = weights.to(numbers.scalar_type());
  return (numbers * same).sum() / same.sum();
}

// Kaiming-normal weights as in nn::initialise_kaiming_normal, zero biases.
std::vector<torch::Tensor> initial_weights(std::int64_t inputs,
                                           const EventClassifier::Config& config,
                                           const core::RandomStream& stream) {
  const PhiloxNoise noise(stream);
  std::vector<torch::Tensor> weights;
  std::int64_t fan_in = inputs;
  for (std::int64_t layer = 0; layer <= config.layers; ++layer) {
    const std::int64_t outputs = layer == config.layers ? 1 : config.width;
    const torch::Tensor normal =
        torch::special_ndtri(noise.uniform(layer, 1, outputs * fan_in, 0, torch::kFloat32))
            .view({outputs, fan_in});
    const double gain = layer == config.layers ? 1 : 2;
    weights.push_back(normal * std::sqrt(gain / static_cast<double>(fan_in)));
    weights.push_back(torch::zeros({outputs}));
    fan_in = outputs;
  }
  return weights;
}

}  // namespace

void EventClassifier::Config::fields(core::FieldList& list) {
  list.add("width", width, "neurons of each hidden layer", core::Range::between(1, 4096));
  list.add("layers", layers, "hidden layers; 0: logistic regression", core::Range::between(0, 16));
  list.add("steps", steps, "training steps, each on all events", core::Range::between(1, 1e6));
  list.add("learning_rate", learning_rate, "first step size of AdamW; falls along a cosine",
           core::Range::positive());
  list.add("weight_decay", weight_decay, "of AdamW, against learning events by heart",
           core::Range::at_least(0));
}

EventClassifier::EventClassifier(const Config& config, const EventRows& measured,
                                 const EventRows& synthetic, const core::RandomStream& stream) {
  torch::AutoGradMode with_gradients(true);
  const EventRows data{measured.values.detach().to(torch::kFloat32), measured.weights};
  const EventRows made{
      synthetic.values.detach().to(torch::kFloat32),
      synthetic.weights.defined() ? synthetic.weights.detach() : synthetic.weights};
  const torch::Tensor both = torch::cat({data.values, made.values});
  shift_ = both.mean(0);
  scale_ = both.std(0, false).clamp_min(least_width);
  weights_ = initial_weights(both.size(1), config, stream);
  std::vector<torch::Tensor> mean, square, counts;
  for (torch::Tensor& weight : weights_) {
    weight.requires_grad_();
    mean.push_back(torch::zeros_like(weight));
    square.push_back(torch::zeros_like(weight));
    counts.push_back(torch::zeros({}));
  }
  for (std::int64_t step = 0; step < config.steps; ++step) {
    const auto slopes = torch::autograd::grad({loss(data, made)}, weights_);
    const double progress = static_cast<double>(step) / static_cast<double>(config.steps);
    const double rate = config.learning_rate * 0.5 * (1 + std::cos(std::numbers::pi * progress));
    torch::NoGradGuard no_grad;
    for (torch::Tensor& count : counts) count += 1;
    at::_fused_adamw_(weights_, slopes, mean, square, {}, counts, rate, beta1, beta2,
                      config.weight_decay, epsilon, /*amsgrad=*/false, /*maximize=*/false);
  }
  for (torch::Tensor& weight : weights_) weight = weight.detach();
}

torch::Tensor EventClassifier::logits(const torch::Tensor& values) const {
  torch::Tensor flow = (values - shift_.to(values.scalar_type())) / scale_.to(values.scalar_type());
  for (std::size_t i = 0; i < weights_.size(); i += 2) {
    if (i > 0) flow = torch::silu(flow);
    flow = torch::linear(flow, weights_[i].to(flow.scalar_type()),
                         weights_[i + 1].to(flow.scalar_type()));
  }
  return flow.squeeze(-1);
}

torch::Tensor EventClassifier::loss(const EventRows& measured, const EventRows& synthetic) const {
  // -ln sigmoid(z) = softplus(-z)
  const torch::Tensor real =
      mean_by_weight(torch::softplus(-logits(measured.values)), measured.weights);
  const torch::Tensor made =
      mean_by_weight(torch::softplus(logits(synthetic.values)), synthetic.weights);
  return 0.5 * (real + made.to(real.scalar_type()));
}

}  // namespace sagips::env

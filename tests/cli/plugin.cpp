// The plug-in of the tests: stages, one with a nested Config; networks, a loss and a metric.
#include <torch/nn/modules/linear.h>

#include "sagips/env/outside/plugin.hpp"
#include "sagips/nn/module.hpp"
#include "sagips/optim/learn/losses.hpp"
#include "sagips/optim/learn/metrics.hpp"

namespace {

struct Decay {
  double clock = 0.3;
  void fields(sagips::core::FieldList& list) {
    list.add("clock", clock, "resolution [us]", sagips::core::Range::at_least(0));
  }
  /// Decay times of the first parameter; any others change nothing.
  torch::Tensor operator()(torch::Tensor parameters, sagips::env::Noise& noise) const {
    const torch::Tensor lifetime = parameters.narrow(1, 0, 1);
    return (lifetime * -torch::log(noise.uniform()) + clock * noise.normal()).unsqueeze(2);
  }
};

/// Decays and a background that is flat up to 20, in equal numbers, weighted by the second parameter.
struct DecayWithBackground {
  sagips::env::Events operator()(sagips::env::Events parameters, sagips::env::Noise& noise) const {
    const torch::Tensor lifetime = parameters.values.narrow(1, 0, 1),
                        fraction = parameters.values.narrow(1, 1, 1);
    const torch::Tensor background = noise.uniform() < 0.5;
    const torch::Tensor place = noise.uniform();
    parameters.values =
        torch::where(background, 20 * place, -lifetime * torch::log(place)).unsqueeze(2);
    parameters.weights = torch::where(background, fraction, 1 - fraction);
    return parameters;
  }
};

struct Shift {
  struct Config {
    double by = 1;
    void fields(sagips::core::FieldList& list) { list.add("by", by, "how far"); }
  };
  explicit Shift(const Config& config) : by_(config.by) {}
  torch::Tensor operator()(torch::Tensor events, sagips::env::Noise&) const { return events + by_; }

 private:
  double by_;
};

/// An efficiency that falls with time: a weight in either form.
struct Efficiency {
  sagips::env::Events operator()(sagips::env::Events events, sagips::env::Noise&) const {
    events.weights = torch::exp(-events.values.select(2, 0).clamp_min(0) / 2);
    return events;
  }
};

struct TwoLayersImpl : torch::nn::Module {
  torch::nn::Linear first{nullptr}, second{nullptr};
  double left_out;
  TwoLayersImpl(std::int64_t inputs, double dropout) : left_out(dropout) {
    first = register_module("first", torch::nn::Linear(inputs, 24));
    second = register_module("second", torch::nn::Linear(24, 24));
  }
  torch::Tensor forward(const torch::Tensor& rows) {
    const torch::Tensor hidden = torch::leaky_relu(first->forward(rows), 0.2);
    return torch::leaky_relu(second->forward(sagips::nn::dropout(hidden, left_out)), 0.2);
  }
};
TORCH_MODULE(TwoLayers);

torch::Tensor squared_entropy(const torch::Tensor& outputs, const torch::Tensor& targets) {
  return torch::cross_entropy_loss(outputs, targets, {}, at::Reduction::None).square();
}

void add_networks() {
  using sagips::nn::Shape;
  sagips::nn::add_module("two_layers", [](const Shape& input) { return TwoLayers(input[0], 0); });
  sagips::nn::add_module("with_dropout",
                         [](const Shape& input) { return TwoLayers(input[0], 0.2); });
  sagips::optim::add_loss(
      {"squared_entropy", sagips::optim::Loss::Targets::classes, squared_entropy,
       [](const torch::Tensor& outputs) { return torch::softmax(outputs, -1); }});
  sagips::optim::add_metric(
      {"mean_probability", [](const torch::Tensor& predicted, const torch::Tensor&,
                              const torch::Tensor&) { return predicted.mean().item<double>(); }});
}

}  // namespace

#ifdef SAGIPS_PRETENDED_BUILD
#undef SAGIPS_BUILD
#define SAGIPS_BUILD SAGIPS_PRETENDED_BUILD
#endif
SAGIPS_PLUGIN(stages) {
  add_networks();
  stages.add<Decay>("decay", "times of decays");
  stages.add<DecayWithBackground>("decay_with_background", "times of decays and of background");
  stages.add<Shift>("shift", "moves events");
  stages.add<Efficiency>("efficiency", "weighs events");
}

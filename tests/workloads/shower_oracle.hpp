#pragma once
#include <array>
#include <numbers>
#include <string>
#include <vector>

#include <torch/nn.h>

#include "sagips/nn/replica.hpp"

namespace sagips::testing {

/// A leaky ReLU, or with a slope of 0 a ReLU, that is told on which side of its kink each number lies: of millions
/// of sums a few are so near to 0 that rounding decides, and one of them changes a gradient's norm by a thousandth.
/// A side that rounding does not excuse shows in what the network gives.
struct Kink : torch::nn::Module {
  explicit Kink(double slope) : slope_(slope) {}
  torch::Tensor forward(torch::Tensor x) { return torch::where(is_above, x, slope_ * x); }
  torch::Tensor is_above;

 private:
  double slope_;
};

/// The networks of the calorimeter GAN and its losses by LibTorch's own modules and autograd, without dropout.
/// source: github CERN-IT-INNOVATION/3DGAN, of which sizes, losses and rates are
class ShowerOracle {
 public:
  /// The networks of default.yaml, or those of laptop.yaml.
  ShowerOracle(bool is_full, torch::Dtype type) : type_(type), power_(is_full ? 0.85 : 0.5) {
    is_full ? add_full() : add_laptop();
    for (const auto& part : parts()) part->to(type);
  }

  torch::Dtype type() const { return type_; }
  /// shape: [rows, inputs] -> [rows, 1, X, Y, Z]
  torch::Tensor make(const torch::Tensor& input) { return generator_->forward(input); }
  /// Puts a network on the side of its kinks on which ours is. activations: of ours, in order
  void take_sides(bool of_generator, const std::vector<torch::Tensor>& activations) {
    std::size_t i = 0;
    for (const auto& module : (of_generator ? generator_ : trunk_)->children())
      if (auto* kink = module->as<Kink>()) kink->is_above = activations.at(i++) > 0;
    TORCH_CHECK(i == activations.size());
  }

  /// Logits of being real, and energies. shape: images [rows, 1, X, Y, Z] -> [rows, 2]
  torch::Tensor judge(const torch::Tensor& images) {
    const torch::Tensor numbers = trunk_->forward(images);
    return torch::cat({real_->forward(numbers), energy_->forward(numbers)}, 1);
  }
  std::vector<torch::Tensor> weights(bool of_generator) const {
    if (of_generator) return generator_->parameters();
    std::vector<torch::Tensor> all = trunk_->parameters();
    for (const torch::nn::Linear& head : {real_, energy_})
      for (const torch::Tensor& one : head->parameters()) all.push_back(one);
    return all;
  }
  /// Running means and variances, in turn.
  std::vector<torch::Tensor> statistics(bool of_generator) const {
    std::vector<torch::Tensor> all = of_generator ? generator_->buffers() : trunk_->buffers();
    std::erase_if(all, [](const torch::Tensor& one) { return one.dim() == 0; });  // counts batches
    return all;
  }
  void train(bool trains) {
    for (const auto& part : parts()) part->train(trains);
  }
  /// Takes the numbers of ours.
  void take(const nn::Replica& replica, bool of_generator) const {
    const torch::NoGradGuard no_grad;
    const std::vector<torch::Tensor> weights = this->weights(of_generator),
                                     statistics = this->statistics(of_generator);
    TORCH_CHECK(weights.size() == replica.parameters().size() &&
                statistics.size() == replica.leaves().buffers.size());
    for (std::size_t i = 0; i < weights.size(); ++i)
      weights[i].copy_(replica.view(replica.weights(), i));
    for (std::size_t i = 0; i < statistics.size(); ++i)
      statistics[i].copy_(replica.leaves().buffers[i]);
  }

  torch::Tensor energies_of(const torch::Tensor& images) const {
    return images.clamp_min(0).pow(1 / power_) * 0.02;
  }
  /// shape: energies [rows, 1, X, Y, Z] -> [rows]
  static torch::Tensor angle_of(const torch::Tensor& energies) {
    const torch::Tensor cells = energies.squeeze(1);
    const auto places = [&](std::int64_t axis) {
      std::array<std::int64_t, 4> shape{1, 1, 1, 1};
      shape[static_cast<std::size_t>(axis)] = -1;
      return (torch::arange(cells.size(axis), cells.options().requires_grad(false)) + 0.5)
          .reshape(shape);
    };
    const torch::Tensor x = places(1), y = places(2), z = places(3), total = cells.sum({1, 2, 3});
    const auto centre = [&](const torch::Tensor& place) {
      return ((cells * place).sum({1, 2, 3}) / total).unsqueeze(1);
    };
    const torch::Tensor of_layer = cells.sum({1, 2}), is_there = of_layer > 0;
    const torch::Tensor divisor = torch::where(is_there, of_layer, torch::ones_like(of_layer));
    const torch::Tensor xs = (cells * x).sum({1, 2}) / divisor,
                        ys = (cells * y).sum({1, 2}) / divisor;
    const torch::Tensor zs = z.reshape({1, -1}), middle = centre(z);
    const torch::Tensor away =
        ((xs - centre(x)).square() + (zs - middle).square()).clamp_min(1e-7).sqrt();
    const torch::Tensor slope = (ys - centre(y)) / away * (zs - middle).detach().sign();
    const torch::Tensor angles = std::numbers::pi / 2 - slope.atan();
    const torch::Tensor weights = zs * is_there.to(cells.dtype());
    return (angles * weights).sum(1) / weights.sum(1);
  }

  struct Targets {
    torch::Tensor energy, angle, sum;  ///< [rows]
  };
  /// Means over the rows: binary cross entropy, and the losses of energy, angle and sum.
  std::array<torch::Tensor, 4> losses(const torch::Tensor& images, const Targets& targets,
                                      double is_real) {
    const torch::Tensor outputs = judge(images), real = outputs.select(1, 0).sigmoid();
    const auto percentage = [](const torch::Tensor& found, const torch::Tensor& wanted) {
      return 100 * ((found - wanted).abs() / wanted.abs().clamp_min(1e-7)).mean();
    };
    const torch::Tensor energies = energies_of(images);
    return {-(is_real * real.log() + (1 - is_real) * (1 - real).log()).mean(),
            percentage(outputs.select(1, 1), targets.energy),
            (angle_of(energies) - targets.angle).abs().mean(),
            percentage(energies.sum({1, 2, 3, 4}), targets.sum)};
  }
  static torch::Tensor weighted(const std::array<torch::Tensor, 4>& losses, bool by_measures) {
    const torch::Tensor judged = 3 * losses[0] + 0.1 * losses[1];
    return by_measures ? judged + 25 * losses[2] + 0.1 * losses[3] : judged;
  }

 private:
  std::vector<std::shared_ptr<torch::nn::Module>> parts() const {
    return {generator_.ptr(), trunk_.ptr(), real_.ptr(), energy_.ptr()};
  }

  using Sizes = torch::ExpandingArray<3>;
  static torch::nn::Conv3d convolution(std::int64_t inputs, std::int64_t outputs,
                                       const Sizes& kernel, const Sizes& padding = 0) {
    return torch::nn::Conv3d(torch::nn::Conv3dOptions(inputs, outputs, kernel).padding(padding));
  }
  static torch::nn::BatchNorm3d norm(std::int64_t channels) {
    return torch::nn::BatchNorm3d(torch::nn::BatchNorm3dOptions(channels).eps(1e-6).momentum(0.01));
  }
  static std::shared_ptr<Kink> leaky() { return std::make_shared<Kink>(0.3); }
  static std::shared_ptr<Kink> relu() { return std::make_shared<Kink>(0); }
  // Zeros before and behind in Z, then Y, then X.
  static torch::nn::ConstantPad3d zeros(const torch::ExpandingArray<6>& around) {
    return torch::nn::ConstantPad3d(torch::nn::ConstantPad3dOptions(around, 0));
  }
  static torch::nn::Upsample nearest(double factor) {
    return torch::nn::Upsample(torch::nn::UpsampleOptions()
                                   .scale_factor(std::vector<double>(3, factor))
                                   .mode(torch::kNearest));
  }
  static torch::nn::Unflatten reshape(std::vector<std::int64_t> shape) {
    return torch::nn::Unflatten(torch::nn::UnflattenOptions(1, std::move(shape)));
  }

  void add_full() {
    namespace t = torch::nn;
    generator_ = t::Sequential(
        t::Linear(256, 5184), reshape({8, 9, 9, 8}), nearest(6), convolution(8, 8, {6, 6, 8}),
        relu(), norm(8), convolution(8, 6, {4, 4, 6}, {2, 2, 1}), relu(), norm(6),
        convolution(6, 6, {4, 4, 6}, {2, 2, 1}), relu(), norm(6),
        convolution(6, 6, {4, 4, 6}, {2, 2, 1}), relu(), norm(6),
        convolution(6, 6, {3, 3, 5}, {1, 1, 0}), relu(), norm(6),
        convolution(6, 6, {3, 3, 3}, {1, 1, 0}), relu(), convolution(6, 1, {2, 2, 2}), relu());
    trunk_ = t::Sequential(zeros({2, 3, 2, 3, 2, 2}), convolution(1, 16, {5, 6, 6}), leaky(),
                           convolution(16, 8, {5, 6, 6}, {0, 0, 1}), leaky(), norm(8),
                           convolution(8, 8, {5, 6, 6}, {0, 0, 1}), leaky(), norm(8),
                           convolution(8, 8, {5, 6, 6}), leaky(), norm(8), t::AvgPool3d(2),
                           t::Flatten());
    real_ = t::Linear(19152, 1), energy_ = t::Linear(19152, 1);
  }
  void add_laptop() {
    namespace t = torch::nn;
    generator_ = t::Sequential(t::Linear(64, 600), reshape({8, 5, 5, 3}), nearest(4),
                               convolution(8, 8, {4, 4, 5}), relu(), norm(8),
                               convolution(8, 8, {3, 3, 3}, {1, 1, 1}), relu(), norm(8),
                               convolution(8, 6, {3, 3, 3}, {1, 1, 1}), relu(),
                               zeros({0, 1, 0, 1, 0, 1}), convolution(6, 1, {2, 2, 2}), relu());
    trunk_ = t::Sequential(
        convolution(1, 8, {3, 3, 3}, {1, 1, 1}), leaky(), convolution(8, 8, {3, 3, 3}), leaky(),
        norm(8), convolution(8, 8, {3, 3, 3}), leaky(), norm(8), t::AvgPool3d(2), t::Flatten());
    real_ = t::Linear(576, 1), energy_ = t::Linear(576, 1);
  }

  torch::Dtype type_;
  double power_;  // of the transform
  torch::nn::Sequential generator_, trunk_;
  torch::nn::Linear real_{nullptr}, energy_{nullptr};
};

}  // namespace sagips::testing

#include "sagips/env/pipeline.hpp"

#include <algorithm>

#include "sagips/core/text.hpp"

namespace sagips::env {

Events Pipeline::operator()(torch::Tensor parameters, Noise& noise) const {
  return run(std::move(parameters), noise, false);
}

Events Pipeline::infer(torch::Tensor parameters, Noise& noise) const {
  torch::NoGradGuard no_grad;
  return run(std::move(parameters), noise, true);
}

Events Pipeline::run(torch::Tensor parameters, Noise& noise, bool infers) const {
  const bool moves = !device_.is_cpu() && parameters.is_cpu();
  if (moves) noise.make_on(device_);
  Events events;
  events.values = moves ? parameters.to(device_) : std::move(parameters);
  for (const Stage& stage : stages_)
    events = infers ? stage.infer(std::move(events), noise) : stage(std::move(events), noise);
  if (!moves) return events;
  noise.make_on(torch::kCPU);
  events.values = events.values.cpu();
  if (events.weights) events.weights = events.weights->cpu();
  if (events.mask) events.mask = events.mask->cpu();
  for (auto& [name, numbers] : events.numbers) numbers = numbers.cpu();
  return events;
}

std::vector<std::string> Pipeline::without_gradient() const {
  std::vector<std::string> names;
  for (const Stage& stage : stages_)
    if (!stage.differentiable()) names.push_back(stage.name());
  return names;
}

std::int64_t Pipeline::processes() const {
  std::int64_t most = 0;
  for (const Stage& stage : stages_) most = std::max(most, stage.processes());
  return most;
}

std::int64_t Pipeline::keep_answers(const std::string& path) const {
  std::int64_t known = 0;
  for (std::size_t i = 0; i < stages_.size(); ++i)
    if (stages_[i].processes() > 0)
      known += stages_[i].keep_answers(core::text(path, "_", i, ".bin"));
  return known;
}

std::vector<std::string> Pipeline::remarks() const {
  std::vector<std::string> all;
  for (const Stage& stage : stages_)
    if (const std::string remark = stage.remark(); !remark.empty()) all.push_back(remark);
  return all;
}

namespace {

// [samples], true where everything about the sample is finite
torch::Tensor finite_samples(const torch::Tensor& tensor) {
  return torch::isfinite(tensor.detach()).flatten(1).all(1);
}

torch::Tensor finite_samples(const Events& events) {
  torch::Tensor finite = finite_samples(events.values);
  if (events.weights) finite = finite & finite_samples(*events.weights);
  for (const auto& number : events.numbers)
    finite = finite & finite_samples(number.second.unsqueeze(1));
  return finite;
}

NonFinite first_bad(const std::string& stage, bool in_gradient, const torch::Tensor& finite,
                    const torch::Tensor& parameters) {
  const std::int64_t sample = torch::nonzero(~finite)[0].item<std::int64_t>();
  return {stage, in_gradient, parameters.detach().select(0, sample)};
}

}  // namespace

std::optional<NonFinite> Pipeline::find_non_finite(const torch::Tensor& parameters,
                                                   Noise& noise) const {
  const torch::Tensor leaf = parameters.detach().requires_grad_();
  Events events;
  events.values = leaf;
  for (const Stage& stage : stages_) {
    events = stage(std::move(events), noise);
    const torch::Tensor finite = finite_samples(events);
    if (!finite.all().item<bool>()) return first_bad(stage.name(), false, finite, parameters);
    if (!events.values.requires_grad()) continue;
    const torch::Tensor gradient =
        torch::autograd::grad({events.values.sum()}, {leaf}, {}, true, false, true)[0];
    if (!gradient.defined()) continue;
    const torch::Tensor smooth = finite_samples(gradient);
    if (!smooth.all().item<bool>()) return first_bad(stage.name(), true, smooth, parameters);
  }
  return std::nullopt;
}

}  // namespace sagips::env

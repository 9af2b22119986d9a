#include "sagips/optim/learn/metrics.hpp"

#include <cmath>
#include <limits>

#include "sagips/core/text.hpp"

namespace sagips::optim {

namespace {

/// Means over rows with their weights.
class WeightedMean {
 public:
  explicit WeightedMean(const torch::Tensor& weights) : weights_(weights), sum_(weights.sum()) {}
  double operator()(const torch::Tensor& values) const {
    return ((values.to(torch::kFloat64) * weights_).sum() / sum_).item<double>();
  }

 private:
  torch::Tensor weights_, sum_;
};

double mean_area(const torch::Tensor& outputs, const torch::Tensor& targets,
                 const torch::Tensor& weights) {
  const std::int64_t classes = outputs.size(1);
  if (classes == 2)
    return area_under_curve(outputs.select(1, 1) - outputs.select(1, 0), targets == 1, weights);
  double sum = 0;
  std::int64_t there = 0;
  for (std::int64_t k = 0; k < classes; ++k) {
    // odds, since probabilities next to 1 are equal
    const torch::Tensor others = torch::cat({outputs.slice(1, 0, k), outputs.slice(1, k + 1)}, 1);
    const double area =
        area_under_curve(outputs.select(1, k) - others.logsumexp(1), targets == k, weights);
    if (std::isfinite(area)) sum += area, ++there;
  }
  return sum / static_cast<double>(there);
}

}  // namespace

double area_under_curve(const torch::Tensor& scores, const torch::Tensor& is_signal,
                        const torch::Tensor& weights) {
  const torch::Tensor signal = is_signal.to(torch::kFloat64) * weights,
                      others = (~is_signal).to(torch::kFloat64) * weights;
  const double all = signal.sum().item<double>() * others.sum().item<double>();
  if (!(all > 0)) return std::numeric_limits<double>::quiet_NaN();
  // equal scores are one step of the curve
  const auto [values, places] = at::_unique(scores, /*sorted=*/true, /*return_inverse=*/true);
  const torch::Tensor none = torch::zeros({values.size(0)}, torch::kFloat64);
  const torch::Tensor signal_at = none.scatter_add(0, places, signal),
                      others_at = none.scatter_add(0, places, others);
  const torch::Tensor below = others_at.cumsum(0) - others_at;
  return (signal_at * (below + others_at / 2)).sum().item<double>() / all;
}

std::map<std::string, double> metrics(const Loss& loss, const torch::Tensor& outputs,
                                      const torch::Tensor& targets, const torch::Tensor& weights,
                                      std::int64_t top_k) {
  torch::NoGradGuard no_grad;
  const torch::Tensor losses = loss.rows(outputs, targets);
  const torch::Tensor counts = weights.defined() ? weights.to(torch::kFloat64)
                                                 : torch::ones({losses.size(0)}, torch::kFloat64);
  const WeightedMean mean(counts);
  std::map<std::string, double> found{{"loss", mean(losses)}};
  if (loss.of_classes()) {
    found["accuracy"] = mean(outputs.argmax(1) == targets);
    if (outputs.size(1) > top_k) {
      const torch::Tensor best = std::get<1>(outputs.topk(top_k, 1));
      found[core::text("top_", top_k, "_accuracy")] = mean((best == targets.unsqueeze(1)).any(1));
    }
    found["area_under_curve"] = mean_area(outputs, targets, counts);
  } else if (loss.targets == Loss::Targets::yes_or_no) {
    const torch::Tensor score = outputs.flatten(1).select(1, 0),
                        is_signal = targets.flatten(1).select(1, 0) > 0.5;
    found["accuracy"] = mean((score > 0) == is_signal);
    found["area_under_curve"] = area_under_curve(score, is_signal, counts);
  } else {
    const torch::Tensor residuals = (loss.predicted(outputs) - targets).flatten(1);
    found["mean_square_error"] = mean(residuals.square().mean(1));
    found["mean_absolute_error"] = mean(residuals.abs().mean(1));
  }
  return found;
}

}  // namespace sagips::optim

#include "sagips/optim/adversarial/told_apart.hpp"

#include <limits>

#include "sagips/env/compare/event_classifier.hpp"
#include "sagips/env/noise/shuffle.hpp"
#include "sagips/optim/learn/metrics.hpp"

namespace sagips::optim {

namespace {

constexpr double least_variation = 1e-6;  // relative; less is rounding

// In units of all rows' spread, in double precision; what does not vary is 0.
problem::ExampleComparison::Features standardised(
    const problem::ExampleComparison::Features& features) {
  const torch::Tensor both = torch::cat({features.real, features.made}).to(torch::kFloat64);
  const torch::Tensor mean = both.mean(0), spread = both.std(0, /*unbiased=*/false);
  const torch::Tensor units = torch::where(spread > least_variation * mean.abs(), 1 / spread, 0.0);
  const torch::Tensor scaled = ((both - mean) * units).to(torch::kFloat32);
  const std::int64_t rows = features.real.size(0);
  return {scaled.narrow(0, 0, rows), scaled.narrow(0, rows, both.size(0) - rows)};
}

}  // namespace

double area_told_apart(const problem::ExampleComparison::Features& features,
                       const core::RandomStream& stream) {
  const std::int64_t rows = features.real.size(0), half = rows / 2;
  if (rows < 4) return std::numeric_limits<double>::quiet_NaN();
  const auto [real, made] = standardised(features);
  const torch::Tensor order = env::shuffled(rows, 1, stream)[0];
  const auto part = [&](const torch::Tensor& side, std::int64_t first, std::int64_t count) {
    return side.index_select(0, order.narrow(0, first, count));
  };
  const env::EventClassifier classifier(env::EventClassifier::Config{}, {part(real, 0, half)},
                                        {part(made, 0, half)}, stream.at_step(1));
  const torch::NoGradGuard no_grad;
  const torch::Tensor scores =
      classifier.logits(torch::cat({part(real, half, rows - half), part(made, half, rows - half)}));
  const torch::Tensor is_real = torch::arange(scores.size(0)) < rows - half;
  return roc_curve(scores, is_real, torch::ones({scores.size(0)}, torch::kFloat64)).area;
}

}  // namespace sagips::optim

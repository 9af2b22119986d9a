#include "sagips/env/compare/distances/sliced_wasserstein.hpp"

#include "sagips/env/noise/noise.hpp"

namespace sagips::env::distances {

namespace {

// Evenly over all directions; one observable has one.
torch::Tensor random_directions(std::int64_t count, std::int64_t observables,
                                const core::RandomStream& stream) {
  if (observables == 1) return torch::ones({1, 1}, torch::kFloat64);
  const torch::Tensor normal =
      torch::special_ndtri(PhiloxNoise(stream).uniform(0, count, observables, 0, torch::kFloat64));
  return normal / normal.norm(2, 1, true);
}

// Sum of shares up to the middle of each event's own.
torch::Tensor middle_levels(const torch::Tensor& shares) {
  return shares.cumsum(-1) - 0.5 * shares;
}

}  // namespace

SlicedWasserstein::SlicedWasserstein(const Config& config, const EventRows& measured,
                                     const core::RandomStream& stream)
    : standard_(measured),
      power_(config.power),
      directions_(random_directions(config.projections, measured.observables(), stream)) {
  const auto [sorted, order] = directions_.matmul(standard_(measured.values).t()).sort(1);
  sorted_ = sorted;
  levels_ = middle_levels(measured.shares().index({order}));
}

// Measured events' quantile functions, linear between the middles of events.
torch::Tensor SlicedWasserstein::quantiles(const torch::Tensor& levels) const {
  const std::int64_t last = sorted_.size(1) - 1;
  if (last == 0) return sorted_.expand_as(levels);
  const torch::Tensor upper =
      torch::searchsorted(levels_, levels.detach().contiguous()).clamp(1, last);
  const torch::Tensor low = levels_.gather(1, upper - 1), high = levels_.gather(1, upper);
  const torch::Tensor share = ((levels - low) / (high - low).clamp_min(1e-300)).clamp(0, 1);
  return torch::lerp(sorted_.gather(1, upper - 1), sorted_.gather(1, upper), share);
}

torch::Tensor SlicedWasserstein::operator()(const torch::Tensor&, const Events& synthetic) const {
  return score_samples(synthetic, [&](const torch::Tensor& events, const torch::Tensor& shares) {
    const auto [sorted, order] = directions_.matmul(standard_(events).t()).sort(1);
    const torch::Tensor own = shares.index({order});
    const torch::Tensor difference = (sorted - quantiles(middle_levels(own))).abs();
    return (difference.pow(power_) * own).sum(1).mean();
  });
}

}  // namespace sagips::env::distances

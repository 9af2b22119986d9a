#include "sagips/env/compare/distances/distances.hpp"
#include "sagips/env/compare/standardisation.hpp"
#include "sagips/env/noise/noise.hpp"

namespace sagips::env::distances {

namespace {

// Evenly over all directions; one observable has one. shape: [directions, observables]
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

// Quantile functions of sorted events, linear between the middles of events.
// shape: sorted and their levels [directions, events]
torch::Tensor quantiles(const torch::Tensor& sorted, const torch::Tensor& sorted_levels,
                        const torch::Tensor& levels) {
  const std::int64_t last = sorted.size(1) - 1;
  if (last == 0) return sorted.expand_as(levels);
  const torch::Tensor upper =
      torch::searchsorted(sorted_levels, levels.detach().contiguous()).clamp(1, last);
  const torch::Tensor low = sorted_levels.gather(1, upper - 1);
  const torch::Tensor high = sorted_levels.gather(1, upper);
  const torch::Tensor share = ((levels - low) / (high - low).clamp_min(1e-300)).clamp(0, 1);
  return torch::lerp(sorted.gather(1, upper - 1), sorted.gather(1, upper), share);
}

}  // namespace

EventDistance sliced_wasserstein(const EventDistance::Config& config, const EventRows& measured,
                                 const core::RandomStream& stream) {
  const Standardisation standard(measured);
  const torch::Tensor directions =
      random_directions(config.projections, measured.observables(), stream);
  const auto [known, known_order] = directions.matmul(standard(measured.values).t()).sort(1);
  const torch::Tensor levels = middle_levels(measured.shares().index({known_order}));
  return {[standard, directions, levels, known = known, power = config.power](
              const torch::Tensor&, const Events& synthetic) {
    return score_samples(synthetic, [&](const torch::Tensor& events, const torch::Tensor& shares) {
      const auto [sorted, order] = directions.matmul(standard(events).t()).sort(1);
      const torch::Tensor own = shares.index({order});
      const torch::Tensor difference =
          (sorted - quantiles(known, levels, middle_levels(own))).abs();
      return (difference.pow(power) * own).sum(1).mean();
    });
  }};
}

}  // namespace sagips::env::distances

#include "sagips/env/compare/distances/distances.hpp"
#include "sagips/env/compare/distances/pairs.hpp"
#include "sagips/env/compare/standardisation.hpp"

namespace sagips::env::distances {

namespace {

torch::Tensor after_zero(const torch::Tensor& numbers) {
  return torch::cat({torch::zeros({1}, numbers.options()), numbers.cumsum(0)});
}

// Mean difference of different events of one observable:
// sum_ij s_i s_j |x_i - x_j| = 2 sum_i s_i x_(i) (2 S_i - s_i - 1), S_i the sum of shares up to i
torch::Tensor sorted_mean_within(const torch::Tensor& x, const torch::Tensor& shares) {
  const torch::Tensor order = x.detach().argsort(/*dim=*/int64_t{0}, /*descending=*/false);
  const torch::Tensor sorted = x.index_select(0, order), s = shares.index_select(0, order);
  const torch::Tensor all = 2 * (s * sorted * (2 * s.cumsum(0) - s - s.sum())).sum();
  return all / (1 - s.square().sum()).clamp_min(1e-12);
}

EventDistance of_one_observable(const Standardisation& standard, const torch::Tensor& unsorted,
                                const torch::Tensor& unsorted_shares) {
  const torch::Tensor order = unsorted.argsort(/*dim=*/int64_t{0}, /*descending=*/false);
  const torch::Tensor measured = unsorted.index_select(0, order).contiguous();
  const torch::Tensor measured_shares = unsorted_shares.index_select(0, order);
  const torch::Tensor summed_shares = after_zero(measured_shares);
  const torch::Tensor summed_values = after_zero(measured_shares * measured);
  const torch::Tensor within_measured = sorted_mean_within(measured, measured_shares);
  return {[=](const torch::Tensor&, const Events& synthetic) {
    return score_samples(synthetic, [&](const torch::Tensor& events, const torch::Tensor& shares) {
      const torch::Tensor values = standard(events);
      const torch::Tensor within = sorted_mean_within(values.select(1, 0), shares);
      // E|x - y| = y (2 F(y) - 1) + E x - 2 E[x; x <= y]
      const torch::Tensor y = values.select(1, 0).contiguous();
      const torch::Tensor below = torch::searchsorted(measured, y.detach());
      const torch::Tensor share = summed_shares.index_select(0, below);
      const torch::Tensor to_measured =
          y * (2 * share - 1) + summed_values[-1] - 2 * summed_values.index_select(0, below);
      return 2 * to_measured.dot(shares) - within_measured - within;
    });
  }};
}

}  // namespace

EventDistance energy(const EventDistance::Config&, const EventRows& measured,
                     const core::RandomStream&) {
  const Standardisation standard(measured);
  const torch::Tensor known = standard(measured.values), known_shares = measured.shares();
  if (measured.observables() == 1)
    return of_one_observable(standard, known.select(1, 0), known_shares);
  const torch::Tensor within_known = mean_within(euclidean(), known, known_shares);
  return {[=](const torch::Tensor&, const Events& synthetic) {
    return score_samples(synthetic, [&](const torch::Tensor& events, const torch::Tensor& shares) {
      const torch::Tensor values = standard(events);
      const torch::Tensor within = mean_within(euclidean(), values, shares);
      const torch::Tensor to_known = mean_over(euclidean(), values, known, known_shares);
      return 2 * to_known.dot(shares) - within_known - within;
    });
  }};
}

}  // namespace sagips::env::distances

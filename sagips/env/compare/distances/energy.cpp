#include "sagips/env/compare/distances/energy.hpp"

#include "sagips/env/compare/distances/pairs.hpp"

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

}  // namespace

Energy::Energy(const Config&, const EventRows& measured, const core::RandomStream&)
    : standard_(measured) {
  measured_ = standard_(measured.values);
  shares_ = measured.shares();
  if (measured.observables() > 1) {
    within_measured_ = mean_within(euclidean(), measured_, shares_);
    return;
  }
  const torch::Tensor order =
      measured_.select(1, 0).argsort(/*dim=*/int64_t{0}, /*descending=*/false);
  measured_ = measured_.select(1, 0).index_select(0, order).contiguous();
  shares_ = shares_.index_select(0, order);
  summed_shares_ = after_zero(shares_);
  summed_values_ = after_zero(shares_ * measured_);
  within_measured_ = sorted_mean_within(measured_, shares_);
}

// Mean distance of each synthetic event to the measured ones.
torch::Tensor Energy::to_measured(const torch::Tensor& values) const {
  if (values.size(1) > 1) return mean_over(euclidean(), values, measured_, shares_);
  // E|x - y| = y (2 F(y) - 1) + E x - 2 E[x; x <= y]
  const torch::Tensor y = values.select(1, 0).contiguous();
  const torch::Tensor below = torch::searchsorted(measured_, y.detach());
  const torch::Tensor share = summed_shares_.index_select(0, below);
  return y * (2 * share - 1) + summed_values_[-1] - 2 * summed_values_.index_select(0, below);
}

torch::Tensor Energy::operator()(const torch::Tensor&, const Events& synthetic) const {
  return score_samples(synthetic, [&](const torch::Tensor& events, const torch::Tensor& shares) {
    const torch::Tensor values = standard_(events);
    const torch::Tensor within = values.size(1) > 1
                                     ? mean_within(euclidean(), values, shares)
                                     : sorted_mean_within(values.select(1, 0), shares);
    return 2 * to_measured(values).dot(shares) - within_measured_ - within;
  });
}

}  // namespace sagips::env::distances

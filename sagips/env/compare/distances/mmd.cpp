#include "sagips/env/compare/distances/mmd.hpp"

#include "sagips/core/error.hpp"

namespace sagips::env::distances {

namespace {

constexpr std::int64_t median_events = 1000;

}  // namespace

Mmd::Mmd(const Config& config, const EventRows& measured, const core::RandomStream& stream)
    : standard_(measured) {
  if (config.bandwidths.empty())
    throw core::ConfigError("distance.bandwidths",
                            "none is given (mmd would compare nothing). Give at least one, such as "
                            "[0.5, 1, 2].");
  measured_ = standard_(measured.values);
  shares_ = measured.shares();
  const double median = torch::pdist(standard_(measured.at_most(median_events, stream).values))
                            .median()
                            .item<double>();
  if (!(median > 0))
    throw core::DataError("measured events",
                          "most of them are equal (mmd has no scale). Use distance.kind=energy.");
  std::vector<double> widths;
  for (const double factor : config.bandwidths) widths.push_back(factor * median);
  kernel_ = gaussians(std::move(widths));
  within_measured_ = mean_within(kernel_, measured_, shares_);
}

torch::Tensor Mmd::operator()(const torch::Tensor&, const Events& synthetic) const {
  return score_samples(synthetic, [&](const torch::Tensor& events, const torch::Tensor& shares) {
    const torch::Tensor values = standard_(events);
    return within_measured_ + mean_within(kernel_, values, shares) -
           2 * mean_over(kernel_, values, measured_, shares_).dot(shares);
  });
}

}  // namespace sagips::env::distances

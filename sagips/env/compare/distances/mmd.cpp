#include "sagips/core/error.hpp"
#include "sagips/env/compare/distances/distances.hpp"
#include "sagips/env/compare/distances/pairs.hpp"
#include "sagips/env/compare/standardisation.hpp"

namespace sagips::env::distances {

EventDistance mmd(const EventDistance::Config& config, const EventRows& measured,
                  const core::RandomStream& stream) {
  constexpr std::int64_t median_events = 1000;
  if (config.bandwidths.empty())
    throw core::ConfigError("distance.bandwidths",
                            "none is given (mmd would compare nothing). Give at least one, such as "
                            "[0.5, 1, 2].");
  const Standardisation standard(measured);
  const torch::Tensor known = standard(measured.values), known_shares = measured.shares();
  const double median = torch::pdist(standard(measured.at_most(median_events, stream).values))
                            .median()
                            .item<double>();
  if (!(median > 0))
    throw core::DataError("measured events",
                          "most of them are equal (mmd has no scale). Use distance.kind=energy.");
  std::vector<double> widths;
  for (const double factor : config.bandwidths) widths.push_back(factor * median);
  const RadialFunction kernel = gaussians(std::move(widths));
  const torch::Tensor within_known = mean_within(kernel, known, known_shares);
  return {[=](const torch::Tensor&, const Events& synthetic) {
    return score_samples(synthetic, [&](const torch::Tensor& events, const torch::Tensor& shares) {
      const torch::Tensor values = standard(events);
      return within_known + mean_within(kernel, values, shares) -
             2 * mean_over(kernel, values, known, known_shares).dot(shares);
    });
  }};
}

}  // namespace sagips::env::distances

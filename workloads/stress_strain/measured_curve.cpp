#include "workloads/stress_strain/measured_curve.hpp"

#include <cmath>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::workloads {

void StrainRange::fields(core::FieldList& list) {
  list.add("low", low, "from this", core::Range::at_least(0));
  list.add("high", high, "to this: where the curve ends, or the material fails",
           core::Range::positive());
}

void StrainRange::check() const {
  if (low >= high)
    throw core::ConfigError(
        "strain.low", core::text("is ", low, ", not below strain.high=", high, ". Lower it."));
}

torch::Tensor MeasuredCurve::operator()(torch::Tensor parameters, env::Noise& noise) const {
  const torch::Tensor strain = noise.uniform() * (strain_.high - strain_.low) + strain_.low;
  const torch::Tensor exact =
      law_.stress(parameters.narrow(1, 0, 1), parameters.narrow(1, 1, 1), strain);
  return torch::stack({strain, exact + noise.normal() * noise_}, 2);
}

CurveDensity::CurveDensity(HardeningLaw law, StrainRange strain, double noise,
                           double highest_stress)
    : law_(law), strain_(strain), noise_(noise) {
  constexpr std::int64_t strains = 100;
  constexpr double tail = 6, cells = 10;  // in deviations of the noise; of each
  strains_ = (torch::arange(strains, torch::kFloat64) + 0.5).unsqueeze(1) *
                 ((strain.high - strain.low) / strains) +
             strain.low;
  const double length = highest_stress / noise + 2 * tail;
  edges_ = torch::linspace(-tail * noise, highest_stress + tail * noise,
                           std::llround(length * cells) + 1, torch::kFloat64);
}

CurveDensity::Sample CurveDensity::sample(const torch::Tensor& values, const torch::Tensor& weights,
                                          const std::string& origin) const {
  Sample sample;
  sample.values = values.to(torch::kFloat64).t().contiguous();
  const torch::Tensor strain = sample.values[0];
  const double slack = 1e-6 * strain_.high;  // of float32
  const torch::Tensor lost = (strain < strain_.low) | (strain > strain_.high + slack);
  if (lost.any().item<bool>())
    throw core::DataError(origin,
                          static_cast<std::size_t>(lost.nonzero()[0].item<std::int64_t>() + 1),
                          core::text("its strain lies outside ", strain_.low, " .. ", strain_.high,
                                     ". Cut the data with data.cuts or widen `strain`."));
  sample.weights = weights.defined() ? weights.to(torch::kFloat64) : torch::ones_like(strain);
  sample.total = sample.weights.sum().item<double>();
  return sample;
}

torch::Tensor CurveDensity::negative_log_likelihood(const torch::Tensor& parameters,
                                                    const Sample& sample) const {
  const torch::Tensor precise = parameters.to(torch::kFloat64);
  const torch::Tensor off = (sample.values[1] - stress(precise, sample.values[0])) / noise_;
  return (off.square() * sample.weights).sum() * 0.5 +
         sample.total * std::log(std::sqrt(2 * M_PI) * noise_ * (strain_.high - strain_.low));
}

torch::Tensor CurveDensity::probabilities(const torch::Tensor& parameters) const {
  const torch::Tensor distance =
      (edges_ - stress(parameters.to(torch::kFloat64), strains_)) / noise_;
  // each side from its own tail, where differences lose no digits
  const torch::Tensor below = torch::erfc(-distance * M_SQRT1_2) * 0.5;
  const torch::Tensor above = torch::erfc(distance * M_SQRT1_2) * 0.5;
  const torch::Tensor left = below.slice(1, 1) - below.slice(1, 0, -1);
  const torch::Tensor right = above.slice(1, 0, -1) - above.slice(1, 1);
  const torch::Tensor cells = torch::where(distance.slice(1, 1) < 0, left, right);
  // farther away squares of probabilities, by which second slopes divide, are 0
  constexpr double farthest = 20;
  return torch::where(distance.slice(1, 1).abs() < farthest, cells, torch::zeros_like(cells))
             .flatten()
             .unsqueeze(0) /
         static_cast<double>(strains_.size(0));
}

std::vector<env::Feature> features_of(const HardeningLaw& law, double lowest_exponent,
                                      double highest_exponent) {
  constexpr int products = 3, powers = 5;
  const double one = law.power(lowest_exponent), other = law.power(highest_exponent);
  std::vector<env::Feature> features;
  for (int i = 0; i < products; ++i) {
    const double power = one + (other - one) * i / (products - 1);
    features.push_back({core::text("stress strain^", core::significant(power, 3)),
                        [power](const torch::Tensor& points) {
                          return points.select(-1, 1) * torch::pow(points.select(-1, 0), power);
                        }});
  }
  for (int i = 0; i < powers; ++i) {
    const double power = 2 * (one + (other - one) * i / (powers - 1));
    features.push_back(
        {core::text("strain^", core::significant(power, 3)),
         [power](const torch::Tensor& points) { return torch::pow(points.select(-1, 0), power); }});
  }
  return features;
}

}  // namespace sagips::workloads

#include "sagips/run/density_figures.hpp"

#include <algorithm>

#include "sagips/analysis/figures/densities.hpp"
#include "sagips/core/random.hpp"

namespace sagips::run {

namespace {

constexpr std::int64_t most_vectors = 1000;
constexpr std::int64_t error_vectors = 400;
constexpr std::int64_t most_points = 200;

std::vector<double> numbers(const torch::Tensor& values) {
  const torch::Tensor dense = values.to(torch::kFloat64).contiguous();
  return {dense.data_ptr<double>(), dense.data_ptr<double>() + dense.numel()};
}

analysis::DensityBand band(const problem::DensityCurve& curve, const env::ParameterSet& parameters,
                           const torch::Tensor& samples) {
  const torch::NoGradGuard no_gradient;
  // a picture needs no more points than it has pixels
  const std::int64_t step = std::max<std::int64_t>(1, curve.x.size(0) / most_points);
  const auto thinned = [step](const torch::Tensor& values) {
    return values.slice(1, 0, values.size(1), step).to(torch::kFloat64);
  };
  const torch::Tensor values = thinned(curve.values(samples));
  const torch::Tensor edges =
      torch::quantile(values, torch::tensor({0.16, 0.84}, torch::kFloat64), 0);
  analysis::DensityBand result{.name = curve.name,
                               .x = numbers(curve.x.slice(0, 0, curve.x.size(0), step)),
                               .mean = numbers(values.mean(0)),
                               .low = numbers(edges[0]),
                               .high = numbers(edges[1]),
                               .truth = {}};
  if (parameters.truth_known())
    result.truth = numbers(thinned(curve.values(parameters.truth().unsqueeze(0)))[0]);
  return result;
}

}  // namespace

std::vector<analysis::Figure> density_figures(const problem::Workload& workload,
                                              const env::ParameterSet& parameters,
                                              const torch::Tensor& samples,
                                              const std::string& band_label) {
  const torch::Tensor shown =
      samples.slice(0, 0, std::min(samples.size(0), most_vectors)).to(torch::kFloat64);
  std::vector<std::string> axes;
  std::vector<std::vector<analysis::DensityBand>> bands;
  for (const problem::DensityCurve& curve : workload.densities()) {
    const auto known = std::find(axes.begin(), axes.end(), curve.axis);
    const auto place = static_cast<std::size_t>(known - axes.begin());
    if (known == axes.end()) {
      axes.push_back(curve.axis);
      bands.emplace_back();
    }
    bands[place].push_back(band(curve, parameters, shown));
  }
  std::vector<analysis::Figure> figures;
  for (std::size_t i = 0; i < axes.size(); ++i)
    figures.push_back(
        analysis::densities_with_band(bands[i], axes[i], "16 to 84 % of the " + band_label));
  return figures;
}

torch::Tensor vectors_within_errors(const env::ParameterSet& parameters,
                                    const std::vector<double>& values,
                                    const torch::Tensor& covariance, std::uint64_t seed) {
  torch::Tensor centre = torch::tensor(values, torch::kFloat64).unsqueeze(0);
  if (!covariance.defined() || covariance.size(0) != parameters.free_size()) return centre;
  // a root of the covariance that a vanishing or slightly negative eigenvalue does not hurt
  const auto [eigenvalues, vectors] = torch::linalg_eigh(covariance.to(torch::kFloat64));
  const torch::Tensor root = vectors * eigenvalues.clamp_min(0).sqrt().unsqueeze(0);
  std::vector<double> uniform(static_cast<std::size_t>(error_vectors * parameters.free_size()));
  core::RandomStream(seed, "figure errors").uniform(0, 0, uniform);
  const torch::Tensor normal =
      torch::special_ndtri(torch::tensor(uniform, torch::kFloat64)).reshape({error_vectors, -1});
  const torch::Tensor moves = normal.matmul(root.t());
  torch::Tensor result = centre.repeat({error_vectors, 1});
  for (std::size_t i = 0; i < parameters.free().size(); ++i) {
    const auto column = static_cast<std::int64_t>(parameters.free()[i]);
    const env::Parameter& parameter = parameters.all()[parameters.free()[i]];
    const torch::Tensor moved =
        result.select(1, column) + moves.select(1, static_cast<std::int64_t>(i));
    result.select(1, column).copy_(moved.clamp(parameter.low, parameter.high));
  }
  return result;
}

}  // namespace sagips::run

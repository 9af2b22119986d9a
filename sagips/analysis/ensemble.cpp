#include "sagips/analysis/ensemble.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sagips/analysis/residuals.hpp"
#include "sagips/analysis/statistics.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/random.hpp"

namespace sagips::analysis {
namespace {

bool has_size(const std::optional<double>& truth) { return truth && *truth != 0; }

// Column means of a row-major array, [parameters].
std::vector<double> column_means(const std::vector<double>& values, std::size_t columns) {
  std::vector<double> means(columns, 0.0);
  for (std::size_t i = 0; i < values.size(); ++i) means[i % columns] += values[i];
  for (double& mean : means)
    mean /= static_cast<double>(values.size()) / static_cast<double>(columns);
  return means;
}

/// Members as doubles relative to the truth, for the parameters that have one: so sums of squares
/// of many sub-ensembles are cheap and lose no digits.
class RelativeMembers {
 public:
  RelativeMembers(const Ensemble& ensemble, std::size_t noise_vectors) {
    std::vector<std::size_t> sized;
    for (std::size_t p = 0; p < ensemble.truth.size(); ++p)
      if (has_size(ensemble.truth[p])) sized.push_back(p);
    columns_ = sized.size();
    const std::size_t rows = std::min(ensemble.rows(), noise_vectors);
    for (const auto& member : ensemble.members) {
      std::vector<double> values;
      for (std::size_t row = 0; row < rows; ++row) {
        const std::size_t chosen = row * ensemble.rows() / rows;
        for (const std::size_t p : sized)
          values.push_back(
              residual(*ensemble.truth[p], member[chosen * ensemble.parameters.size() + p]));
      }
      residuals_.push_back(std::move(values));
    }
  }

  bool empty() const { return columns_ == 0; }
  std::size_t members() const { return residuals_.size(); }

  EnsembleQuality of(std::span<const std::size_t> chosen) const {
    const std::size_t numbers = residuals_.front().size();
    std::vector<double> means(numbers, 0.0), spreads(numbers, 0.0);
    const auto count = static_cast<double>(chosen.size());
    for (const std::size_t m : chosen)
      for (std::size_t i = 0; i < numbers; ++i) means[i] += residuals_[m][i] / count;
    for (const std::size_t m : chosen)
      for (std::size_t i = 0; i < numbers; ++i) {
        const double distance = residuals_[m][i] - means[i];
        spreads[i] += distance * distance / count;
      }
    for (double& spread : spreads) spread = std::sqrt(spread);
    return {root_mean_square(column_means(means, columns_)),
            root_mean_square(column_means(spreads, columns_))};
  }

 private:
  std::size_t columns_ = 0;
  std::vector<std::vector<double>> residuals_;  ///< [members][rows * columns]
};

void check(const Ensemble& ensemble) {
  if (ensemble.truth.size() != ensemble.parameters.size() || ensemble.parameters.empty())
    throw core::Error("ensemble: has no truth for each of its parameters. Pass one for each.");
  ensemble_response(ensemble.members);  // throws where lengths differ
  if (ensemble.members.front().size() % ensemble.parameters.size() != 0)
    throw core::Error("ensemble: its members hold no full rows. Pass all parameters of each.");
}

double deviation(const std::vector<double>& values) {
  return values.size() < 2 ? 0 : standard_deviation(values);
}

std::vector<std::size_t> numbers_of_all(std::size_t members) {
  std::vector<std::size_t> all(members);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

}  // namespace

std::size_t Ensemble::rows() const {
  return members.empty() || parameters.empty() ? 0 : members.front().size() / parameters.size();
}

std::vector<EnsembleParameter> summarise(const Ensemble& ensemble) {
  check(ensemble);
  const std::size_t columns = ensemble.parameters.size();
  const EnsembleResponse response = ensemble_response(ensemble.members);
  const std::vector<double> values = column_means(response.mean, columns);
  const std::vector<double> spreads = column_means(response.spread, columns);
  std::vector<EnsembleParameter> parameters;
  for (std::size_t p = 0; p < columns; ++p) {
    EnsembleParameter parameter{values[p], spreads[p], 0, {}};
    std::vector<double> means;
    for (const auto& member : ensemble.members) means.push_back(predict(member, columns)[p].mean);
    parameter.deviation = deviation(means);
    if (has_size(ensemble.truth[p])) parameter.residual = residual(*ensemble.truth[p], values[p]);
    parameters.push_back(parameter);
  }
  return parameters;
}

std::optional<EnsembleQuality> quality(const Ensemble& ensemble) {
  check(ensemble);
  const RelativeMembers members(ensemble, ensemble.rows());
  if (members.empty()) return std::nullopt;
  return members.of(numbers_of_all(members.members()));
}

EnsembleQuality quality_errors(const Ensemble& ensemble) {
  check(ensemble);
  const RelativeMembers members(ensemble, ensemble.rows());
  const std::size_t count = members.members();
  if (members.empty() || count < 2) return {};
  std::vector<double> residuals, spreads;
  for (std::size_t left_out = 0; left_out < count; ++left_out) {
    std::vector<std::size_t> others = numbers_of_all(count);
    std::erase(others, left_out);
    const EnsembleQuality one = members.of(others);
    residuals.push_back(one.residual);
    spreads.push_back(one.spread);
  }
  const auto n = static_cast<double>(count);
  const double factor = (n - 1) / std::sqrt(n);  // of the deviation with 1/(n - 1)
  return {factor * deviation(residuals), factor * deviation(spreads)};
}

std::vector<EnsembleSize> over_sizes(const Ensemble& ensemble, std::span<const std::size_t> sizes,
                                     std::size_t draws, std::uint64_t seed) {
  constexpr std::size_t noise_vectors = 500;
  check(ensemble);
  const RelativeMembers members(ensemble, noise_vectors);
  std::vector<EnsembleSize> found;
  if (members.empty()) return found;
  std::vector<std::size_t> order = numbers_of_all(members.members());
  const core::RandomStream stream(seed, "sub-ensembles");
  std::uint32_t draws_made = 0;
  // Sub-ensembles without repetition: the first numbers of a shuffled list.
  const auto next = [&](std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
      std::int64_t step = 0;
      stream.integers(draws_made, static_cast<std::uint32_t>(i), order.size() - i, {&step, 1});
      std::swap(order[i], order[i + static_cast<std::size_t>(step)]);
    }
    ++draws_made;
    return members.of(std::span(order).first(size));
  };
  for (const std::size_t size : sizes) {
    if (size == 0 || size > members.members())
      throw core::Error("ensemble: a sub-ensemble has at least one member and at most all.");
    std::vector<double> residuals, spreads;
    const std::size_t repeats = size == members.members() ? 1 : draws;
    for (std::size_t draw = 0; draw < repeats; ++draw) {
      const EnsembleQuality one = next(size);
      residuals.push_back(one.residual);
      spreads.push_back(one.spread);
    }
    found.push_back(
        {size, mean(residuals), deviation(residuals), mean(spreads), deviation(spreads)});
  }
  return found;
}

std::vector<std::size_t> sampled_sizes(std::size_t members) {
  constexpr std::size_t dense = 10;
  std::vector<std::size_t> sizes;
  double size = 1;
  while (size < static_cast<double>(members)) {
    sizes.push_back(static_cast<std::size_t>(std::lround(size)));
    size = size < dense ? size + 1 : std::max(size + 1, size * 1.15);
  }
  sizes.push_back(members);
  return sizes;
}

}  // namespace sagips::analysis

#include "sagips/optim/search/search_numbers.hpp"

#include <cmath>
#include <limits>
#include <numbers>
#include <span>

#include "sagips/env/noise/noise_sobol.hpp"

namespace sagips::optim {

double SearchNumbers::uniform() {
  double number = 0;
  stream_.uniform(drawn_++, 0, std::span<double>(&number, 1));
  return number;
}

double SearchNumbers::normal() {
  const double radius = std::sqrt(-2 * std::log(uniform()));
  return radius * std::cos(2 * std::numbers::pi * uniform());
}

std::size_t SearchNumbers::below(std::size_t bound) {
  return static_cast<std::size_t>(uniform() * static_cast<double>(bound));
}

Point SearchNumbers::point(std::size_t dimensions) {
  Point point(dimensions);
  for (double& one : point) one = uniform();
  return point;
}

Point even_point(std::size_t number, std::size_t dimensions, const core::RandomStream& stream) {
  const auto events = static_cast<std::int64_t>(number) + 1;
  const env::SobolNoise points(events, static_cast<std::int64_t>(dimensions), stream);
  Point point;
  for (std::size_t i = 0; i < dimensions; ++i)
    point.push_back(points.uniform(0, 1, events, static_cast<std::int64_t>(i), torch::kFloat64)
                        .flatten()[events - 1]
                        .item<double>());
  return point;
}

Point design_point(std::size_t number, const std::optional<Point>& start, const SearchSpace& space,
                   const core::RandomStream& stream) {
  return space.placed(number == 0 && start ? *start : even_point(number, space.size(), stream));
}

double comparable(double score) {
  return std::isnan(score) ? std::numeric_limits<double>::infinity() : score;
}

}  // namespace sagips::optim

#include "sagips/optim/search/searchers/even.hpp"

#include <algorithm>
#include <set>
#include <span>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/optim/search/search_numbers.hpp"

namespace sagips::optim::searchers {

namespace {

constexpr double most_points = 1e6;

SearchSpace in_steps(const SearchSpace& space, std::int64_t steps) {
  std::vector<SearchDimension> dimensions;
  for (std::size_t i = 0; i < space.size(); ++i) {
    dimensions.push_back(space[i]);
    if (space[i].values == 0) dimensions.back().values = steps;
  }
  return SearchSpace(std::move(dimensions));
}

}  // namespace

Even::Even(Form form, const SearchStart& start)
    : form_(form),
      start_(start),
      stream_(start.seed, form == Form::random ? "random search" : "sobol search") {}

std::vector<Point> Even::ask(const std::vector<Trial>& trials, std::size_t most) {
  std::vector<Point> points;
  for (std::size_t number = trials.size(); points.size() < most; ++number) {
    if (form_ == Form::sobol) {
      points.push_back(design_point(number, start_.start, start_.space, stream_));
      continue;
    }
    Point point(start_.space.size());
    stream_.uniform(static_cast<std::uint32_t>(number), 0, std::span<double>(point));
    if (number == 0 && start_.start) point = *start_.start;
    points.push_back(start_.space.placed(std::move(point)));
  }
  return points;
}

void Grid::Config::fields(core::FieldList& list) {
  list.add("steps", steps, "places on a continuous dimension", core::Range::between(2, 1e6));
}

Grid::Grid(const Config& config, const SearchStart& start) {
  const SearchSpace space = in_steps(start.space, config.steps);
  if (!(space.points() <= most_points))
    throw core::ConfigError("grid", core::text("has ", space.points(), " points (more than ",
                                               most_points, "). Lower grid.steps, or search."));
  const auto all = static_cast<std::int64_t>(space.points());
  std::set<Point> known;
  for (std::int64_t number = 0; number < all; ++number) {
    Point point(space.size());
    std::int64_t rest = number;
    for (std::size_t i = space.size(); i-- > 0;) {
      const std::int64_t values = space[i].values;
      point[i] = (static_cast<double>(rest % values) + 0.5) / static_cast<double>(values);
      rest /= values;
    }
    point = space.placed(std::move(point));
    if (known.insert(point).second) points_.push_back(std::move(point));
  }
}

std::vector<Point> Grid::ask(const std::vector<Trial>& trials, std::size_t most) {
  std::vector<Point> points;
  for (std::size_t i = trials.size(); i < points_.size() && points.size() < most; ++i)
    points.push_back(points_[i]);
  return points;
}

}  // namespace sagips::optim::searchers

#include "sagips/optim/search/search_space.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sagips::optim {

bool SearchSpace::is_numeric() const {
  return std::all_of(dimensions_.begin(), dimensions_.end(), [](const SearchDimension& one) {
    return (one.values == 0 || one.ordered) && !one.parent;
  });
}

std::int64_t SearchSpace::value(const Point& point, std::size_t dimension) const {
  const std::int64_t values = dimensions_[dimension].values;
  const double place = std::floor(point[dimension] * static_cast<double>(values));
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(place), 0, values - 1);
}

bool SearchSpace::counts(const Point& point, std::size_t dimension) const {
  const SearchDimension& one = dimensions_[dimension];
  if (!one.parent) return true;
  const auto& at = one.counts_at;
  return counts(point, *one.parent) &&
         std::find(at.begin(), at.end(), value(point, *one.parent)) != at.end();
}

Point SearchSpace::placed(Point point) const {
  for (std::size_t i = 0; i < size(); ++i) {
    const auto values = static_cast<double>(dimensions_[i].values);
    if (!counts(point, i))
      point[i] = 0.5;
    else if (values > 0)
      point[i] = (static_cast<double>(value(point, i)) + 0.5) / values;
  }
  return point;
}

double SearchSpace::points() const {
  double count = 1;
  for (const SearchDimension& one : dimensions_) {
    if (one.values == 0) return std::numeric_limits<double>::infinity();
    count *= static_cast<double>(one.values);
  }
  return count;
}

}  // namespace sagips::optim

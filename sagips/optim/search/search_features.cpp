#include "sagips/optim/search/search_features.hpp"

namespace sagips::optim {

torch::Tensor search_features(const SearchSpace& space, const std::vector<Point>& points) {
  std::vector<torch::Tensor> rows;
  for (const Point& point : points) {
    std::vector<double> seen;
    for (std::size_t i = 0; i < point.size(); ++i) {
      const SearchDimension& dimension = space[i];
      if (dimension.values == 0 || dimension.ordered) {
        seen.push_back(point[i]);
        continue;
      }
      seen.resize(seen.size() + static_cast<std::size_t>(dimension.values), 0.0);
      if (space.counts(point, i)) *(seen.end() - 1 - space.value(point, i)) = 1;
    }
    rows.push_back(torch::tensor(seen, torch::kFloat64));
  }
  return torch::stack(rows);
}

}  // namespace sagips::optim

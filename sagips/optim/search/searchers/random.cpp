#include "sagips/optim/search/searchers/random.hpp"

namespace sagips::optim::searchers {

Random::Random(const SearchStart& start) : start_(start), stream_(start.seed, "random search") {}

std::vector<Point> Random::ask(std::size_t most) {
  std::vector<Point> points;
  for (std::size_t i = 0; i < most; ++i) {
    Point point(start_.dimensions);
    stream_.uniform(asked_, 0, std::span<double>(point));
    if (asked_++ == 0 && start_.start) point = *start_.start;
    points.push_back(std::move(point));
  }
  return points;
}

}  // namespace sagips::optim::searchers

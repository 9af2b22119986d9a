#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace sagips::optim {

/// A point of the unit cube, one coordinate in (0, 1) for each free parameter.
using Point = std::vector<double>;

/// Looks for the point with the lowest score, knowing nothing but scores: ask for points, tell what
/// they score. Serves wherever something has parameters and a score.
///
/// Deterministic: the same seed and the same scores give the same points.
class Searcher {
 public:
  virtual ~Searcher() = default;
  /// The points to score next: at least one, at most `most`.
  virtual std::vector<Point> ask(std::size_t most) = 0;
  /// The scores of the points that were asked for last, in their order. Infinite or NaN: the point
  /// could not be scored, and counts as the worst.
  virtual void tell(const std::vector<double>& scores) = 0;
};

/// Where a search begins.
struct SearchStart {
  std::size_t dimensions = 1;
  std::uint64_t seed = 0;
  std::optional<Point> start{};  ///< scored first; absent: the searcher's own choice
};

using SearcherMaker = std::function<std::unique_ptr<Searcher>(const SearchStart&)>;

}  // namespace sagips::optim

#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "sagips/optim/search/search_space.hpp"

namespace sagips::optim {

/// A point that was asked for.
struct Trial {
  Point point;
  /// None: still at work. Infinite or NaN: it could not be scored, and counts as the worst.
  std::optional<double> score{};
};

/// Looks for the point with the lowest score, knowing nothing but scores. Serves wherever something
/// has parameters and a score.
///
/// Deterministic: the same seed and the same trials give the same points, also to a searcher that is
/// made anew for them, unless a searcher says otherwise.
class Searcher {
 public:
  virtual ~Searcher() = default;
  /// The points to score next: at most `most`, and none only while it waits for scores.
  /// trials: all points so far, those of a searcher that was asked before with the same order
  virtual std::vector<Point> ask(const std::vector<Trial>& trials, std::size_t most) = 0;
  /// Whether `trials` may have points that it was not asked for: those are learned from, too.
  virtual bool takes_others() const { return true; }
  /// Points that it has altogether.
  virtual std::size_t size() const { return std::numeric_limits<std::size_t>::max(); }
};

/// Where a search begins.
struct SearchStart {
  SearchSpace space;
  std::uint64_t seed = 0;
  std::optional<Point> start{};  ///< scored first; absent: the searcher's own choice
  std::int64_t trials = 0;       ///< how many there will be; 0: not known
};

using SearcherMaker = std::function<std::unique_ptr<Searcher>(const SearchStart&)>;

}  // namespace sagips::optim

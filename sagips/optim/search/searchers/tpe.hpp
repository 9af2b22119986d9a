#pragma once
#include <cstdint>

#include "sagips/core/config/config.hpp"
#include "sagips/core/random.hpp"
#include "sagips/optim/search/searcher.hpp"

namespace sagips::optim::searchers {

/// Tree-structured Parzen estimator: one density through the better points, one through the others, and
/// the next point is where the first is largest against the second. For many dimensions, categories
/// and conditions; hundreds of trials cost next to nothing. Points that are still at work count among
/// the others, so that nobody searches where somebody is.
///
/// The kernels are products over the coordinates that count, truncated to the range.
///
/// source: Bergstra et al., NeurIPS 2011, Sec. 4; kernels of several coordinates: Falkner, Klein and
///         Hutter, BOHB, arXiv 1807.01774, Sec. 3.2
class Tpe final : public Searcher {
 public:
  struct Config {
    std::int64_t initial = 10;  ///< even points before the first density
    double good_share = 0.1;    ///< of the points that count as better
    std::int64_t most_good = 25;
    std::int64_t candidates = 64;  ///< drawn from the density of the better ones
    void fields(core::FieldList& list);
  };
  Tpe(const Config& config, const SearchStart& start);
  std::vector<Point> ask(const std::vector<Trial>& trials, std::size_t most) override;

 private:
  Point next(const std::vector<Trial>& trials) const;

  Config config_;
  SearchStart start_;
  core::RandomStream stream_;
};

}  // namespace sagips::optim::searchers

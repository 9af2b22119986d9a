#pragma once
#include <cstdint>

#include "sagips/core/config/config.hpp"
#include "sagips/core/random.hpp"
#include "sagips/optim/search/searcher.hpp"

namespace sagips::optim::searchers {

/// Ageing (regularised) evolution: the population are the last points that were scored, and the best
/// of a few of them gets a child that differs in one coordinate. Nobody waits for a generation, so
/// points may take as long as they like.
///
/// source: Real et al., AAAI 2019, arXiv 1802.01548, algorithm 1
class Ageing final : public Searcher {
 public:
  struct Config {
    std::int64_t population = 20;
    std::int64_t sample = 5;  ///< of the population, whose best one has a child
    double step = 0.1;        ///< deviation of a change, in units of the range
    void fields(core::FieldList& list);
  };
  Ageing(const Config& config, const SearchStart& start);
  std::vector<Point> ask(const std::vector<Trial>& trials, std::size_t most) override;

 private:
  Config config_;
  SearchStart start_;
  core::RandomStream stream_;
};

/// NNLO's genetic search without its generations: the population are the best points so far. A child
/// lies beyond the fitter one of two parents, who each won a tournament of two; then each of its
/// coordinates moves towards one of its ends, ever less as the search goes on.
///
/// source: NNLO's genetic search: r (fitter - weaker) + fitter, and moves of 1 - r^((1 - g / G)^3) of
///         the way; its g / G counts generations, here it counts trials
class Genetic final : public Searcher {
 public:
  struct Config {
    std::int64_t population = 10;
    void fields(core::FieldList& list);
  };
  Genetic(const Config& config, const SearchStart& start);
  std::vector<Point> ask(const std::vector<Trial>& trials, std::size_t most) override;

 private:
  Point child(const std::vector<Point>& best, std::size_t number) const;

  Config config_;
  SearchStart start_;
  core::RandomStream stream_;
};

}  // namespace sagips::optim::searchers

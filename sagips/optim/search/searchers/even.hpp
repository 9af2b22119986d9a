#pragma once
#include <cstdint>

#include "sagips/core/config/config.hpp"
#include "sagips/core/random.hpp"
#include "sagips/optim/search/searcher.hpp"

namespace sagips::optim::searchers {

/// Points all over the space, whatever scores have come: drawn, which every other searcher must beat, or
/// scrambled Sobol points, which leave smaller gaps.
class Even final : public Searcher {
 public:
  enum class Form { random, sobol };
  Even(Form form, const SearchStart& start);
  std::vector<Point> ask(const std::vector<Trial>& trials, std::size_t most) override;

 private:
  Form form_;
  SearchStart start_;
  core::RandomStream stream_;
};

/// Every value of every dimension with every other, the last dimension's first; a continuous one at as
/// many places as it is told. Settings that stand for the same come once, and none after the end.
class Grid final : public Searcher {
 public:
  struct Config {
    std::int64_t steps = 5;  ///< places on a continuous dimension
    void fields(core::FieldList& list);
  };
  /// throws: ConfigError beyond a million points
  Grid(const Config& config, const SearchStart& start);
  std::vector<Point> ask(const std::vector<Trial>& trials, std::size_t most) override;
  bool takes_others() const override { return false; }
  std::size_t size() const override { return points_.size(); }

 private:
  std::vector<Point> points_;
};

}  // namespace sagips::optim::searchers

#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "sagips/core/config/config.hpp"
#include "sagips/optim/search/searcher.hpp"

namespace sagips::optim::searchers {

/// Evolutionary search by pagmo: CMA-ES, or self-adaptive differential evolution. Needs no gradient
/// and copes with many local minima; thousands of evaluations.
///
/// A population that has converged is followed by a new one, twice as large (Auger and Hansen, CEC
/// 2005), for as long as points are asked for. pagmo calls its objective, so it runs in a thread of
/// its own that waits for each score. The points of a generation of cmaes do not depend on its scores,
/// so they can be scored side by side; the others ask for one point at a time.
///
/// source: cmaes: Hansen, arXiv 1604.00772; sade: Elsayed, Sarker and Essam, CEC 2011; de1220: in
///         pagmo's documentation
/// throws: ConfigError when this build has no pagmo
class Evolution final : public Searcher {
 public:
  struct Config {
    std::string algorithm = "cmaes";
    std::int64_t population = 0;  ///< 0: by the number of parameters
    double deviation = 0.3;       ///< cmaes: first one, in units of the ranges

    void fields(core::FieldList& list);
  };

  Evolution(const Config& config, const SearchStart& start);
  ~Evolution() override;
  std::vector<Point> ask(const std::vector<Trial>& trials, std::size_t most) override;
  bool takes_others() const override { return false; }

 private:
  class Run;
  Config config_;
  SearchStart start_;
  std::unique_ptr<Run> run_;
  std::size_t learned_ = 0;  ///< trials whose scores it knows
};

}  // namespace sagips::optim::searchers

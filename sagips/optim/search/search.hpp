#pragma once
#include <cstdint>

#include "sagips/env/compare/event_distance.hpp"
#include "sagips/optim/search/searcher.hpp"
#include "sagips/optim/solver.hpp"

namespace sagips::optim {

/// Finds parameters by a Searcher on the distance between events, for pipelines without gradients.
///
/// The answer is the best point that was scored; with common random numbers its score does not
/// depend on the noise of one evaluation. A search knows no errors.
///
/// collective: with several ranks all search alike; a point's score is the mean over the ranks'
///             shares of the events
class Search final : public Solver {
 public:
  struct Config {
    std::int64_t evaluations = 2000;  ///< parameter vectors to score
    std::int64_t batch = 16;          ///< at a time, at most

    void fields(core::FieldList& list);
  };

  Search(const Config& config, env::EventDistance::Config distance, SearcherMaker searcher);
  Solution solve(const env::Environment& environment, const SolveContext& context) const override;

 private:
  Config config_;
  env::EventDistance::Config distance_;
  SearcherMaker searcher_;
};

}  // namespace sagips::optim

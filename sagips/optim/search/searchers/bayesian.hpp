#pragma once
#include <cstdint>
#include <vector>

#include "sagips/core/config/config.hpp"
#include "sagips/core/random.hpp"
#include "sagips/data/torch.hpp"
#include "sagips/optim/search/gaussian_process.hpp"
#include "sagips/optim/search/searcher.hpp"

namespace sagips::optim::searchers {

/// Bayesian optimisation: a Gaussian process through all scores so far says where the next one is
/// expected to improve most. The fewest evaluations of all searchers, for up to some ten parameters
/// and some hundred evaluations.
///
/// Scores are compressed, ln(1 + (score - best) / s) with s the distance of the first design's median
/// from the best: otherwise the far corners of the ranges decide how smooth the process is. Several
/// points at a time: each is believed to score what the process says before the next is chosen.
///
/// cost:   some thirty factorisations of an [n, n] matrix for the n-th point
/// source: Jones, Schonlau and Welch, J. Global Optim. 13 (1998) 455, eq. (15); logarithm of the
///         expected improvement: Ament et al., arXiv 2310.20708; several points: Ginsbourger et al.
///         (2010), Kriging believer
class Bayesian final : public Searcher {
 public:
  struct Config {
    std::int64_t initial = 0;        ///< points of the first, even design; 0: 2 (n + 1), at least 8
    std::int64_t batch = 1;          ///< points at a time
    std::int64_t candidates = 1000;  ///< random points from which the climb starts
    std::int64_t climbs = 4;         ///< of the best candidates
    std::int64_t climb_steps = 40;

    void fields(core::FieldList& list);
  };

  Bayesian(const Config& config, const SearchStart& start);
  std::vector<Point> ask(std::size_t most) override;
  void tell(const std::vector<double>& scores) override;

 private:
  std::vector<Point> even_design(const SearchStart& start) const;
  torch::Tensor compressed_scores() const;
  torch::Tensor best_next(const GaussianProcess& process) const;
  torch::Tensor candidates() const;

  Config config_;
  core::RandomStream stream_;
  std::int64_t dimensions_ = 0;
  std::vector<Point> design_;  ///< still to be asked, last first
  std::size_t designed_ = 0;   ///< points that it had
  std::vector<Point> points_, waiting_;
  std::vector<double> scores_;
  torch::Tensor parameters_;  ///< of the last process
};

}  // namespace sagips::optim::searchers

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
/// points at a time, and points that are still at work: each is believed to score what the process
/// says before the next is chosen. Values without an order are coordinates of their own for the process.
///
/// The hedge chooses between three gains by how low the process says that the points lie which each
/// has named before (NNLO's choice); a searcher that is made anew has forgotten that.
///
/// cost:   some thirty factorisations of an [n, n] matrix, for some twenty of the first n points
/// source: Jones, Schonlau and Welch, J. Global Optim. 13 (1998) 455, eq. (15); logarithm of the
///         expected improvement: Ament et al., arXiv 2310.20708; several points: Ginsbourger et al.
///         (2010), Kriging believer; hedge: Hoffman, Brochu and de Freitas, UAI 2011, Sec. 3, with the
///         numbers of scikit-optimize
class Bayesian final : public Searcher {
 public:
  /// What the next point makes largest.
  enum class Gain { improvement, lower_bound, probability, hedge };
  struct Config {
    std::int64_t initial = 0;  ///< even points before the first process; 0: 2 (n + 1), at least 8
    std::int64_t batch = 1;    ///< points at a time
    Gain gain = Gain::improvement;
    std::int64_t candidates = 1000;  ///< random points from which the climb starts
    std::int64_t climbs = 4;         ///< of the best candidates
    std::int64_t climb_steps = 20;

    void fields(core::FieldList& list);
  };

  Bayesian(const Config& config, const SearchStart& start);
  std::vector<Point> ask(const std::vector<Trial>& trials, std::size_t most) override;

 private:
  struct Known;
  torch::Tensor parameters_of(const Known& known);
  torch::Tensor features(const torch::Tensor& points) const;
  torch::Tensor placed(const torch::Tensor& points) const;
  torch::Tensor candidates(const Known& known, std::size_t number) const;
  torch::Tensor climbed(const GaussianProcess& process, Gain gain, const torch::Tensor& best,
                        const torch::Tensor& from) const;
  torch::Tensor best_next(const GaussianProcess& process, Gain gain, const Known& known,
                          std::size_t number) const;
  torch::Tensor hedged_next(const GaussianProcess& process, const Known& known, std::size_t number);

  Config config_;
  SearchStart start_;
  core::RandomStream stream_;
  std::size_t initial_;
  torch::Tensor parameters_, fitted_points_;  ///< the last ones, and what they were found for
  std::vector<double> fitted_scores_;
  torch::Tensor nominated_;                ///< by each gain, the last time. shape: [3, n]
  std::vector<double> hedge_ = {0, 0, 0};  ///< how well each has done
};

}  // namespace sagips::optim::searchers

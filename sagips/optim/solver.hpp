#pragma once
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sagips/data/torch.hpp"
#include "sagips/env/environment.hpp"
#include "sagips/optim/estimate.hpp"
#include "sagips/optim/solve_progress.hpp"
#include "sagips/problem/rank_place.hpp"

namespace sagips::optim {

/// Whether a pipeline can describe the data.
struct GoodnessOfFit {
  std::string name;               ///< "chi2 of the moments", "energy distance"
  double value = 0;               ///< of the statistic
  double degrees_of_freedom = 0;  ///< of a chi2; 0: not a chi2
  double p_value = 1;             ///< probability of at least this value if the pipeline is right
};

/// The best point that a solver has seen so far.
struct Visit {
  double time_s = 0;             ///< since the solver began
  std::int64_t evaluations = 0;  ///< of the pipeline at one parameter vector
  std::vector<double> values;    ///< all parameters, physical
  double score = 0;              ///< what the solver minimises
};

/// What a solver found. No errors, or an undefined covariance: the method states none.
struct Solution : Estimate {
  std::string errors_from;  ///< where the errors come from: "covariance of the moments"
  double score = 0;         ///< what the solver minimised, at `values`
  std::vector<GoodnessOfFit> goodness;
  std::int64_t evaluations = 0;  ///< of the pipeline at one parameter vector
  std::int64_t starts = 1;       ///< starting points tried
  double time_s = 0;
  bool converged = true;  ///< false: stopped by a limit
  /// Other solutions that the data allow, with values and errors of their own, by their score.
  std::vector<Solution> others{};
};

/// What a solver is given beside the problem.
struct SolveContext {
  std::uint64_t seed = 0;
  double time_limit_s = std::numeric_limits<double>::infinity();
  std::optional<torch::Tensor> start{};  ///< [parameters], physical; absent: the method's own
  bool intervals = true;                 ///< also where the score is no parabola, at a price
  std::function<void(const Visit&)> observe{};  ///< empty: nobody watches
  std::function<bool()> interrupted{};          ///< empty: never
  SolveProgress* progress = nullptr;            ///< none: nobody looks
  problem::RankPlace place{};                   ///< of this rank; it holds its share of the data
  /// Adds up numbers over ranks, in place, the same on all of them. Empty: one rank. collective
  std::function<void(std::span<double>)> add_up{};
};

/// Finds the parameters of an environment in one go: everything that is no network in training.
///
/// A solver is asked for one answer and stops by itself; a GAN (`Optimizer`) is advanced epoch by
/// epoch by train::Loop. Both serve the same environment.
class Solver {
 public:
  virtual ~Solver() = default;
  /// throws: ConfigError when the environment lacks what the method needs (a density, a gradient)
  virtual Solution solve(const env::Environment& environment,
                         const SolveContext& context) const = 0;
};

}  // namespace sagips::optim

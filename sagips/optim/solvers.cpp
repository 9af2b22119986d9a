#include "sagips/optim/solvers.hpp"

#include <chrono>

#include "sagips/core/error.hpp"

namespace sagips::optim {

namespace {

/// The maximum-likelihood fit as a solver.
/// throws: ConfigError for several ranks (each would fit its own share)
class LikelihoodSolver final : public Solver {
 public:
  explicit LikelihoodSolver(FitConfig config) : config_(config) {}

  Solution solve(const env::Environment& environment, const SolveContext& context) const override {
    if (context.place.ranks > 1)
      throw core::ConfigError("solve.method",
                              "likelihood works on one rank. Start one, or use moments.");
    using Clock = std::chrono::steady_clock;
    const auto began = Clock::now();
    const FitResult fit =
        fit_maximum_likelihood(environment, config_, context.seed, context.intervals);
    Solution solution;
    static_cast<Estimate&>(solution) = fit;
    solution.errors_from = "inverse Hessian of -ln L";
    solution.score = fit.negative_log_likelihood;
    solution.evaluations = fit.evaluations;
    solution.starts = fit.starts;
    solution.time_s = std::chrono::duration<double>(Clock::now() - began).count();
    if (context.observe)
      context.observe({solution.time_s, solution.evaluations, solution.values, solution.score});
    return solution;
  }

 private:
  FitConfig config_;
};

}  // namespace

void SolversConfig::fields(core::FieldList& list) {
  list.group("moments", moments, "weighted moment matching (solve.method=moments)");
  list.group("fit", fit, "maximum-likelihood fit");
  list.group("distance", distance, "between events: what direct and the searches minimise");
  list.group("direct", direct, "gradient descent on that distance (solve.method=direct)");
  list.group("search", search, "searches that need no gradient");
  searchers.fields(list);
}

core::Registry<SolverEntry> solvers() {
  core::Registry<SolverEntry> known("solver");
  known.add(
      "moments",
      {"weighted moment matching: no density, no network, no gradient; in a second",
       [](const SolversConfig& config) { return std::make_unique<MomentSolver>(config.moments); },
       [](const SolversConfig& config) {
         return config.moments.jacobian == MomentsConfig::Jacobian::automatic;
       }});
  known.add("likelihood", {"maximum likelihood, where the pipeline's density is known",
                           [](const SolversConfig& config) {
                             return std::make_unique<LikelihoodSolver>(config.fit);
                           }});
  known.add("direct",
            {"gradient descent on a distance between events: no network, needs a gradient",
             [](const SolversConfig& config) {
               return std::make_unique<Direct>(config.direct, config.distance);
             },
             [](const SolversConfig&) { return true; }});
  const auto add_search = [&known](const std::string& name, const std::string& summary) {
    known.add(name, {summary, [name](const SolversConfig& config) {
                       return std::make_unique<Search>(
                           config.search, config.distance,
                           searchers_of(config.searchers).get(name, "solve.method"));
                     }});
  };
  add_search("bayesian",
             "Bayesian optimization of a distance between events: few, expensive evaluations");
  add_search("evolution",
             "evolutionary search on that distance (pagmo): many cheap evaluations, many valleys");
  add_search("policy_gradient",
             "reinforcement learning on that distance: a Gaussian policy of proposals");
  add_search("random", "random search on that distance: what the others must beat");
  return known;
}

}  // namespace sagips::optim

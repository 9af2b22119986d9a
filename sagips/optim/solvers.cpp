#include "sagips/optim/solvers.hpp"

#include "sagips/optim/likelihood_solver.hpp"

namespace sagips::optim {

void SolversConfig::fields(core::FieldList& list) {
  list.group("moments", moments, "weighted moment matching (solve.method=moments)");
  list.group("fit", fit, "maximum-likelihood fit");
}

core::Registry<SolverEntry> solvers() {
  core::Registry<SolverEntry> known("solver");
  known.add(
      "moments",
      {"weighted moment matching: no density, no network, no gradient; in a second",
       [](const SolversConfig& config) { return std::make_unique<MomentSolver>(config.moments); }});
  known.add("likelihood", {"maximum likelihood, where the pipeline's density is known",
                           [](const SolversConfig& config) {
                             return std::make_unique<LikelihoodSolver>(config.fit);
                           }});
  return known;
}

}  // namespace sagips::optim

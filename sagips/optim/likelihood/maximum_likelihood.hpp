#pragma once
#include <cstdint>
#include <vector>

#include "sagips/core/config/config.hpp"
#include "sagips/data/torch.hpp"
#include "sagips/optim/estimate.hpp"
#include "sagips/optim/likelihood/likelihood.hpp"

namespace sagips::optim {

struct FitConfig {
  ReferenceUse reference = ReferenceUse::exact;
  std::int64_t starts = 8;         ///< starting points at most
  std::int64_t evaluations = 400;  ///< of a level at most
  double edm =
      1e-6;  ///< estimated distance to the minimum, in units of -ln L, that counts as converged

  void fields(core::FieldList& list);
};

/// A maximum-likelihood fit.
struct FitResult : Estimate {
  double negative_log_likelihood = 0;
  double events = 0;
  double edm = 0;
  std::int64_t evaluations = 0;
  std::int64_t starts = 0;
};

/// Unbinned maximum-likelihood fit with errors from the inverse Hessian of the Lagrangian.
///
/// Where valleys are curved (the proxy's N B(a, b) = const) a fit from a random start gets stuck,
/// so it is tempered: the data count as 100 events first, then 4 times as many at each level, with
/// a weak prior around the middle of the ranges until all data count. Each level is minimised by
/// NLopt's SLSQP, the last one ends with Newton steps on the exact Hessian within the ranges. A start
/// that does not converge is followed by another. A minimum at an end of a range is an answer, with a
/// limit; directions that the events do not fix are named.
///
/// intervals: from the profile where -2 ln L is no parabola, at the price of further minimisations
/// source: SLSQP: Kraft, DFVLR-FB 88-28 (1988), through NLopt; tempering after
///         docs/physics/proxy1d.md
/// throws: ConfigError (no density), Error (no start converged)
FitResult fit_maximum_likelihood(const env::Environment& environment, const FitConfig& config,
                                 std::uint64_t seed, bool intervals = true);

/// Least possible errors of an unbiased estimate from `events` events, all parameters in physical
/// units, 0 for fixed, NaN for those that the events leave open.
/// source: Cramer-Rao bound; Fisher matrix by automatic differentiation of the expected -ln L
std::vector<double> cramer_rao_errors(const env::Environment& environment, ReferenceUse reference,
                                      const torch::Tensor& truth, double events);

}  // namespace sagips::optim

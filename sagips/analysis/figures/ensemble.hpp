#pragma once
#include <string>
#include <vector>

#include "sagips/analysis/ensemble.hpp"
#include "sagips/analysis/figure.hpp"

namespace sagips::analysis {

/// One curve of `ensemble_sizes`.
struct SizeCurve {
  std::string label;  ///< of the variant
  std::vector<EnsembleSize> sizes;
};
/// Residual and spread of ensembles against their size, with the standard deviation over
/// sub-ensembles as band. source: SAGIPS paper, figs. 9 and 10
Figure ensemble_sizes(const std::vector<SizeCurve>& curves);

/// One point of `ensemble_variants`.
struct VariantQuality {
  std::string label;
  EnsembleQuality quality, error;
};
/// Spread (above) and residual (below) of each variant. source: SAGIPS paper, fig. 8
Figure ensemble_variants(const std::vector<VariantQuality>& variants);

}  // namespace sagips::analysis

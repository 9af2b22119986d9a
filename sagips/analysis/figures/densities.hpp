#pragma once
#include <string>
#include <vector>

#include "sagips/analysis/figure.hpp"

namespace sagips::analysis {

/// A function that parameters stand for, as recovered; all arrays over the same x.
struct DensityBand {
  std::string name;  ///< above its panel, e.g. "u(x)"
  std::vector<double> x, mean;
  std::vector<double> low, high;  ///< edges of the band
  std::vector<double> truth;      ///< empty: not known
};

/// Recovered functions with their bands over the true ones, side by side; below each with a known
/// truth the same divided by it (a gap where it is zero).
/// x_label: of all panels; band_label: what the band is, e.g. "16 to 84 % of the noise vectors"
/// throws: Error when there is none or lengths differ
Figure densities_with_band(const std::vector<DensityBand>& densities, const std::string& x_label,
                           const std::string& band_label);

}  // namespace sagips::analysis

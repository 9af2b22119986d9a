#pragma once
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "sagips/analysis/figure.hpp"

namespace sagips::analysis {

/// A grey image. values: row-major, from the top
struct Image {
  std::size_t width = 0;
  std::vector<double> values;
};

/// Images of the same size beside each other, one row of them a name, all on one scale from their least
/// value (white) to their largest (blue); logarithmic: over the four decades below this, which a title says.
/// throws: Error for rows of different sizes
Figure image_rows(const std::vector<std::pair<std::string, std::vector<Image>>>& rows,
                  bool is_logarithmic = false);

}  // namespace sagips::analysis

#pragma once
#include <string>
#include <vector>

namespace sagips::analysis::drawing {

/// Where an axis begins and ends, low < high.
struct Interval {
  double low = 0, high = 1;
};

struct Tick {
  double value = 0;
  std::string label;
};
struct Ticks {
  std::vector<Tick> major;
  std::vector<double> minor;  ///< logarithmic axes only
};

/// Ticks at multiples of 1, 2 or 5 times a power of ten, as many as possible up to `most`
/// (at least 2). Labels have the decimals the step needs and a true minus sign.
Ticks linear_ticks(Interval interval, int most);

/// Ticks at powers of ten, thinned down to `most`; with less than three of them at 1, 2 and 5 times
/// a power if there is room, and within one decade as on a linear axis. interval: positive
Ticks logarithmic_ticks(Interval interval, int most);

}  // namespace sagips::analysis::drawing

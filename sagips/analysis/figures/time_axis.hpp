#pragma once
#include <string>

#include "sagips/analysis/figure.hpp"

namespace sagips::analysis {

/// The unit in which a training time is a handy number.
struct TimeUnit {
  double seconds = 1;
  std::string name = "s";
  std::string label() const { return "training time [" + name + "]"; }
};
TimeUnit time_unit(double longest_s);

/// Puts panels into handy rows and chooses the size. above: pixels above the first row
void arrange_in_rows(Figure& figure, int above);

}  // namespace sagips::analysis

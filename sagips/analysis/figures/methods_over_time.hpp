#pragma once
#include <string>
#include <vector>

#include "sagips/analysis/figure.hpp"

namespace sagips::analysis {

/// How far one method was from the goal as time went on.
struct MethodLearningCurve {
  std::string method;
  std::vector<double> time_s;
  std::vector<double> distance;  ///< in the unit of the axis
};

/// Distances of several methods against time, both axes logarithmic. A method that stops early keeps
/// its last distance up to the end of the budget, dashed.
/// distance_label: "mean |residual| [%]"; floor: a line at this distance; 0: none
Figure methods_over_time(const std::vector<MethodLearningCurve>& curves,
                         const std::string& distance_label, double floor, double budget_s);

}  // namespace sagips::analysis

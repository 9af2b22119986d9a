#pragma once
#include <string>
#include <vector>

#include "sagips/analysis/figure.hpp"
#include "sagips/analysis/scaling.hpp"

namespace sagips::analysis {

/// Speed-up and efficiency over ranks, one curve a series: points are measured, circles simulated, both beside
/// what others have published.
Figure speed_up_over_ranks(const std::vector<ScalingRow>& rows,
                           const std::vector<PublishedScaling>& published);

/// Training time against ranks. source: SAGIPS paper, Fig. 11
Figure time_over_ranks(const std::vector<ScalingRow>& rows);

/// Analysis rate against ranks, with a line of the ideal gain. source: SAGIPS paper, Fig. 12
Figure rate_over_ranks(const std::vector<ScalingRow>& rows);

/// What an epoch of a rank goes into, in shares: a bar a row.
Figure time_split(const std::vector<ScalingRow>& rows);

/// A step of a rank over ranks: mean with its spread, the longest, what it exchanges and waits, and the share
/// that it computes.
Figure step_times(const std::vector<ScalingRow>& rows);

/// The metric of one way of training on its way, mean over members.
struct MetricCurve {
  std::string label;
  bool of_batches = false;  ///< one of the batch study
  std::vector<double> epochs{}, time_s{}, metric{};
};
/// Against training time and against epochs, beside each other, with the target as a line; those of the batch study
/// below the others, each with the first one.
Figure metric_curves(const std::vector<MetricCurve>& curves, const ScalingWords& words);

/// Batches of one rank: how much faster, the metric at the end, and the time to the target; one curve a rule of
/// the learning rate.
Figure batch_study(const std::vector<ScalingRow>& rows, const ScalingWords& words);

/// What a training costs and the energy that it takes, over ranks. Needs one of them.
Figure cost_over_ranks(const std::vector<ScalingRow>& rows);

}  // namespace sagips::analysis

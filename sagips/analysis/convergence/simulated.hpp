#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sagips/analysis/figure.hpp"
#include "sagips/record/simulated_learning_curve.hpp"

namespace sagips::analysis {

/// Trainings of one exchange on so many simulated ranks that differ by their seeds.
struct SimulatedVariant {
  std::string label;
  std::int64_t ranks = 1;
  std::vector<std::int64_t> seeds;
  std::vector<record::SimulatedLearningCurve> curves;  ///< one a seed
};

/// Two-sided chance of a larger |t| with so many degrees of freedom.
/// source: Abramowitz and Stegun, 26.7.3 and 26.7.4
double student_p_value(double t, int degrees);

/// How far one variant is from another with the same seeds: the mean over seeds of ln(a / b).
struct PairedRatio {
  std::size_t seeds = 0;     ///< that both have
  double ratio = 1;          ///< geometric mean
  double low = 1, high = 1;  ///< 68 %: times and over exp(standard error)
  /// The p-value: the probability of a larger ratio by chance alone; empty with one seed, or where
  /// the seeds make no difference.
  std::optional<double> chance{};
};
PairedRatio paired_ratio(std::span<const double> of, std::span<const double> to);

/// Holm's step-down correction for as many comparisons.
/// source: Holm, Scand. J. Stat. 6 (1979) 65
std::vector<double> corrected_for_many(std::vector<double> chances);

/// One learning curve in a few numbers. Residuals: root mean square over parameters, over its last
/// quarter.
struct SimulatedSummary {
  double of_a_rank = 0;  ///< over ranks, too
  double of_mean = 0;    ///< of the ranks' mean prediction
  double epoch_s = 0;    ///< simulated, of the slowest rank
  /// Simulated time after which `of_a_rank` has first been at most the bar.
  std::optional<double> until_bar_s{};
};
SimulatedSummary summary(const record::SimulatedLearningCurve& curve, double bar);

/// Tables of each number of ranks: what each variant came to, and each against the first one of
/// that number. Variants without learning curves are named as not trained; where the first one is
/// not, nothing is compared.
std::string simulated_table(const std::vector<SimulatedVariant>& variants);
/// Writes one row for each variant, seed and evaluation.
void write_simulated_csv(const std::string& path, const std::vector<SimulatedVariant>& variants);
/// A rank's residual against simulated time, geometric mean over seeds; one panel for each number
/// of ranks. A variant keeps its colour where others were not trained.
Figure simulated_over_time(const std::vector<SimulatedVariant>& variants);

}  // namespace sagips::analysis

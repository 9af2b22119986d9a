#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace sagips::analysis {

/// Counts of a quantity in equal bins, with weights and their statistical errors.
///
/// A bin holds its lower edge but not its upper one, except the last, which holds both. What lies
/// outside is counted as well, so that two histograms of all events can be scaled to each other.
class Histogram {
 public:
  /// throws: Error unless lowest < highest, both finite, and there is a bin
  Histogram(double lowest, double highest, std::size_t bins);

  /// NaN is counted nowhere.
  void fill(double value, double weight = 1);
  void fill(std::span<const double> values);
  /// throws: Error when the lengths differ
  void fill(std::span<const double> values, std::span<const double> weights);

  std::size_t bins() const { return weights_.size(); }
  double edge(std::size_t i) const;  ///< 0 .. bins(): the lower edge of bin i, the last upper one
  double centre(std::size_t i) const { return (edge(i) + edge(i + 1)) / 2; }
  double width() const { return (highest_ - lowest_) / static_cast<double>(bins()); }

  double content(std::size_t i) const { return weights_[i]; }  ///< sum of weights
  double error(std::size_t i) const;                           ///< sqrt(sum of squared weights)
  double total() const;  ///< sum of weights, under- and overflow included

  /// All contents, errors and the weights outside times `factor`.
  Histogram scaled(double factor) const;

 private:
  double lowest_, highest_;
  std::vector<double> weights_, squared_weights_;
  double underflow_ = 0, overflow_ = 0;
};

}  // namespace sagips::analysis

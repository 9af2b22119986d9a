#include "sagips/analysis/histogram.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::analysis {

Histogram::Histogram(double lowest, double highest, std::size_t bins)
    : lowest_(lowest), highest_(highest), weights_(bins, 0), squared_weights_(bins, 0) {
  if (!(lowest < highest) || !std::isfinite(lowest) || !std::isfinite(highest) || bins == 0)
    throw core::Error(core::text("histogram: ", bins, " bins from ", lowest, " to ", highest,
                                 " hold nothing. Use a bin or more and a range that grows."));
}

void Histogram::fill(double value, double weight) {
  if (value < lowest_) {
    underflow_ += weight;
  } else if (value > highest_) {
    overflow_ += weight;
  } else if (!std::isnan(value)) {
    const double place = (value - lowest_) / (highest_ - lowest_) * static_cast<double>(bins());
    auto bin = std::min(static_cast<std::size_t>(place), bins() - 1);
    // Rounding may put a value at an edge on its wrong side.
    if (value < edge(bin)) --bin;
    if (bin + 1 < bins() && value >= edge(bin + 1)) ++bin;
    weights_[bin] += weight;
    squared_weights_[bin] += weight * weight;
  }
}

void Histogram::fill(std::span<const double> values) {
  for (const double value : values) fill(value);
}

void Histogram::fill(std::span<const double> values, std::span<const double> weights) {
  if (values.size() != weights.size())
    throw core::Error(core::text("histogram: ", values.size(), " values, ", weights.size(),
                                 " weights. Pass one weight a value."));
  for (std::size_t i = 0; i < values.size(); ++i) fill(values[i], weights[i]);
}

double Histogram::edge(std::size_t i) const {
  return std::lerp(lowest_, highest_, static_cast<double>(i) / static_cast<double>(bins()));
}

double Histogram::error(std::size_t i) const { return std::sqrt(squared_weights_[i]); }

double Histogram::total() const {
  return std::accumulate(weights_.begin(), weights_.end(), underflow_ + overflow_);
}

Histogram Histogram::scaled(double factor) const {
  Histogram result = *this;
  for (double& weight : result.weights_) weight *= factor;
  for (double& squared : result.squared_weights_) squared *= factor * factor;
  result.underflow_ *= factor;
  result.overflow_ *= factor;
  return result;
}

}  // namespace sagips::analysis

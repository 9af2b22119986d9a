#include "sagips/analysis/residuals.hpp"

#include <cmath>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::analysis {
namespace {

/// Mean and standard deviation (1/n) of `count` numbers; two passes, since a contracted generator's
/// spread is many orders below its mean.
template <class Value>
Prediction summarise(std::size_t count, const Value& value) {
  Prediction summary;
  for (std::size_t i = 0; i < count; ++i) summary.mean += value(i);
  summary.mean /= static_cast<double>(count);
  double squares = 0;
  for (std::size_t i = 0; i < count; ++i) squares += std::pow(value(i) - summary.mean, 2);
  summary.spread = std::sqrt(squares / static_cast<double>(count));
  return summary;
}

}  // namespace

double residual(double truth, double prediction) { return (truth - prediction) / truth; }

std::vector<Prediction> predict(std::span<const float> samples, std::size_t parameters) {
  if (parameters == 0 || samples.empty() || samples.size() % parameters != 0)
    throw core::Error(core::text("predictions: ", samples.size(), " numbers are no full rows of ",
                                 parameters, " parameters. Pass all rows, at least one."));
  const std::size_t rows = samples.size() / parameters;
  std::vector<Prediction> predictions;
  for (std::size_t column = 0; column < parameters; ++column)
    predictions.push_back(summarise(
        rows, [&](std::size_t row) { return double{samples[row * parameters + column]}; }));
  return predictions;
}

EnsembleResponse ensemble_response(std::span<const std::vector<float>> members) {
  if (members.empty())
    throw core::Error("ensemble: has no members. Pass the samples of one network or more.");
  const std::size_t numbers = members.front().size();
  for (const auto& member : members)
    if (member.size() != numbers)
      throw core::Error(core::text("ensemble: members give ", numbers, " and ", member.size(),
                                   " numbers. Evaluate all of them on the same noise."));
  EnsembleResponse response;
  for (std::size_t i = 0; i < numbers; ++i) {
    const Prediction summary =
        summarise(members.size(), [&](std::size_t m) { return double{members[m][i]}; });
    response.mean.push_back(summary.mean);
    response.spread.push_back(summary.spread);
  }
  return response;
}

}  // namespace sagips::analysis

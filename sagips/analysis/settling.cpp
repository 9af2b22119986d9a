#include "sagips/analysis/settling.hpp"

#include <algorithm>
#include <cmath>

#include "sagips/analysis/lookup.hpp"

namespace sagips::analysis {
namespace {

using record::Evaluated;
using record::ParameterResult;
using record::ParameterState;

constexpr double share = 0.8;  // of the epochs; what happens later is compared with this moment
constexpr std::size_t fewest = 4;

struct Unit {
  double size = 0;
  std::string name;
};

Unit unit_of(const ParameterState& last, const std::vector<ParameterResult>& references) {
  if (const ParameterResult* found = find_named(references, last.name)) {
    if (found->error && *found->error > 0) return {*found->error, "error"};
    if (found->floor && found->truth && *found->floor > 0)
      return {*found->floor * std::abs(*found->truth), "Cramér-Rao floor"};
  }
  return {last.spread, "spread"};
}

}  // namespace

std::optional<Settling> largest_move(const std::vector<record::Event>& metrics,
                                     const std::vector<ParameterResult>& references) {
  const auto evaluations = events_of<Evaluated>(metrics);
  if (evaluations.size() < fewest) return std::nullopt;
  const Evaluated& last = *evaluations.back();
  const auto then = std::find_if(evaluations.rbegin(), evaluations.rend(), [&](const auto* one) {
    return static_cast<double>(one->epoch) <= share * static_cast<double>(last.epoch);
  });
  if (then == evaluations.rend()) return std::nullopt;
  std::optional<Settling> largest;
  const std::size_t count = std::min(last.parameters.size(), (*then)->parameters.size());
  for (std::size_t i = 0; i < count; ++i) {
    const ParameterState& now = last.parameters[i];
    const Unit unit = unit_of(now, references);
    const double move = std::abs(now.value - (*then)->parameters[i].value) / unit.size;
    if (now.fixed || !std::isfinite(move)) continue;
    if (!largest || move > largest->move)
      largest = Settling{now.name, move, unit.name, (*then)->epoch, last.epoch};
  }
  return largest;
}

}  // namespace sagips::analysis

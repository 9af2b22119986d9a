#include "sagips/analysis/convergence/crossing.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "sagips/analysis/statistics.hpp"
#include "sagips/core/random.hpp"

namespace sagips::analysis {
namespace {

constexpr double one_sigma_low = 0.1587, one_sigma_high = 0.8413;

double value_at(const std::vector<double>& times, const std::vector<double>& values, double time) {
  const auto after = std::lower_bound(times.begin(), times.end(), time);
  if (after == times.begin()) return values.front();
  if (after == times.end()) return values.back();
  const auto i = static_cast<std::size_t>(after - times.begin());
  const double weight = (time - times[i - 1]) / (times[i] - times[i - 1]);
  return (1 - weight) * values[i - 1] + weight * values[i];
}

/// The times of both that both cover.
std::vector<double> common_times(const EnsembleLearningCurve& a, const EnsembleLearningCurve& b) {
  const double begin = std::max(a.time_s.front(), b.time_s.front());
  const double end = std::min(a.time_s.back(), b.time_s.back());
  std::vector<double> times;
  for (const EnsembleLearningCurve* curve : {&a, &b})
    for (const double time : curve->time_s)
      if (time >= begin && time <= end) times.push_back(time);
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  return times;
}

/// Distances of an ensemble of these members, at given times.
std::vector<double> distances_of(const EnsembleLearningCurve& curve,
                                 const std::vector<std::int64_t>& members,
                                 const std::vector<double>& times) {
  std::vector<double> own;
  for (std::size_t k = 0; k < curve.time_s.size(); ++k) {
    std::vector<double> mean(curve.targets.size(), 0.0);
    for (const std::int64_t m : members)
      for (std::size_t i = 0; i < mean.size(); ++i)
        mean[i] += curve.member_residuals[static_cast<std::size_t>(m)][k][i] /
                   static_cast<double>(members.size());
    own.push_back(distance(mean, curve.targets));
  }
  std::vector<double> asked;
  for (const double time : times) asked.push_back(value_at(curve.time_s, own, time));
  return asked;
}

std::vector<std::int64_t> all_members(const EnsembleLearningCurve& curve) {
  std::vector<std::int64_t> members(curve.member_residuals.size());
  std::iota(members.begin(), members.end(), 0);
  return members;
}

}  // namespace

Crossing crossing(std::span<const double> time_s, std::span<const double> faster,
                  std::span<const double> slower) {
  if (time_s.size() < 2) return {Meeting::not_comparable, 0};
  const auto lead = [&](std::size_t k) { return slower[k] - faster[k]; };
  if (lead(time_s.size() - 1) > 0) return {Meeting::stays_below, time_s.back()};
  for (std::size_t k = time_s.size() - 1; k-- > 0;)
    if (lead(k) > 0) {
      const double way = lead(k) / (lead(k) - lead(k + 1));
      return {Meeting::crosses, time_s[k] + way * (time_s[k + 1] - time_s[k])};
    }
  return {};
}

SuggestedStop suggested_stop(const EnsembleLearningCurve& several_ranks,
                             const EnsembleLearningCurve& one_rank, std::size_t redrawn,
                             std::uint64_t seed) {
  const std::vector<double> times = common_times(several_ranks, one_rank);
  const auto crossing_of = [&](const std::vector<std::int64_t>& several,
                               const std::vector<std::int64_t>& one) {
    return crossing(times, distances_of(several_ranks, several, times),
                    distances_of(one_rank, one, times));
  };
  auto several = all_members(several_ranks), one = all_members(one_rank);
  SuggestedStop stop{.crossing = crossing_of(several, one)};
  if (several.size() < 2 || one.size() < 2 || redrawn == 0) return stop;  // one does not vary
  stop.redrawn = redrawn;
  std::vector<double> found;
  for (std::size_t draw = 0; draw < redrawn; ++draw) {
    const core::RandomStream stream(seed, "redrawn members", static_cast<std::uint32_t>(draw));
    stream.integers(0, 0, several.size(), several);
    stream.integers(0, 1, one.size(), one);
    const Crossing one_of_many = crossing_of(several, one);
    if (one_of_many.meeting == Meeting::crosses) found.push_back(one_of_many.time_s);
  }
  stop.share = static_cast<double>(found.size()) / static_cast<double>(redrawn);
  if (found.empty()) return stop;
  std::sort(found.begin(), found.end());
  stop.low_s = quantile(found, one_sigma_low);
  stop.high_s = quantile(found, one_sigma_high);
  return stop;
}

}  // namespace sagips::analysis

#include "sagips/analysis/convergence/learning_curve.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sagips/analysis/residuals.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::analysis {
namespace {

[[noreturn]] void refuse(const std::string& problem, const std::string& remedy) {
  throw core::Error(core::text("ensemble over time: ", problem, ". ", remedy));
}

void check(std::span<const MemberLearningCurve> members, std::size_t times) {
  if (members.empty()) refuse("has no member", "Pass the snapshots of one training or more.");
  if (times < 2) refuse("fewer than two times make no curve", "Ask for two or more.");
  for (std::size_t m = 0; m < members.size(); ++m) {
    if (members[m].empty())
      refuse(core::text("member ", m + 1, " has no snapshot"),
             "Train it with train.snapshots above 0.");
    const record::Snapshot& first = members.front().front();
    for (const record::Snapshot& snapshot : members[m])
      if (snapshot.parameters != first.parameters || snapshot.rows() != first.rows())
        refuse(core::text("member ", m + 1, " predicts ", snapshot.rows(), " x ",
                          snapshot.parameters.size(), " numbers, the first one ", first.rows(),
                          " x ", first.parameters.size(), " (or other parameters)"),
               "Compare trainings of one workload and one version.");
  }
}

/// Where the targets stand among the parameters of a snapshot.
std::vector<std::size_t> columns_of(const std::vector<Target>& targets,
                                    const std::vector<std::string>& parameters) {
  std::vector<std::size_t> columns;
  for (const Target& target : targets) {
    const auto found = std::find(parameters.begin(), parameters.end(), target.name);
    if (found == parameters.end())
      refuse(core::text("no snapshot predicts '", target.name, "'"),
             "Compare trainings of one workload and one version.");
    columns.push_back(static_cast<std::size_t>(found - parameters.begin()));
  }
  return columns;
}

std::vector<double> even_times(std::span<const MemberLearningCurve> members, std::size_t count) {
  double begin = members.front().front().time_s, end = begin;
  for (const MemberLearningCurve& member : members) {
    begin = std::max(begin, member.front().time_s);
    end = std::max(end, member.back().time_s);
  }
  if (!(end > begin)) return {end};
  std::vector<double> times;
  for (std::size_t k = 0; k + 1 < count; ++k)
    times.push_back(begin +
                    (end - begin) * static_cast<double>(k) / static_cast<double>(count - 1));
  times.push_back(end);
  return times;
}

/// A member's predictions at one time, of the targets alone. shape: [rows, targets]
std::vector<float> predictions_at(const MemberLearningCurve& member, double time_s,
                                  const std::vector<std::size_t>& columns) {
  const auto after =
      std::find_if(member.begin(), member.end(),
                   [&](const record::Snapshot& snapshot) { return snapshot.time_s >= time_s; });
  const record::Snapshot& next = after == member.end() ? member.back() : *after;
  const record::Snapshot& before =
      after == member.begin() || after == member.end() ? next : *(after - 1);
  const double step = next.time_s - before.time_s;
  const double weight = step > 0 ? (time_s - before.time_s) / step : 1;
  const std::size_t width = next.parameters.size();
  std::vector<float> predictions;
  predictions.reserve(next.predictions.size() / width * columns.size());
  for (std::size_t row = 0; row < next.predictions.size(); row += width)
    for (const std::size_t column : columns) {
      const double low = before.predictions[row + column], high = next.predictions[row + column];
      predictions.push_back(static_cast<float>((1 - weight) * low + weight * high));
    }
  return predictions;
}

double mean_of_column(std::span<const double> table, std::size_t column, std::size_t width) {
  double sum = 0;
  for (std::size_t i = column; i < table.size(); i += width) sum += table[i];
  return sum * static_cast<double>(width) / static_cast<double>(table.size());
}

std::vector<double> residuals_of(const std::vector<float>& predictions,
                                 const std::vector<Target>& targets) {
  std::vector<double> residuals;
  const auto means = predict(predictions, targets.size());
  for (std::size_t i = 0; i < targets.size(); ++i)
    residuals.push_back(residual(targets[i].truth, means[i].mean));
  return residuals;
}

bool floors_known(const std::vector<Target>& targets) {
  return std::all_of(targets.begin(), targets.end(), [](const Target& target) {
    return target.floor && std::isfinite(*target.floor) && *target.floor > 0;
  });
}

/// One measure of all targets at each time. of: curve of a target, time -> number
template <class Of>
std::vector<double> at_each_time(const EnsembleLearningCurve& curve, const Of& of) {
  std::vector<double> result;
  for (std::size_t k = 0; k < curve.time_s.size(); ++k) {
    std::vector<double> numbers;
    for (const EnsembleLearningCurve::TargetCurve& target : curve.target_curves)
      numbers.push_back(of(target, k));
    result.push_back(distance(numbers, curve.targets));
  }
  return result;
}

}  // namespace

EnsembleLearningCurve ensemble_learning_curve(std::span<const MemberLearningCurve> members,
                                              const std::vector<Target>& targets,
                                              std::size_t times) {
  check(members, times);
  if (targets.empty()) refuse("no parameter has a truth", "Use toy data.");
  const auto columns = columns_of(targets, members.front().front().parameters);
  EnsembleLearningCurve curve{
      .targets = targets,
      .time_s = even_times(members, times),
      .target_curves = std::vector<EnsembleLearningCurve::TargetCurve>(targets.size()),
      .member_residuals{}};
  curve.member_residuals.resize(members.size());
  for (const double time : curve.time_s) {
    std::vector<std::vector<float>> predictions;
    for (std::size_t m = 0; m < members.size(); ++m) {
      predictions.push_back(predictions_at(members[m], time, columns));
      curve.member_residuals[m].push_back(residuals_of(predictions.back(), targets));
    }
    const EnsembleResponse response = ensemble_response(predictions);
    for (std::size_t i = 0; i < targets.size(); ++i) {
      const double truth = targets[i].truth;
      curve.target_curves[i].residual.push_back(
          residual(truth, mean_of_column(response.mean, i, targets.size())));
      curve.target_curves[i].spread.push_back(mean_of_column(response.spread, i, targets.size()) /
                                              std::abs(truth));
    }
  }
  return curve;
}

DistanceUnit distance_unit(const std::vector<Target>& targets) {
  if (floors_known(targets)) return {1, "floors", 1};
  return {100, "%", 0};
}

double distance(std::span<const double> residuals, const std::vector<Target>& targets) {
  const bool in_floors = floors_known(targets);
  double squares = 0;
  for (std::size_t i = 0; i < targets.size(); ++i)
    squares += std::pow(residuals[i] / (in_floors ? *targets[i].floor : 1), 2);
  return std::sqrt(squares / static_cast<double>(targets.size()));
}

std::vector<double> distances(const EnsembleLearningCurve& curve) {
  return at_each_time(curve, [](const auto& target, std::size_t k) { return target.residual[k]; });
}

std::vector<double> spreads(const EnsembleLearningCurve& curve) {
  return at_each_time(curve, [](const auto& target, std::size_t k) { return target.spread[k]; });
}

}  // namespace sagips::analysis

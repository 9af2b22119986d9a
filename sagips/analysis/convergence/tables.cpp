#include "sagips/analysis/convergence/tables.hpp"

#include <cmath>

#include "sagips/analysis/statistics.hpp"
#include "sagips/analysis/table.hpp"
#include "sagips/core/csv.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"

namespace sagips::analysis {
namespace {

using core::significant;
using core::text;
using Rows = std::vector<std::vector<std::string>>;

std::string percent(double share) { return core::rounded(100 * share, 1); }

// One number alone has no deviation.
std::string with_deviation(const std::vector<double>& numbers, double unit) {
  std::string middle = significant(mean(numbers) / unit, 3);
  if (numbers.size() < 2) return middle;
  return text(middle, " ± ", significant(standard_deviation(numbers) / unit, 2));
}

/// name: first cell; of: variant -> cell
template <class Of>
void add_row(Rows& rows, const std::string& name, const std::string& floor,
             const std::vector<ConvergenceVariant>& variants, const Of& of) {
  rows.push_back({name, floor});
  for (const ConvergenceVariant& variant : variants) rows.back().push_back(of(variant));
}

std::string final_distance(const ConvergenceVariant& variant) {
  return significant(distances(variant.curve).back() * distance_unit(variant.curve.targets).scale,
                     3);
}

std::string legend(const std::vector<ConvergenceVariant>& variants, bool in_floors) {
  std::string lines =
      "residual: (true - recovered) / true of the ensemble's mean ± spread over its members [%]\n";
  lines += in_floors ? "distance: rms of the residuals in units of their floors; at the limit of "
                       "the data it is about 1\n"
                     : "distance: rms of the residuals [%]\n";
  for (const ConvergenceVariant& variant : variants)
    if (variant.members() < 2)
      return lines + "one member has no spread: a residual says little without\n";
  return lines;
}

std::string seconds(double time_s) {
  return time_s < 60 ? text(significant(time_s, 3), " s") : core::duration(time_s);
}

std::string redrawn_text(const SuggestedStop& stop) {
  if (stop.redrawn == 0) return " (without an uncertainty: no members were drawn again)";
  const std::string share = text(core::fixed(100 * stop.share, 0), " % of ", stop.redrawn,
                                 " ensembles of redrawn members cross");
  if (stop.share == 0 || stop.crossing.meeting != Meeting::crosses) return text(" (", share, ")");
  return text(" (", share, ", 68 % of those from ", seconds(stop.low_s), " to ",
              seconds(stop.high_s), ")");
}

}  // namespace

std::string convergence_table(const std::vector<ConvergenceVariant>& variants) {
  if (variants.empty()) return {};
  const std::vector<Target>& targets = variants.front().curve.targets;
  const DistanceUnit unit = distance_unit(targets);
  std::vector<std::string> header{"residual [%]", "floor"};
  for (const ConvergenceVariant& variant : variants) header.push_back(variant.label);
  Rows rows;
  for (std::size_t i = 0; i < targets.size(); ++i)
    add_row(rows, targets[i].name, targets[i].floor ? percent(*targets[i].floor) : "", variants,
            [&](const ConvergenceVariant& variant) {
              const EnsembleLearningCurve::TargetCurve& curve = variant.curve.target_curves[i];
              return text(percent(curve.residual.back()), " ± ", percent(curve.spread.back()));
            });
  add_row(rows, text("distance [", unit.label, "]"), unit.floor > 0 ? "1" : "", variants,
          final_distance);
  add_row(rows, "time [s]", "", variants,
          [](const ConvergenceVariant& variant) { return with_deviation(variant.time_s, 1); });
  add_row(rows, "rate [1000 events/s]", "", variants, [](const ConvergenceVariant& variant) {
    return with_deviation(variant.events_per_second, 1000);
  });
  add_row(rows, "ranks", "", variants,
          [](const ConvergenceVariant& variant) { return text(variant.ranks); });
  add_row(rows, "members", "", variants,
          [](const ConvergenceVariant& variant) { return text(variant.members()); });
  return plain_table(header, rows) + "\n" + legend(variants, unit.floor > 0);
}

std::string stop_text(const SuggestedStop& stop) {
  switch (stop.crossing.meeting) {
    case Meeting::crosses:
      return text("suggested stop after ", seconds(stop.crossing.time_s), redrawn_text(stop));
    case Meeting::stays_below:
      return text("no crossing: several ranks are nearer the truth to their end",
                  redrawn_text(stop));
    case Meeting::not_comparable:
      return "no suggested stop: the two have no stretch of training time in common";
    case Meeting::never_below:
      break;
  }
  return text("no crossing: several ranks are never nearer the truth", redrawn_text(stop));
}

void write_convergence_csv(const std::string& path,
                           const std::vector<ConvergenceVariant>& variants) {
  std::string content = "variant,members,parameter,time_s,residual,spread,floor\n";
  for (const ConvergenceVariant& variant : variants) {
    const EnsembleLearningCurve& curve = variant.curve;
    for (std::size_t i = 0; i < curve.targets.size(); ++i)
      for (std::size_t k = 0; k < curve.time_s.size(); ++k)
        content += core::csv_line(variant.label, variant.members(), curve.targets[i].name,
                                  curve.time_s[k], curve.target_curves[i].residual[k],
                                  curve.target_curves[i].spread[k], curve.targets[i].floor);
  }
  core::write_file(path, content);
}

}  // namespace sagips::analysis

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "sagips/core/text.hpp"
#include "sagips/data/numbers.hpp"
#include "workloads/calorimeter3d/shower_comparison.hpp"

namespace sagips::workloads {

namespace {

using core::text;
using problem::ComparedCurve;
using Curves = std::vector<ComparedCurve>;

constexpr double degree = std::numbers::pi / 180;
constexpr std::size_t histogram_bins = 25;
constexpr double widths_shown = 4;  // of what real showers have, on both sides of their mean
const std::vector<std::string> axes{"x", "y", "z"};

torch::Tensor spread(const torch::Tensor& rows) { return rows.std(0, /*unbiased=*/false); }
double root(std::int64_t rows) { return std::sqrt(static_cast<double>(rows)); }

std::vector<double> counted(std::int64_t count, double first) {
  std::vector<double> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

// Means over rows with their errors. shape: [rows, numbers]
void take_means(ComparedCurve& curve, const Sides& rows) {
  curve.real = data::numbers_of(rows.real.mean(0));
  curve.made = data::numbers_of(rows.made.mean(0));
  curve.real_errors = data::numbers_of(spread(rows.real) / root(rows.real.size(0)));
  curve.made_errors = data::numbers_of(spread(rows.made) / root(rows.made.size(0)));
}

// The same for spreads, with the errors of normal numbers.
void take_spreads(ComparedCurve& curve, const Sides& rows) {
  curve.real = data::numbers_of(spread(rows.real));
  curve.made = data::numbers_of(spread(rows.made));
  curve.real_errors = data::numbers_of(spread(rows.real) / root(2 * rows.real.size(0)));
  curve.made_errors = data::numbers_of(spread(rows.made) / root(2 * rows.made.size(0)));
}

void add_profiles(Curves& curves, const ComparedShowers& all, const std::vector<ShowerBin>& bins) {
  const auto add = [&](const std::string& figure, const std::string& axis, bool is_logarithmic,
                       const ComparedShowers& showers, const std::string& title) {
    ComparedCurve curve{.figure = figure,
                        .title = title,
                        .x_label = axis + " [cells]",
                        .y_label = "mean energy [GeV]",
                        .is_logarithmic = is_logarithmic};
    take_means(curve, showers.of(axis));
    curve.x = counted(static_cast<std::int64_t>(curve.real.size()), 0);
    curves.push_back(std::move(curve));
  };
  for (const bool is_logarithmic : {false, true})
    for (const std::string& axis : axes)
      add(is_logarithmic ? "profiles_log" : "profiles", axis, is_logarithmic, all, "");
  for (const ShowerBin& bin : bins)
    add("profiles_by_energy", "z", false, bin.showers,
        text(bin.middle, " ± ", bin.half_width, " GeV"));
}

// Shares of the rows in bins, edges given.
std::vector<double> shares(const torch::Tensor& values, const std::vector<double>& edges) {
  std::vector<double> counts(edges.size() - 1, 0.0);
  for (const double value : data::numbers_of(values)) {
    const double place = (value - edges.front()) / (edges.back() - edges.front()) *
                         static_cast<double>(counts.size());
    if (place >= 0 && place < static_cast<double>(counts.size()))
      counts[static_cast<std::size_t>(place)] += 1 / static_cast<double>(values.size(0));
  }
  return counts;
}

ComparedCurve histogram(const std::string& figure, const std::string& label, const Sides& values,
                        std::vector<double> edges) {
  ComparedCurve curve{.figure = figure, .x_label = label, .y_label = "share of the showers"};
  curve.real = shares(values.real, edges);
  curve.made = shares(values.made, edges);
  const auto error = [&](double share) {
    return std::sqrt(share * (1 - share)) / root(values.real.size(0));
  };
  std::transform(curve.real.begin(), curve.real.end(), std::back_inserter(curve.real_errors),
                 error);
  std::transform(curve.made.begin(), curve.made.end(), std::back_inserter(curve.made_errors),
                 error);
  curve.x = std::move(edges);
  return curve;
}

// Around what real showers have, as made ones may lie anywhere at first.
std::vector<double> edges_around(const torch::Tensor& real) {
  const double middle = real.mean().item<double>(),
               half = widths_shown * std::max(spread(real).item<double>(), 1e-9);
  const double low = std::max(real.min().item<double>(), middle - half),
               high = std::min(real.max().item<double>(), middle + half);
  const double beside = 0.25 * std::max(high - low, 1e-9);
  std::vector<double> edges;
  for (std::size_t i = 0; i <= histogram_bins; ++i)
    edges.push_back(
        std::lerp(low - beside, high + beside, static_cast<double>(i) / histogram_bins));
  return edges;
}

void add_histograms(Curves& curves, const ComparedShowers& all) {
  const auto add = [&](const std::string& figure, const std::string& label, const Sides& values) {
    curves.push_back(histogram(figure, label, values, edges_around(values.real)));
  };
  const auto column = [](const Sides& sides, std::int64_t i) {
    return Sides{sides.real.select(1, i), sides.made.select(1, i)};
  };
  const Sides first = all.of("first"), second = all.of("second"), thirds = all.of("thirds"),
              hottest = all.of("hottest");
  add("sums", "sum / energy", all.sampling_fraction());
  add("sums", "hits, share of the cells", all.of("hits"));
  if (all.angle.defined()) {
    const Sides error = all.angle_error(), measured = all.of("angle");
    add("sums", "angle [degrees]", {measured.real / degree, measured.made / degree});
  }
  for (std::int64_t i = 0; i < 3; ++i) {
    const std::string& axis = axes[static_cast<std::size_t>(i)];
    add("centres", "mean " + axis + " [cells]", column(first, i));
    add("widths", "width in " + axis + " [cells]",
        column({second.real.sqrt(), second.made.sqrt()}, i));
    add("thirds", text("R", i + 1, ", share of the energy"), column(thirds, i));
    curves.push_back(histogram("hottest_cell", axis + " of the hottest cell", column(hottest, i),
                               counted(all.columns.at(axis).numbers() + 1, -0.5)));
  }
}

void add_sparsity(Curves& curves, const ComparedShowers& all) {
  const std::string label = "log10(threshold / GeV)";
  ComparedCurve mean{.figure = "sparsity",
                     .x_label = label,
                     .y_label = "mean share of cells above",
                     .is_logarithmic = true,
                     .x = counted(highest_power - lowest_power + 1, lowest_power)};
  ComparedCurve width = mean;
  width.y_label = "its spread over showers";
  const Sides above = all.of("above");
  take_means(mean, above);
  take_spreads(width, above);
  curves.push_back(std::move(mean));
  curves.push_back(std::move(width));
}

// Mean of a quantity in bins, or its spread.
void add_response(Curves& curves, const std::string& x_label, const std::string& y_label,
                  const std::vector<ShowerBin>& bins, double x_unit, bool is_spread,
                  const std::function<Sides(const ComparedShowers&)>& quantity) {
  ComparedCurve curve{.figure = "responses", .x_label = x_label, .y_label = y_label};
  for (const ShowerBin& bin : bins) {
    curve.x.push_back(bin.middle / x_unit);
    const Sides rows = quantity(bin.showers);
    ComparedCurve point;
    is_spread ? take_spreads(point, rows) : take_means(point, rows);
    curve.real.push_back(point.real[0]);
    curve.made.push_back(point.made[0]);
    curve.real_errors.push_back(point.real_errors[0]);
    curve.made_errors.push_back(point.made_errors[0]);
  }
  if (!bins.empty()) curves.push_back(std::move(curve));
}

void add_responses(Curves& curves, const ComparedShowers& all, const std::vector<ShowerBin>& bins) {
  const auto fraction = [](const ComparedShowers& showers) { return showers.sampling_fraction(); };
  const auto angle = [](const ComparedShowers& showers) {
    const Sides error = showers.angle_error();
    return Sides{error.real / degree, error.made / degree};
  };
  const std::string energy = "energy [GeV]", degrees = "angle [degrees]",
                    error = "angle less wanted [degrees]";
  add_response(curves, energy, "mean of sum / energy", bins, 1, false, fraction);
  add_response(curves, energy, "spread of sum / energy", bins, 1, true, fraction);
  if (!all.angle.defined()) return;
  const std::vector<ShowerBin> by_angle = angle_bins(all);
  add_response(curves, degrees, "mean of sum / energy", by_angle, degree, false, fraction);
  add_response(curves, energy, "mean " + error, bins, 1, false, angle);
  add_response(curves, degrees, "mean " + error, by_angle, degree, false, angle);
  add_response(curves, degrees, "spread of " + error, by_angle, degree, true, angle);
}

}  // namespace

std::vector<ComparedCurve> ShowerComparison::curves() const {
  const ComparedShowers all = together();
  const std::vector<ShowerBin> bins = energy_bins(all);
  Curves curves;
  add_profiles(curves, all, bins);
  add_histograms(curves, all);
  add_sparsity(curves, all);
  add_responses(curves, all, bins);
  return curves;
}

}  // namespace sagips::workloads

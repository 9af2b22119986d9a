#include "sagips/analysis/convergence/simulated.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>

#include "sagips/analysis/statistics.hpp"
#include "sagips/analysis/table.hpp"
#include "sagips/core/csv.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"

namespace sagips::analysis {
namespace {

using core::significant;
using core::text;
using LearningCurve = record::SimulatedLearningCurve;
using Shown = std::vector<const SimulatedVariant*>;

constexpr double significant_chance = 0.05;
constexpr double no_spread = 1e-9;  // of logarithms: rounding, and no seed's doing

bool in_last_quarter(const LearningCurve& curve, const LearningCurve::Point& point) {
  return 4 * point.epoch > 3 * curve.points.back().epoch;
}

std::map<std::int64_t, Shown> by_ranks(const std::vector<SimulatedVariant>& variants) {
  std::map<std::int64_t, Shown> groups;
  for (const SimulatedVariant& variant : variants) groups[variant.ranks].push_back(&variant);
  return groups;
}

Shown trained(Shown all) {
  std::erase_if(all, [](const SimulatedVariant* variant) { return variant->curves.empty(); });
  return all;
}

std::vector<SimulatedSummary> summaries(const SimulatedVariant& variant, double bar) {
  std::vector<SimulatedSummary> all;
  for (const LearningCurve& curve : variant.curves) all.push_back(summary(curve, bar));
  return all;
}

std::vector<double> column(const std::vector<SimulatedSummary>& all,
                           double SimulatedSummary::*member) {
  std::vector<double> numbers;
  for (const SimulatedSummary& one : all) numbers.push_back(one.*member);
  return numbers;
}

std::string with_spread(const std::vector<double>& numbers, double scale) {
  std::vector<double> shown = numbers;
  for (double& number : shown) number *= scale;
  if (shown.size() < 2) return significant(mean(shown), 3);
  const double error = standard_deviation(shown) / std::sqrt(static_cast<double>(shown.size()));
  if (error <= 1e-9 * std::abs(mean(shown))) return significant(mean(shown), 3);  // does not vary
  return text(significant(mean(shown), 3), " ± ", significant(error, 2));
}

/// Compares the seeds that both have.
PairedRatio compared(const SimulatedVariant& variant, const SimulatedVariant& with,
                     double SimulatedSummary::*member) {
  std::vector<double> of, to;
  for (std::size_t i = 0; i < variant.seeds.size(); ++i) {
    const auto same = std::find(with.seeds.begin(), with.seeds.end(), variant.seeds[i]);
    if (same == with.seeds.end()) continue;
    of.push_back(summary(variant.curves[i], 0).*member);
    to.push_back(summary(with.curves[static_cast<std::size_t>(same - with.seeds.begin())], 0).*
                 member);
  }
  return paired_ratio(of, to);
}

std::string verdict(const PairedRatio& ratio, std::optional<double> corrected) {
  if (ratio.seeds == 0) return "no seed of both: no verdict";
  if (ratio.seeds == 1) return "one seed: no verdict";
  if (!corrected) return "the same for all seeds: no verdict";
  if (*corrected > significant_chance) return "no difference seen";
  return ratio.ratio > 1 ? "worse" : "better";
}

/// Until the bar, of the seeds that reach it.
std::string bar_cell(const std::vector<SimulatedSummary>& all) {
  std::vector<double> times;
  for (const SimulatedSummary& one : all)
    if (one.until_bar_s) times.push_back(*one.until_bar_s);
  if (times.empty()) return "never";
  const std::string cell = with_spread(times, 1);
  return times.size() == all.size() ? cell
                                    : text(cell, " (", times.size(), " of ", all.size(), ")");
}

std::string results_table(const Shown& shown, std::optional<double> bar) {
  std::vector<std::vector<std::string>> rows;
  for (const SimulatedVariant* variant : shown) {
    const auto all = summaries(*variant, bar.value_or(0));
    const LearningCurve& curve = variant->curves.front();
    rows.push_back({variant->label, text(all.size()),
                    with_spread(column(all, &SimulatedSummary::epoch_s), 1e3),
                    with_spread(column(all, &SimulatedSummary::of_a_rank), 100),
                    with_spread(column(all, &SimulatedSummary::of_mean), 100),
                    bar ? bar_cell(all) : "",
                    significant(curve.points.back().consensus_distance, 2),
                    curve.used > 0 ? significant(curve.age_mean, 2) : ""});
  }
  return plain_table({"exchange", "seeds", "epoch [ms]", "of a rank [%]", "of the mean [%]",
                      "to the bar [s]", "consensus", "age"},
                     rows);
}

std::string ratio_cell(const PairedRatio& ratio) {
  if (ratio.seeds < 2) return ratio.seeds == 0 ? "" : significant(ratio.ratio, 3);
  return text(significant(ratio.ratio, 3), " (", significant(ratio.low, 3), " .. ",
              significant(ratio.high, 3), ")");
}

/// Each of the others against the first one.
std::string comparison_table(const Shown& shown) {
  std::vector<PairedRatio> ratios;
  std::vector<double> chances;
  for (std::size_t v = 1; v < shown.size(); ++v) {
    ratios.push_back(compared(*shown[v], *shown.front(), &SimulatedSummary::of_a_rank));
    if (ratios.back().chance) chances.push_back(*ratios.back().chance);
  }
  chances = corrected_for_many(chances);
  std::vector<std::vector<std::string>> rows;
  auto corrected = chances.begin();
  for (std::size_t v = 1; v < shown.size(); ++v) {
    const PairedRatio& ratio = ratios[v - 1];
    rows.push_back({shown[v]->label, ratio_cell(ratio),
                    verdict(ratio, ratio.chance ? std::optional(*corrected++) : std::nullopt)});
  }
  return plain_table({"against " + shown.front()->label, "of a rank [times]", "verdict"}, rows);
}

std::string table_of(std::int64_t ranks, const Shown& all) {
  const SimulatedVariant& first = *all.front();
  const Shown shown = trained(all);
  std::vector<std::string> missing;
  for (const SimulatedVariant* variant : all)
    if (variant->curves.empty()) missing.push_back(variant->label);
  std::string told = text(ranks, " ranks");
  std::optional<double> bar;
  if (!first.curves.empty()) {
    bar = 2 * mean(column(summaries(first, 0), &SimulatedSummary::of_a_rank));
    told += text("; bar: a rank's residual of ", significant(100 * *bar, 3), " %, twice that of ",
                 first.label);
  }
  told += "\n" + results_table(shown, bar);
  if (!missing.empty()) told += "not trained: " + core::join(missing, ", ") + "\n";
  if (!bar) return told + "no comparison: " + first.label + " is what others are compared with\n";
  return shown.size() < 2 ? told : told + "\n" + comparison_table(shown);
}

}  // namespace

double student_p_value(double t, int degrees) {
  const double angle = std::atan(t / std::sqrt(static_cast<double>(degrees)));
  const double sine = std::abs(std::sin(angle)), square = std::cos(angle) * std::cos(angle);
  const bool odd = degrees % 2 == 1;
  double term = odd ? std::cos(angle) : 1, sum = degrees == 1 ? 0 : term;
  for (int k = odd ? 3 : 2; k < degrees; k += 2) {
    term *= square * (k - 1) / k;
    sum += term;
  }
  const double inside = odd ? 2 / std::numbers::pi * (std::abs(angle) + sine * sum) : sine * sum;
  return std::clamp(1 - inside, 0.0, 1.0);
}

PairedRatio paired_ratio(std::span<const double> of, std::span<const double> to) {
  std::vector<double> logarithms;
  for (std::size_t i = 0; i < of.size(); ++i) logarithms.push_back(std::log(of[i] / to[i]));
  PairedRatio ratio{.seeds = logarithms.size()};
  if (logarithms.empty()) return ratio;
  const double middle = mean(logarithms);
  ratio.ratio = ratio.low = ratio.high = std::exp(middle);
  if (logarithms.size() < 2) return ratio;
  const double error =
      standard_deviation(logarithms) / std::sqrt(static_cast<double>(logarithms.size()));
  ratio.low = std::exp(middle - error);
  ratio.high = std::exp(middle + error);
  if (error > no_spread)
    ratio.chance = student_p_value(middle / error, static_cast<int>(logarithms.size()) - 1);
  else if (std::abs(middle) <= no_spread)
    ratio.chance = 1;  // they are the same
  return ratio;
}

std::vector<double> corrected_for_many(std::vector<double> chances) {
  std::vector<std::size_t> order(chances.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return chances[a] < chances[b]; });
  double largest = 0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    double& chance = chances[order[k]];
    largest = std::max(largest, std::min(1.0, chance * static_cast<double>(order.size() - k)));
    chance = largest;
  }
  return chances;
}

SimulatedSummary summary(const LearningCurve& curve, double bar) {
  SimulatedSummary found;
  double points = 0;
  for (const LearningCurve::Point& point : curve.points) {
    if (!found.until_bar_s && point.typical <= bar) found.until_bar_s = point.time_s;
    if (!in_last_quarter(curve, point)) continue;
    found.of_a_rank += point.typical;
    found.of_mean += root_mean_square(point.mean);
    ++points;
  }
  found.of_a_rank /= std::max(1.0, points);
  found.of_mean /= std::max(1.0, points);
  const LearningCurve::Point& last = curve.points.back();
  if (last.epoch > 0) found.epoch_s = last.last_s / static_cast<double>(last.epoch);
  return found;
}

std::string simulated_table(const std::vector<SimulatedVariant>& variants) {
  std::string all;
  for (const auto& [ranks, of_ranks] : by_ranks(variants))
    if (!trained(of_ranks).empty()) all += table_of(ranks, of_ranks) + "\n";
  if (all.empty()) return all;
  return all +
         "of a rank, of the mean: residual, rms of (true - recovered) / true of the last quarter "
         "of "
         "the epochs\n"
         "±, and ( .. ) around a ratio: one standard error over seeds\n"
         "to the bar: when a rank's residual has first been at most the bar; (2 of 3): of the "
         "seeds "
         "that came there\n"
         "verdict: t-test of the logarithm's paired differences over seeds, Holm's correction, 5 "
         "%\n"
         "consensus: mean squared distance of the ranks' weights from their mean, first seed\n"
         "age: of what was read one-sidedly, in epochs, first seed\n";
}

void write_simulated_csv(const std::string& path, const std::vector<SimulatedVariant>& variants) {
  std::string content =
      "exchange,ranks,seed,epoch,time_s,last_s,of_a_rank,of_mean,first,consensus_distance\n";
  for (const SimulatedVariant& variant : variants)
    for (std::size_t i = 0; i < variant.curves.size(); ++i)
      for (const LearningCurve::Point& point : variant.curves[i].points)
        content +=
            core::csv_line(variant.label, variant.ranks, variant.seeds[i], point.epoch,
                           point.time_s, point.last_s, point.typical, root_mean_square(point.mean),
                           root_mean_square(point.first), point.consensus_distance);
  core::write_file(path, content);
}

Figure simulated_over_time(const std::vector<SimulatedVariant>& variants) {
  constexpr std::array colours{Colour::black,  Colour::blue,   Colour::vermillion, Colour::green,
                               Colour::purple, Colour::orange, Colour::sky};
  Figure figure{.width = 1000, .height = 0};
  for (const auto& [ranks, shown] : by_ranks(variants)) {
    if (trained(shown).empty()) continue;
    Panel panel{.title = text(ranks, " ranks"),
                .x = {.label = "simulated time [s]"},
                .y = {.label = "residual of a rank [%]", .logarithmic = true}};
    for (std::size_t v = 0; v < shown.size(); ++v) {
      if (shown[v]->curves.empty()) continue;
      const LearningCurve& first = shown[v]->curves.front();
      Series line{.label = shown[v]->label, .colour = colours[v % colours.size()]};
      if (v >= colours.size()) line.style = Series::Style::dashed;
      for (std::size_t k = 0; k < first.points.size(); ++k) {
        double time = 0, logarithm = 0;
        for (const LearningCurve& curve : shown[v]->curves) {
          time += curve.points[k].time_s;
          logarithm += std::log(100 * curve.points[k].typical);
        }
        const auto seeds = static_cast<double>(shown[v]->curves.size());
        line.x.push_back(time / seeds);
        line.y.push_back(std::exp(logarithm / seeds));
      }
      panel.series.push_back(std::move(line));
    }
    figure.panels.push_back(std::move(panel));
    figure.height += 450;
  }
  return figure;
}

}  // namespace sagips::analysis

#include "sagips/analysis/figures/learning.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "sagips/analysis/drawing/layout.hpp"
#include "sagips/analysis/figures/correlations.hpp"
#include "sagips/analysis/figures/observable.hpp"
#include "sagips/analysis/figures/time_axis.hpp"
#include "sagips/analysis/histogram.hpp"
#include "sagips/analysis/lookup.hpp"
#include "sagips/analysis/statistics.hpp"
#include "sagips/core/text.hpp"

namespace sagips::analysis {
namespace {

constexpr const char* kept_aside = "rows kept aside";
constexpr std::size_t bins = 40;
constexpr int points_of_chance = 40;
constexpr double widths_shown = 4;  // of a histogram of residuals, on both sides

std::string readable(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

Panel& panel_of(std::vector<Panel>& panels, const std::string& name) {
  for (Panel& panel : panels)
    if (panel.y.label == name) return panel;
  panels.push_back({.x = {.label = "epoch", .whole = true}, .y = {.label = name}});
  return panels.back();
}

Series& series_of(Panel& panel, const std::string& label, Colour colour) {
  for (Series& series : panel.series)
    if (series.label == label) return series;
  panel.series.push_back({.label = label, .colour = colour});
  return panel.series.back();
}

void add_point(std::vector<Panel>& panels, const record::NamedNumber& number,
               const std::string& label, Colour colour, std::int64_t epoch) {
  const auto slash = number.name.find('/');  // before the name of a class or target
  Panel& panel = panel_of(panels, readable(number.name.substr(0, slash)));
  Series& series = slash == std::string::npos
                       ? series_of(panel, label, colour)
                       : series_of(panel, number.name.substr(slash + 1), Colour::automatic);
  if (std::isfinite(number.value)) series.add(static_cast<double>(epoch), number.value);
}

// Smaller is better, over decades.
bool is_loss(const Panel& panel) {
  return panel.y.label.find("loss") != std::string::npos ||
         panel.y.label.find("error") != std::string::npos;
}

// More curves than colours: the worst at the end by name, the others in grey below them.
void name_worst(Panel& panel) {
  std::vector<Series>& all = panel.series;
  std::stable_sort(all.begin(), all.end(), [&](const Series& a, const Series& b) {
    return is_loss(panel) ? a.y.back() < b.y.back() : a.y.back() > b.y.back();
  });
  const std::size_t others = all.size() - (curve_colours - 1);  // the last colour is grey
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].colour = i < others ? Colour::grey : colour_of(all.size() - 1 - i);
    if (i < others) all[i].label = i > 0 ? "" : core::text("the other ", others);
  }
}

std::vector<Panel> finished(std::vector<Panel> panels) {
  for (Panel& panel : panels) {
    bool all_positive = true;
    for (Series& series : panel.series) {
      if (series.x.size() == 1) series.style = Series::Style::points;
      for (const double value : series.y) all_positive = all_positive && value > 0;
    }
    panel.y.logarithmic = is_loss(panel) && all_positive;
    const bool is_by_name = panel.series.front().colour == Colour::automatic;
    for (std::size_t i = 0; is_by_name && i < panel.series.size(); ++i)
      panel.series[i].colour = colour_of(i);  // also of one that has no number: its place is kept
    std::erase_if(panel.series, [](const Series& one) { return one.x.empty(); });
    if (is_by_name && panel.series.size() > curve_colours) name_worst(panel);
  }
  std::erase_if(panels, [](const Panel& panel) { return panel.series.empty(); });
  return panels;
}

// What there is to show of a run: the state before learning would set the scale, and the last one may have
// been told twice.
std::vector<const record::Evaluated*> evaluations_of(const std::vector<record::Event>& metrics) {
  auto all = events_of<record::Evaluated>(metrics);
  if (all.size() > 1) std::erase_if(all, [](const auto* one) { return one->epoch == 0; });
  const auto same = [](const auto* a, const auto* b) { return a->epoch == b->epoch; };
  all.erase(std::unique(all.begin(), all.end(), same), all.end());
  return all;
}

Figure in_panels(std::vector<Panel> panels) {
  Figure figure{.panels = std::move(panels)};
  arrange_in_rows(figure, 60);
  return figure;
}

// A point on the curve of the rows kept aside.
void mark_epoch(Panel& panel, std::int64_t epoch) {
  for (const Series& series : std::vector<Series>(panel.series))
    if (series.label == kept_aside)
      for (std::size_t i = 0; i < series.x.size(); ++i)
        if (series.x[i] == static_cast<double>(epoch))
          panel.series.push_back({.label = core::text("best, epoch ", epoch),
                                  .style = Series::Style::points,
                                  .x = {series.x[i]},
                                  .y = {series.y[i]},
                                  .colour = Colour::black});
}

}  // namespace

Figure learning_curves(const std::vector<record::Event>& metrics, std::int64_t best) {
  std::vector<Panel> panels;
  const auto epochs = events_of<record::EpochDone>(metrics);
  for (const auto* epoch : epochs)
    for (const record::NamedNumber& loss : epoch->losses)
      add_point(panels, loss, "batches", Colour::blue, epoch->epoch);
  for (const auto* evaluated : evaluations_of(metrics))
    for (const record::NamedNumber& metric : evaluated->metrics)
      add_point(panels, metric, kept_aside, Colour::vermillion, evaluated->epoch);
  for (const auto* epoch : epochs)
    for (const record::NamedNumber& rate : epoch->learning_rates)
      add_point(panels, {"learning_rate/" + rate.name, rate.value}, "", Colour::blue, epoch->epoch);
  panels = finished(std::move(panels));
  if (panels.empty()) return {.panels = {{.title = "no evaluation in this run"}}};
  for (Panel& panel : panels) mark_epoch(panel, best);
  return in_panels(std::move(panels));
}

namespace {

// Over the members that all have reached an epoch.
void add_spread(Panel& panel, std::size_t members) {
  std::map<double, std::vector<double>> values;
  for (const Series& series : panel.series)
    for (std::size_t i = 0; i < series.x.size(); ++i) values[series.x[i]].push_back(series.y[i]);
  Series middle{.label = "mean", .colour = Colour::black};
  Series band{.label = "± deviation", .style = Series::Style::band, .colour = Colour::grey};
  for (const auto& [epoch, all] : values) {
    if (all.size() < std::max<std::size_t>(2, members)) continue;
    const double deviation = standard_deviation(all);
    middle.add(epoch, mean(all));
    band.add_ends(middle.y.back() - deviation, middle.y.back() + deviation);
  }
  band.x = middle.x;
  if (middle.x.size() == 1) middle.style = Series::Style::points;
  if (middle.x.empty()) return;
  panel.series.push_back(std::move(band));
  panel.series.push_back(std::move(middle));
}

}  // namespace

Figure member_curves(const std::vector<RunLearningCurve>& members) {
  std::vector<std::string> variants;
  for (const RunLearningCurve& member : members)
    if (std::find(variants.begin(), variants.end(), member.variant) == variants.end())
      variants.push_back(member.variant);
  const bool is_one = variants.size() == 1,
             has_colours = (is_one ? members.size() : variants.size()) < curve_colours;
  std::vector<Panel> panels;
  for (std::size_t i = 0; i < members.size(); ++i)
    for (const auto* evaluated : evaluations_of(members[i].metrics))
      for (const record::NamedNumber& metric : evaluated->metrics)
        if (metric.name.find('/') == std::string::npos)
          add_point(panels, metric, core::text(i), Colour::grey, evaluated->epoch);
  panels = finished(std::move(panels));
  for (Panel& panel : panels) {
    std::set<std::string> named;
    const std::size_t count = panel.series.size();
    for (Series& series : panel.series) {
      const auto i = static_cast<std::size_t>(std::stoul(series.label));
      const auto variant = static_cast<std::size_t>(
          std::find(variants.begin(), variants.end(), members[i].variant) - variants.begin());
      series.label = !is_one ? members[i].variant : has_colours ? members[i].name : "members";
      if (has_colours) series.colour = colour_of(is_one ? i : variant);
      if (!named.insert(series.label).second || (!is_one && !has_colours)) series.label.clear();
    }
    if (is_one) add_spread(panel, count);
  }
  if (panels.empty()) return {.panels = {{.title = "no evaluation of any of them"}}};
  return in_panels(std::move(panels));
}

Figure confusion_matrix(const std::vector<double>& counts,
                        const std::vector<std::string>& classes) {
  const std::size_t count = classes.size();
  Figure figure = matrix_squares("", classes, counts);
  Panel& panel = figure.panels.front();
  Series& squares = panel.series.front();
  double cell = count > 8 ? 46 : 70, beside = 0;  // pixels
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const auto row = counts.begin() + static_cast<std::ptrdiff_t>(i / count * count);
    const double all = std::accumulate(row, row + static_cast<std::ptrdiff_t>(count), 0.0);
    squares.values[i] = all > 0 ? counts[i] / all : 0;
    squares.texts.push_back(counts[i] == std::round(counts[i]) ? core::fixed(counts[i], 0)
                                                               : core::significant(counts[i], 3));
    cell = std::max(cell, drawing::text_width(squares.texts.back()) + 8);
  }
  for (const std::string& name : classes) beside = std::max(beside, drawing::text_width(name));
  panel.x.label = "predicted class";
  panel.y.label = "true class";
  figure.width = figure.height =
      std::max(400, static_cast<int>(100 + beside + cell * static_cast<double>(count)));
  return figure;
}

Figure roc_curves(const std::vector<RocCurve>& curves) {
  double lowest = 1;
  for (const RocCurve& curve : curves)
    for (const double wrong : curve.wrong)
      if (wrong > 0) lowest = std::min(lowest, wrong);
  lowest = std::min(0.1, std::pow(10, std::floor(std::log10(lowest) + 1e-9)));
  const std::size_t panels = (curves.size() + curve_colours - 1) / curve_colours;
  Figure figure;
  for (std::size_t i = 0; i < panels; ++i) {
    const std::size_t end = (i + 1) * curves.size() / panels;
    Panel panel{
        .x = {.label = "false positive rate", .logarithmic = true, .lowest = lowest, .highest = 1},
        .y = {.label = "true positive rate", .lowest = 0, .highest = 1}};
    for (std::size_t k = i * curves.size() / panels; k < end; ++k) {
      Series line{.label = core::text(curves[k].label, ", AUC ", core::fixed(curves[k].area, 4)),
                  .colour = colour_of(panel.series.size())};
      const std::vector<double>& wrong = curves[k].wrong;
      for (std::size_t j = 0; j < wrong.size(); ++j)
        if (j + 1 == wrong.size() || wrong[j + 1] > 0)
          line.add(std::max(lowest, wrong[j]), curves[k].found[j]);
      panel.series.push_back(std::move(line));
    }
    Series chance = dashed_line("", Colour::grey, {}, {});
    for (int j = 0; j <= points_of_chance; ++j)
      chance.add(std::pow(lowest, 1.0 * j / points_of_chance),
                 std::pow(lowest, 1.0 * j / points_of_chance));
    panel.series.push_back(std::move(chance));
    figure.panels.push_back(std::move(panel));
  }
  if (panels == 0) return {.panels = {{.title = "rows of one class alone"}}};
  figure.columns = static_cast<int>(panels);
  figure.width = 80 + 560 * figure.columns;
  figure.height = 600;
  return figure;
}

Figure regression_residuals(const std::vector<Regression>& outputs) {
  std::vector<Panel> panels;
  for (const Regression& output : outputs) {
    std::vector<double> residuals;
    for (std::size_t i = 0; i < output.found.size(); ++i)
      residuals.push_back(output.found[i] - output.wanted[i]);
    const double middle = mean(residuals), width = standard_deviation(residuals);
    Panel panel{.title = core::text(output.label, ": ", core::significant(middle, 2), " ± ",
                                    core::significant(width, 2)),
                .x = {.label = "found − true"},
                .y = {.label = "rows", .lowest = 0}};
    if (width > 0) {
      Histogram histogram(middle - widths_shown * width, middle + widths_shown * width, bins);
      histogram.fill(residuals);
      panel.series.push_back(outline(histogram, "", Colour::blue));
    } else {
      panel.title += " (all alike)";
    }
    panels.push_back(std::move(panel));
  }
  return in_panels(std::move(panels));
}

Figure predicted_against_true(const std::vector<Regression>& outputs, std::int64_t most) {
  std::vector<Panel> panels;
  for (const Regression& output : outputs) {
    Series points{.style = Series::Style::points, .colour = Colour::blue};
    const std::size_t count = std::min(output.found.size(), static_cast<std::size_t>(most));
    for (std::size_t i = 0; i < count; ++i) points.add(output.wanted[i], output.found[i]);
    const auto [low, high] = std::minmax_element(points.x.begin(), points.x.end());
    Panel panel{.title = output.label, .x = {.label = "true"}, .y = {.label = "found"}};
    const std::vector<double> ends{*low, *high};
    panel.series.push_back(std::move(points));
    panel.series.push_back(dashed_line("", Colour::grey, ends, ends));
    panels.push_back(std::move(panel));
  }
  return in_panels(std::move(panels));
}

}  // namespace sagips::analysis

#include "sagips/analysis/figures/scaling.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <initializer_list>
#include <map>
#include <numeric>
#include <set>

#include "sagips/analysis/figures/time_axis.hpp"
#include "sagips/core/text.hpp"

namespace sagips::analysis {
namespace {

using Style = Series::Style;
using Number = std::optional<double>;
using NumberOf = std::function<Number(const ScalingRow&)>;

std::string series_name(const ScalingRow& row) {
  return row.study.empty() ? row.series : core::text(row.study, ": ", row.series);
}

/// The series of several ranks by their names, in the order of the rows. One rank belongs to all of a study.
std::vector<std::string> names_of(const std::vector<ScalingRow>& rows) {
  std::vector<std::string> names;
  for (const ScalingRow& row : rows)
    if (row.ranks > 1 && !row.series.empty() &&
        std::find(names.begin(), names.end(), series_name(row)) == names.end())
      names.push_back(series_name(row));
  return names;
}

std::vector<const ScalingRow*> points_of(const std::vector<ScalingRow>& rows,
                                         const std::string& name, bool simulated) {
  std::vector<const ScalingRow*> points;
  const auto place = name.rfind(": ");
  const std::string study = place == std::string::npos ? "" : name.substr(0, place);
  for (const ScalingRow& row : rows)
    if (row.simulated == simulated &&
        ((row.ranks > 1 && series_name(row) == name) || (row.is_one_rank() && row.study == study)))
      points.push_back(&row);
  std::stable_sort(points.begin(), points.end(),
                   [](const auto* a, const auto* b) { return a->ranks < b->ranks; });
  return points;
}

std::vector<double> all_ranks(const std::vector<ScalingRow>& rows) {
  std::set<double> ranks;
  for (const ScalingRow& row : rows)
    if (!row.series.empty()) ranks.insert(static_cast<double>(row.ranks));
  return {ranks.begin(), ranks.end()};
}

Axis ranks_axis(std::vector<double> marks) {
  Axis axis{.label = "ranks", .logarithmic = true, .marks = std::move(marks)};
  if (axis.marks.size() == 1) axis.lowest = axis.marks[0] / 2, axis.highest = axis.marks[0] * 2;
  return axis;
}

/// Points and, where all of them have a deviation or are what others are relative to, bars.
class PointsWithBars {
 public:
  explicit PointsWithBars(Series points) : points_(std::move(points)) {}
  void add(double x, double y, const Number& deviation, bool is_reference) {
    points_.add(x, y);
    points_.add_ends(y - deviation.value_or(0), y + deviation.value_or(0));
    has_bars_ = has_bars_ && (deviation || is_reference);
  }
  Series series() && {
    if (!has_bars_) points_.y_low.clear(), points_.y_high.clear();
    return std::move(points_);
  }

 private:
  Series points_;
  bool has_bars_ = true;
};

/// A line and its points, measured ones filled and simulated ones as circles on a dashed line.
void add_series(Panel& panel, const std::vector<ScalingRow>& rows, const NumberOf& number,
                const NumberOf& deviation) {
  const std::vector<std::string> names = names_of(rows);
  for (std::size_t i = 0; i < names.size(); ++i)
    for (const bool simulated : {false, true}) {
      const Colour colour = colour_of(i);
      PointsWithBars found({.label = simulated ? names[i] + ", simulated" : names[i],
                            .style = Style::points,
                            .colour = colour,
                            .mark = simulated ? Series::Mark::circle : Series::Mark::disc});
      for (const ScalingRow* row : points_of(rows, names[i], simulated))
        if (const Number y = number(*row))
          found.add(static_cast<double>(row->ranks), *y, deviation(*row), row->ranks == 1);
      Series points = std::move(found).series();
      if (points.x.empty() || (points.x.size() == 1 && points.x[0] == 1)) continue;
      panel.series.push_back({.style = simulated ? Style::dashed : Style::line,
                              .x = points.x,
                              .y = points.y,
                              .colour = colour});
      panel.series.push_back(std::move(points));
    }
}

/// height: efficiency, ranks -> number shown
template <class Height>
void add_published(Panel& panel, const std::vector<PublishedScaling>& published, std::size_t used,
                   const Height& height) {
  for (std::size_t i = 0; i < published.size(); ++i) {
    Series points{.label = published[i].label,
                  .style = Style::points,
                  .colour = colour_of(used + i),
                  .mark = Series::Mark::triangle};
    for (std::size_t k = 0; k < published[i].ranks.size(); ++k)
      points.add(published[i].ranks[k], height(published[i].efficiency[k], published[i].ranks[k]));
    panel.series.push_back(std::move(points));
  }
}

/// Batches of one rank with one rule of the learning rate, rising, that of the config among them.
Series points_of_rule(const std::vector<ScalingRow>& rows, const std::string& rule,
                      const ScalingRow* one, const NumberOf& number, const NumberOf& deviation) {
  std::map<double, const ScalingRow*> found;
  for (const ScalingRow& row : rows)
    if (&row == one || (row.study.empty() && row.series.empty() && row.rates == rule))
      if (number(row)) found[static_cast<double>(row.batch)] = &row;
  PointsWithBars points({.style = Style::points});
  for (const auto& [batch, row] : found)
    points.add(batch, *number(*row), deviation(*row), row == one);
  return std::move(points).series();
}

Number none(const ScalingRow&) { return std::nullopt; }

Number percent_of(const Number& share) { return share ? Number(100 * *share) : std::nullopt; }

}  // namespace

Figure speed_up_over_ranks(const std::vector<ScalingRow>& rows,
                           const std::vector<PublishedScaling>& published) {
  std::vector<double> marks = all_ranks(rows);
  for (const PublishedScaling& curve : published)
    marks.insert(marks.end(), curve.ranks.begin(), curve.ranks.end());
  std::sort(marks.begin(), marks.end());
  marks.erase(std::unique(marks.begin(), marks.end()), marks.end());
  const double most = marks.empty() ? 1 : marks.back();
  const std::size_t used = names_of(rows).size();
  Panel speed{.x = ranks_axis(marks), .y = {.label = "speed-up", .logarithmic = true}};
  speed.series.push_back(dashed_line("ideal", Colour::grey, {1, most}, {1, most}));
  add_series(
      speed, rows, [](const ScalingRow& row) { return row.speed_up; },
      [](const ScalingRow& row) { return row.speed_up_deviation; });
  add_published(speed, published, used,
                [](double efficiency, double ranks) { return efficiency * ranks; });
  Panel efficiency{.x = ranks_axis(marks), .y = {.label = "efficiency [%]", .lowest = 0}};
  efficiency.series.push_back(dashed_line("ideal", Colour::grey, {1, most}, {100, 100}));
  add_series(
      efficiency, rows, [](const ScalingRow& row) { return percent_of(row.efficiency); },
      [](const ScalingRow& row) -> Number {
        if (!row.speed_up_deviation) return std::nullopt;
        return 100 * *row.speed_up_deviation / static_cast<double>(row.ranks);
      });
  add_published(efficiency, published, used, [](double share, double) { return 100 * share; });
  return {.panels = {std::move(speed), std::move(efficiency)},
          .columns = 2,
          .width = 1300,
          .height = 600};
}

Figure time_over_ranks(const std::vector<ScalingRow>& rows) {
  Panel panel{.x = ranks_axis(all_ranks(rows)), .y = {.label = "training time [s]", .lowest = 0}};
  add_series(
      panel, rows, [](const ScalingRow& row) { return row.time_s; },
      [](const ScalingRow& row) { return row.time_s_deviation; });
  return {.panels = {std::move(panel)}, .width = 800, .height = 520};
}

Figure rate_over_ranks(const std::vector<ScalingRow>& rows) {
  Panel panel{.x = ranks_axis(all_ranks(rows)),
              .y = {.label = "analysis rate [events/s]", .logarithmic = true}};
  add_series(
      panel, rows, [](const ScalingRow& row) { return row.events_per_second; },
      [](const ScalingRow& row) { return row.events_per_second_deviation; });
  for (const ScalingRow& one : rows)
    if (one.is_one_rank() && one.study.empty() && one.events_per_second) {
      const double most = panel.x.marks.back(), rate = *one.events_per_second;
      panel.series.push_back(dashed_line("ideal: as many times the rate as ranks", Colour::grey,
                                         {1, most}, {rate, rate * most}));
    }
  return {.panels = {std::move(panel)}, .width = 800, .height = 520};
}

Figure time_split(const std::vector<ScalingRow>& rows) {
  constexpr std::array colours{Colour::sky,    Colour::vermillion, Colour::grey,
                               Colour::orange, Colour::green,      Colour::purple};
  static_assert(colours.size() == time_part_names.size());
  std::vector<const ScalingRow*> shown;
  for (const ScalingRow& row : rows)
    if (!row.series.empty() && row.parts_s) shown.push_back(&row);
  Panel panel{.x = {.label = "share of an epoch [%]", .lowest = 0, .highest = 100},
              .y = {.lowest = -0.6, .highest = static_cast<double>(shown.size()) - 0.4}};
  std::reverse(shown.begin(), shown.end());  // the first one on top
  std::vector<double> ends(shown.size(), 0.0);
  for (const ScalingRow* row : shown)
    panel.y.names.push_back(core::text(row->study.empty() ? "" : row->study + ": ", row->variant,
                                       row->simulated ? ", simulated" : ""));
  for (std::size_t part = 0; part < time_part_names.size(); ++part) {
    Series bars{.label = time_part_names[part], .style = Style::segments, .colour = colours[part]};
    for (std::size_t i = 0; i < shown.size(); ++i) {
      const TimeParts& parts = *shown[i]->parts_s;
      const double share = 100 * parts[part] / std::accumulate(parts.begin(), parts.end(), 0.0);
      bars.add(ends[i] + share, static_cast<double>(i));
      bars.add_ends(ends[i], ends[i] + share);
      ends[i] += share;
    }
    const auto same = [&](std::size_t i) { return bars.y_low[i] == bars.y_high[i]; };
    bool is_empty = true;
    for (std::size_t i = 0; i < shown.size(); ++i) is_empty = is_empty && same(i);
    if (!is_empty) panel.series.push_back(std::move(bars));
  }
  if (shown.empty()) return {.panels = {{.title = "no training says where its time went"}}};
  const int height = 170 + 34 * static_cast<int>(shown.size());
  return {.panels = {std::move(panel)}, .width = 1000, .height = height};
}

Figure step_times(const std::vector<ScalingRow>& rows) {
  const auto milliseconds = [](const Number& seconds) {
    return seconds ? Number(1e3 * *seconds) : std::nullopt;
  };
  // in per cent of an epoch
  const auto share = [](const ScalingRow& row, std::initializer_list<std::size_t> parts) -> Number {
    if (!row.parts_s) return std::nullopt;
    double some = 0;
    for (const std::size_t part : parts) some += (*row.parts_s)[part];
    return 100 * some / std::accumulate(row.parts_s->begin(), row.parts_s->end(), 0.0);
  };
  Figure figure{.columns = 2, .width = 1300, .height = 950};
  const auto add_panel = [&](const std::string& title, const std::string& label,
                             const NumberOf& number, const NumberOf& deviation) {
    Panel panel{
        .title = title, .x = ranks_axis(all_ranks(rows)), .y = {.label = label, .lowest = 0}};
    add_series(panel, rows, number, deviation);
    figure.panels.push_back(std::move(panel));
  };
  add_panel(
      "a step: mean, with its standard deviation", "[ms]",
      [&](const ScalingRow& row) { return milliseconds(row.step_s); },
      [&](const ScalingRow& row) { return milliseconds(row.step_s_spread); });
  add_panel(
      "the longest step", "[ms]",
      [&](const ScalingRow& row) { return milliseconds(row.step_s_maximum); }, none);
  add_panel(
      "exchange and idle in a step", "[ms]",
      [&](const ScalingRow& row) -> Number {
        const Number waits = share(row, {1, 2});
        if (!waits || !row.step_s) return std::nullopt;
        return 1e3 * *row.step_s * *waits / 100;
      },
      none);
  add_panel(
      "share of the time that a rank computes", "[%]",
      [&](const ScalingRow& row) { return share(row, {0}); }, none);
  return figure;
}

Figure metric_curves(const std::vector<MetricCurve>& curves, const ScalingWords& words) {
  if (curves.empty()) return {.panels = {{.title = "no evaluation of any training"}}};
  double longest = 0, lowest = 1;
  for (const MetricCurve& curve : curves) {
    longest = std::max(longest, curve.time_s.back());
    lowest = std::min(lowest, *std::min_element(curve.metric.begin(), curve.metric.end()));
  }
  const TimeUnit unit = time_unit(longest);
  Figure figure{.columns = 2, .keeps_columns = true, .width = 1300, .height = 560};
  const auto add_panel = [&](bool of_batches, bool over_time) {
    Panel panel{.title = of_batches ? "batches of one rank" : "ranks",
                .x = {.label = over_time ? unit.label() : "epoch", .whole = !over_time},
                .y = {.label = words.metric, .logarithmic = !words.higher_is_better && lowest > 0}};
    for (const MetricCurve& curve : curves) {
      if (curve.of_batches != of_batches && &curve != &curves.front()) continue;
      const std::size_t used = panel.series.size();
      Series line{.label = over_time ? curve.label : "",  // the same colours beside it
                  .style = used < curve_colours ? Style::line : Style::dashed,
                  .x = over_time ? curve.time_s : curve.epochs,
                  .y = curve.metric,
                  .colour = colour_of(used)};
      for (double& x : line.x) x /= over_time ? unit.seconds : 1;
      if (line.x.size() == 1) line.style = Style::points;
      panel.series.push_back(std::move(line));
    }
    if (words.target) panel.horizontal_lines.push_back(*words.target);
    figure.panels.push_back(std::move(panel));
  };
  for (const bool of_batches : {false, true}) {
    if (of_batches && !curves.back().of_batches) break;
    for (const bool over_time : {true, false}) add_panel(of_batches, over_time);
  }
  if (figure.panels.size() > 2) figure.height = 1050;
  return figure;
}

Figure batch_study(const std::vector<ScalingRow>& rows, const ScalingWords& words) {
  std::vector<std::string> rules;
  std::set<double> batches;
  const ScalingRow* one = nullptr;
  for (const ScalingRow& row : rows) {
    if (!row.study.empty()) continue;
    if (row.is_one_rank()) one = &row;
    if (!row.series.empty()) continue;
    batches.insert(static_cast<double>(row.batch));
    if (std::find(rules.begin(), rules.end(), row.rates) == rules.end()) rules.push_back(row.rates);
  }
  if (one) batches.insert(static_cast<double>(one->batch));
  Figure figure{
      .columns = words.target ? 3 : 2, .width = words.target ? 1500 : 1200, .height = 520};
  const auto add_panel = [&](const std::string& label, const NumberOf& number,
                             const NumberOf& deviation) {
    Panel panel{
        .x = {.label = "batch", .logarithmic = true, .marks = {batches.begin(), batches.end()}},
        .y = {.label = label}};
    for (std::size_t i = 0; i < rules.size(); ++i) {
      Series points = points_of_rule(rows, rules[i], one, number, deviation);
      points.colour = colour_of(i);
      panel.series.push_back({.label = core::text("rate: ", rules[i]),
                              .x = points.x,
                              .y = points.y,
                              .colour = points.colour});
      panel.series.push_back(std::move(points));
    }
    figure.panels.push_back(std::move(panel));
  };
  add_panel(
      "times as fast as the config's batch", [](const ScalingRow& row) { return row.speed_up; },
      [](const ScalingRow& row) { return row.speed_up_deviation; });
  add_panel(
      words.metric + " at the end", [](const ScalingRow& row) { return row.metric; },
      [](const ScalingRow& row) { return row.metric_deviation; });
  figure.panels.back().y.logarithmic =
      !words.higher_is_better && std::none_of(rows.begin(), rows.end(), [](const ScalingRow& row) {
        return row.metric && *row.metric <= 0;
      });
  if (words.target)
    add_panel(
        core::text("time to ", words.metric, " ", *words.target, " [s]"),
        [](const ScalingRow& row) { return row.target_s; }, none);
  return figure;
}

Figure cost_over_ranks(const std::vector<ScalingRow>& rows) {
  Figure figure{.columns = 2, .width = 1300, .height = 520};
  const auto add_panel = [&](const std::string& label, const NumberOf& number) {
    if (std::none_of(rows.begin(), rows.end(), number)) return;
    Panel panel{.x = ranks_axis(all_ranks(rows)), .y = {.label = label, .lowest = 0}};
    add_series(panel, rows, number, none);
    figure.panels.push_back(std::move(panel));
  };
  add_panel("cost of a training", [](const ScalingRow& row) { return row.cost; });
  add_panel("energy of a training [Wh]", [](const ScalingRow& row) { return row.energy_Wh; });
  if (figure.panels.size() < 2) figure.columns = 1, figure.width = 800;
  return figure;
}

}  // namespace sagips::analysis

#include "sagips/analysis/figures/simulation.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>

#include "sagips/analysis/figures/time_axis.hpp"
#include "sagips/core/text.hpp"

namespace sagips::analysis {
namespace {

using Family = SimulatedExchange::Family;
using Point = SimulatedExchange::Point;
using Style = Series::Style;

constexpr double bar = 0.2;  // beyond which a prediction is flagged

/// A number of a point; not positive: there is none.
using PointNumber = std::function<double(const Point&)>;

const char* title_of(Family family) {
  switch (family) {
    case Family::tensor_by_tensor:
      return "tensor by tensor, as the paper";
    case Family::exact:
      return "one array, exact mean";
    case Family::loose:
      return "one array, no exact mean";
    case Family::late:
      break;
  }
  return "one array, exact mean, one update late";
}

std::vector<double> all_ranks(const SimulatedTraining& training) {
  std::set<double> ranks;
  for (const SimulatedExchange& one : training.exchanges)
    for (const Point& point : one.points) ranks.insert(point.ranks);
  return {ranks.begin(), ranks.end()};
}

Axis ranks_axis(const SimulatedTraining& training) {
  Axis axis{.label = "ranks", .logarithmic = true, .marks = all_ranks(training)};
  // gnuplot's round numbers need room on both sides
  if (axis.marks.size() == 1) axis.lowest = axis.marks[0] / 2, axis.highest = axis.marks[0] * 2;
  return axis;
}

Axis with_nodes(Axis axis, const SimulatedTraining& training) {
  for (const double ranks : axis.marks)
    axis.above.push_back(
        core::text(std::ceil(ranks / static_cast<double>(training.ranks_per_node))));
  axis.above_label = "nodes";
  return axis;
}

/// The line of an exchange, and its points; nothing without a number.
void add_exchange(Panel& panel, const SimulatedExchange& one, Colour colour,
                  const PointNumber& number) {
  Series line{.label = one.label, .colour = colour};
  for (const Point& point : one.points)
    if (const double y = number(point); y > 0) line.add(point.ranks, y);
  if (line.x.empty()) return;
  Series points{.style = Style::points, .x = line.x, .y = line.y, .colour = colour};
  if (line.x.size() == 1)
    std::swap(line.label, points.label);  // a line of one point is none
  else
    panel.series.push_back(std::move(line));
  panel.series.push_back(std::move(points));
}

/// A panel a family, in two columns. finish: adds what all panels show
template <class Finish>
Figure family_panels(const SimulatedTraining& training, const Axis& x, const Axis& y,
                     const PointNumber& number, const Finish& finish) {
  Figure figure{.title = training.conditions, .columns = 2, .width = 1400};
  for (const Family family :
       {Family::tensor_by_tensor, Family::exact, Family::loose, Family::late}) {
    Panel panel{.title = title_of(family), .x = x, .y = y};
    std::size_t used = 0;
    for (const SimulatedExchange& one : training.exchanges)
      if (one.family == family) add_exchange(panel, one, colour_of(used++), number);
    if (panel.series.empty()) continue;
    finish(panel);
    figure.panels.push_back(std::move(panel));
  }
  if (figure.panels.empty()) figure.panels.push_back({.title = "nothing was simulated"});
  figure.columns = figure.panels.size() == 1 ? 1 : 2;
  figure.height = figure.panels.size() > 2 ? 1150 : 620;
  return figure;
}

/// The highest number of all, so that panels share their scale.
double highest(const SimulatedTraining& training, const PointNumber& number) {
  double most = 0;
  for (const SimulatedExchange& one : training.exchanges)
    for (const Point& point : one.points) most = std::max(most, number(point));
  return most;
}

/// The paper's lines. height: ranks, seconds of an epoch -> number shown
template <class Height>
void add_published(Panel& panel, const std::vector<PublishedLine>& lines, const Height& height) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    Series series{.label = lines[i].label,
                  .style = Style::dashed,
                  .colour = i == 0 ? Colour::grey : Colour::black};
    for (std::size_t k = 0; k < lines[i].ranks.size(); ++k)
      series.add(lines[i].ranks[k], height(lines[i].ranks[k], lines[i].epoch_s[k]));
    panel.series.push_back(std::move(series));
  }
}

}  // namespace

Figure simulated_time_over_ranks(const SimulatedTraining& training) {
  const PointNumber seconds = [&](const Point& point) { return point.epoch_s * training.epochs; };
  const TimeUnit unit = time_unit(highest(training, seconds));
  const PointNumber number = [&](const Point& point) { return seconds(point) / unit.seconds; };
  const Axis y{
      .label = core::text("training time of ", core::with_thousands(std::llround(training.epochs)),
                          " epochs [", unit.name, "]"),
      .lowest = 0};
  return family_panels(training, with_nodes(ranks_axis(training), training), y, number,
                       [&](Panel& panel) {
                         add_published(panel, training.published, [&](double, double epoch_s) {
                           return epoch_s * training.epochs / unit.seconds;
                         });
                       });
}

Figure simulated_rate_over_ranks(const SimulatedTraining& training) {
  const PointNumber rate = [](const Point& point) {
    return point.epoch_s > 0 ? point.events / point.epoch_s : 0;
  };
  // events of all ranks at a number of ranks are the same for every exchange
  const auto events_at = [&](double ranks) {
    for (const SimulatedExchange& one : training.exchanges)
      for (const Point& point : one.points)
        if (point.ranks == ranks) return point.events;
    return std::numeric_limits<double>::quiet_NaN();
  };
  return family_panels(
      training, with_nodes(ranks_axis(training), training),
      {.label = "analysis rate [events/s]", .logarithmic = true}, rate, [&](Panel& panel) {
        add_published(panel, training.published,
                      [&](double at, double epoch_s) { return events_at(at) / epoch_s; });
        const Series& first = panel.series.front();
        const std::vector<double> ranks = all_ranks(training);
        panel.series.push_back(dashed_line("ideal: as many times the rate as ranks", Colour::sky,
                                           {ranks.front(), ranks.back()},
                                           {first.y.front() * ranks.front() / first.x.front(),
                                            first.y.front() * ranks.back() / first.x.front()}));
      });
}

Figure exchange_time_over_ranks(const SimulatedTraining& training) {
  const PointNumber microseconds = [](const Point& point) { return 1e6 * point.exchange_s; };
  return family_panels(training, with_nodes(ranks_axis(training), training),
                       {.label = "exchange of an epoch [µs]", .logarithmic = true}, microseconds,
                       [](Panel&) {});
}

Figure simulated_over_predicted(const SimulatedTraining& training) {
  const PointNumber ratio = [](const Point& point) {
    return point.predicted_s > 0 ? point.exchange_s / point.predicted_s : 0;
  };
  const std::vector<double> ranks = all_ranks(training);
  return family_panels(training, ranks_axis(training),
                       {.label = "simulated over predicted", .logarithmic = true}, ratio,
                       [&](Panel& panel) {
                         panel.horizontal_lines = {1};
                         if (ranks.size() < 2) return;
                         panel.series.push_back({.label = "within 20 %",
                                                 .style = Style::band,
                                                 .x = {ranks.front(), ranks.back()},
                                                 .y_low = {1 - bar, 1 - bar},
                                                 .y_high = {1 + bar, 1 + bar},
                                                 .colour = Colour::grey});
                       });
}

Figure straggler_rates(const std::vector<StragglerRow>& rows, const std::string& conditions) {
  Figure figure{.title = conditions, .columns = 2, .width = 1400, .height = 0};
  for (const bool of_leaders : {true, false}) {
    Panel panel{
        .title = of_leaders ? "a leader is slow" : "a follower is slow",
        .x = {.label = "rate of the other ranks, undisturbed = 1", .lowest = 0, .highest = 1.1}};
    Series median{.label = "median", .style = Style::points, .colour = Colour::blue};
    Series lowest{.label = "lowest", .style = Style::points, .colour = Colour::vermillion};
    for (const StragglerRow& row : rows) {
      if (row.is_leader != of_leaders) continue;
      const double y = static_cast<double>(panel.y.names.size());
      panel.series.push_back({.x = {0, row.median}, .y = {y, y}, .colour = Colour::grey});
      panel.y.names.push_back(row.exchange);
      lowest.add(row.lowest, y);
      median.add(row.median, y);
    }
    panel.y.lowest = -0.7;
    panel.y.highest = static_cast<double>(panel.y.names.size()) - 0.3;
    figure.height = std::max(figure.height, 160 + 30 * static_cast<int>(panel.y.names.size()));
    panel.series.push_back(std::move(lowest));
    panel.series.push_back(std::move(median));
    figure.panels.push_back(std::move(panel));
  }
  return figure;
}

}  // namespace sagips::analysis

#include <algorithm>
#include <set>

#include "sagips/analysis/figures/convergence.hpp"

namespace sagips::analysis {
namespace {

using Style = Series::Style;

/// Points with error bars over members and the line that joins them. of: variant -> numbers of its
/// members
template <class Of>
void add_series(Panel& panel, const ScalingSeries& series, Colour colour, const Of& of) {
  Series points{.style = Style::points, .colour = colour};
  Series line{.label = series.label, .colour = colour};
  for (const ConvergenceVariant* variant : series.points) {
    const Measured number = measured(of(*variant));
    points.add(static_cast<double>(variant->ranks), number.mean);
    points.add_ends(number.mean - number.deviation, number.mean + number.deviation);
  }
  line.x = points.x;
  line.y = points.y;
  panel.series.push_back(std::move(line));
  panel.series.push_back(std::move(points));
}

template <class Of>
Figure over_ranks(const std::vector<ScalingSeries>& series, const std::string& label,
                  const Of& of) {
  Panel panel{.x = {.label = "ranks", .logarithmic = true}, .y = {.label = label}};
  std::set<double> marks;  // of each number of ranks: round ones would say little
  for (std::size_t i = 0; i < series.size(); ++i) {
    add_series(panel, series[i], colour_of(i), of);
    for (const ConvergenceVariant* variant : series[i].points)
      marks.insert(static_cast<double>(variant->ranks));
  }
  panel.x.marks.assign(marks.begin(), marks.end());
  if (series.empty()) panel.title = "no scan over ranks";
  return {.panels = {std::move(panel)}, .width = 800, .height = 520};
}

}  // namespace

Figure time_over_ranks(const std::vector<ScalingSeries>& series) {
  Figure figure = over_ranks(series, "training time [s]",
                             [](const ConvergenceVariant& variant) { return variant.time_s; });
  figure.panels.front().y.lowest = 0;
  return figure;
}

Figure rate_over_ranks(const std::vector<ScalingSeries>& series) {
  const auto rates = [](const ConvergenceVariant& variant) { return variant.events_per_second; };
  Figure figure = over_ranks(series, "analysis rate [events/s]", rates);
  Panel& panel = figure.panels.front();
  panel.y.logarithmic = true;
  if (series.empty()) return figure;
  const ConvergenceVariant* first = series.front().points.front();
  const ConvergenceVariant* last = first;
  for (const ScalingSeries& one : series) {
    if (one.points.front()->ranks < first->ranks) first = one.points.front();
    if (one.points.back()->ranks > last->ranks) last = one.points.back();
  }
  const double begin = static_cast<double>(first->ranks), end = static_cast<double>(last->ranks);
  const double rate = measured(rates(*first)).mean;
  panel.series.push_back(dashed_line("ideal: as many times the rate as ranks", Colour::grey,
                                     {begin, end}, {rate, rate * end / begin}));
  return figure;
}

}  // namespace sagips::analysis

#include "sagips/analysis/figures/search.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sagips/analysis/figures/time_axis.hpp"

namespace sagips::analysis {

namespace {

constexpr std::size_t most_in_pairs = 4, most_slices = 12;
constexpr double best_share = 0.2;

std::vector<std::size_t> by_importance(const SearchedSettings& search) {
  std::vector<std::size_t> order(search.keys.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return search.keys[a].importance > search.keys[b].importance;
  });
  return order;
}

bool is_better(const SearchedSettings& search, double a, double b) {
  return search.maximise ? a > b : a < b;
}

Axis axis_of(const SearchedKey& key) {
  Axis axis{.label = key.name, .logarithmic = key.log, .names = key.values};
  if (key.values.empty()) return axis;
  axis.lowest = -0.5;
  axis.highest = static_cast<double>(key.values.size()) - 0.5;
  return axis;
}

Series points(const std::string& label, Colour colour) {
  return {.label = label, .style = Series::Style::points, .colour = colour};
}

// The value that a fifth of the trials reach.
double threshold(const SearchedSettings& search) {
  std::vector<double> values;
  for (const SearchedTrial& trial : search.trials) values.push_back(trial.value);
  std::sort(values.begin(), values.end(),
            [&](double a, double b) { return is_better(search, a, b); });
  const auto place = static_cast<std::size_t>(best_share * static_cast<double>(values.size()));
  return values[std::min(place, values.size() - 1)];
}

}  // namespace

Figure search_course(const SearchedSettings& search) {
  Panel panel{.x = {.label = "trial"}, .y = {.label = search.metric}};
  Series done = points("trials", Colour::blue), early = points("ended early", Colour::grey);
  Series best{.label = "best so far", .style = Series::Style::steps, .colour = Colour::vermillion};
  for (const SearchedTrial& trial : search.trials) {
    const auto number = static_cast<double>(trial.number);
    (trial.ended_early ? early : done).add(number, trial.value);
    if (trial.ended_early) {
      if (!best.y.empty()) best.add(number, best.y.back());
      continue;
    }
    const bool better = best.y.empty() || is_better(search, trial.value, best.y.back());
    best.add(number, better ? trial.value : best.y.back());
  }
  for (Series* one : {&early, &done, &best})
    if (!one->x.empty()) panel.series.push_back(std::move(*one));
  return {.panels = {std::move(panel)}, .width = 900, .height = 480};
}

Figure search_importance(const SearchedSettings& search) {
  Panel panel{.x = {.lowest = -0.5, .highest = static_cast<double>(search.keys.size()) - 0.5},
              .y = {.label = "importance [%]", .lowest = 0}};
  Series shown = points("", Colour::blue);
  for (const std::size_t key : by_importance(search)) {
    shown.add(static_cast<double>(panel.x.names.size()), 100 * search.keys[key].importance);
    shown.add_ends(0, 100 * search.keys[key].importance);
    panel.x.names.push_back(search.keys[key].name);
  }
  panel.series.push_back(std::move(shown));
  return {.panels = {std::move(panel)}, .width = 900, .height = 400};
}

Figure search_slices(const SearchedSettings& search) {
  Figure figure{.columns = 3, .width = 1000};
  for (const std::size_t key : by_importance(search)) {
    if (figure.panels.size() == most_slices) break;
    Panel panel{.x = axis_of(search.keys[key]), .y = {.label = search.metric}};
    Series done = points("trials", Colour::blue), early = points("ended early", Colour::grey);
    for (const SearchedTrial& trial : search.trials)
      (trial.ended_early ? early : done).add(trial.settings[key], trial.value);
    for (Series* one : {&early, &done})
      if (!one->x.empty()) panel.series.push_back(std::move(*one));
    figure.panels.push_back(std::move(panel));
  }
  arrange_in_rows(figure, 90);
  return figure;
}

Figure search_pairs(const SearchedSettings& search) {
  Figure figure;
  std::vector<std::size_t> order = by_importance(search);
  order.resize(std::min(order.size(), most_in_pairs));
  const double good = threshold(search);
  for (std::size_t i = 0; i < order.size(); ++i)
    for (std::size_t j = i + 1; j < order.size(); ++j) {
      Panel panel{.x = axis_of(search.keys[order[i]]), .y = axis_of(search.keys[order[j]])};
      Series best = points("the best fifth", Colour::vermillion);
      Series others = points("others", Colour::grey);
      for (const SearchedTrial& trial : search.trials)
        (is_better(search, good, trial.value) ? others : best)
            .add(trial.settings[order[i]], trial.settings[order[j]]);
      for (Series* one : {&others, &best})
        if (!one->x.empty()) panel.series.push_back(std::move(*one));
      figure.panels.push_back(std::move(panel));
    }
  arrange_in_rows(figure, 90);
  return figure;
}

}  // namespace sagips::analysis

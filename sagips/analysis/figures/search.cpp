#include "sagips/analysis/figures/search.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sagips/analysis/figures/time_axis.hpp"
#include "sagips/core/text.hpp"

namespace sagips::analysis {

namespace {

constexpr std::size_t most_in_pairs = 4, most_slices = 12;
constexpr double best_share = 0.2;
constexpr double errors_apart = 2;

std::vector<std::size_t> by_importance(const std::vector<SearchedKey>& keys) {
  std::vector<std::size_t> order(keys.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return keys[a].importance > keys[b].importance;
  });
  return order;
}

bool is_better(const SearchedSettings& search, double a, double b) {
  return search.maximise ? a > b : a < b;
}

Axis axis_of(const SearchedKey& key) {
  Axis axis{.label = key.name, .logarithmic = key.log, .whole = key.whole, .names = key.values};
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

Figure search_history(const SearchedSettings& search) {
  Panel panel{.x = {.label = "trial", .whole = true}, .y = {.label = search.metric}};
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

LeadingSetting leading_setting(const SearchedSettings& search) {
  const std::vector<std::size_t> order = by_importance(search.keys);
  const SearchedKey &first = search.keys[order[0]], &second = search.keys[order[1]];
  const auto shown = [](const SearchedKey& key) {
    return core::text(key.name, " (", core::fixed(100 * key.importance, 0), " ± ",
                      core::fixed(100 * key.error, 0), " %)");
  };
  const std::string both = core::text(shown(first), " and ", shown(second));
  if (first.error > 0 && first.importance > errors_apart * first.error &&
      first.importance - second.importance > errors_apart * std::hypot(first.error, second.error))
    return {first.name, core::text(both, " are the first two by their importance."), true};
  return {core::text(search.trials.size(), " trials do not settle it"),
          first.error > 0 ? core::text(both, " are not two errors apart, or from 0.")
                          : "An importance takes at least 8 trials that differ."};
}

Figure search_importance(const SearchedSettings& search) {
  const double end = static_cast<double>(search.keys.size()) - 0.5;
  const LeadingSetting leading = leading_setting(search);
  Panel panel{.title = leading.is_settled ? "" : leading.answer,
              .x = {.label = "importance [%]", .lowest = 0},
              .y = {.lowest = -0.5, .highest = end}};
  Series shown{.style = Series::Style::bars, .colour = Colour::blue};
  std::vector<std::size_t> order = by_importance(search.keys);
  std::reverse(order.begin(), order.end());  // the first on top
  for (const std::size_t i : order) {
    const SearchedKey& key = search.keys[i];
    shown.add(100 * key.importance, static_cast<double>(panel.y.names.size()));
    shown.add_ends(std::max(0.0, 100 * (key.importance - key.error)),
                   100 * (key.importance + key.error));
    panel.y.names.push_back(key.name);
  }
  panel.series.push_back(std::move(shown));
  return {.panels = {std::move(panel)},
          .width = 900,
          .height = 110 + 40 * static_cast<int>(search.keys.size())};
}

Figure search_slices(const SearchedSettings& search) {
  Figure figure{.columns = 3, .width = 1000};
  for (const std::size_t key : by_importance(search.keys)) {
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
  std::vector<std::size_t> order = by_importance(search.keys);
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

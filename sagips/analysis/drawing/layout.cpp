#include "sagips/analysis/drawing/layout.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <sstream>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::analysis::drawing {
namespace {

// All in pixels.
constexpr double edge = 10;
constexpr double below_title = 9;
constexpr double smallest_gap = 10;
constexpr double right_margin = 16;
constexpr double upright_right_margin = 6;
constexpr double bold = 1.1;  // times as wide
constexpr double x_label_gap = 10;
constexpr double x_tick_spacing = 48;
constexpr double y_tick_spacing = 36;
constexpr double closest_ticks = 20;
constexpr double smallest_panel = 20;

std::size_t row_count(const Figure& figure) {
  const auto columns = static_cast<std::size_t>(figure.columns);
  return (figure.panels.size() + columns - 1) / columns;
}

bool is_empty(const Panel& panel) { return panel.title.empty() && panel.series.empty(); }

bool has_panel_below(const Figure& figure, std::size_t i) {
  for (i += static_cast<std::size_t>(figure.columns); i < figure.panels.size();
       i += static_cast<std::size_t>(figure.columns))
    if (!is_empty(figure.panels[i])) return true;
  return false;
}

double widest_label(const Ticks& ticks) {
  double widest = 0;
  for (const Tick& tick : ticks.major) widest = std::max(widest, text_width(tick.label));
  return widest;
}

Ticks ticks_at(const std::vector<double>& marks, Interval interval) {
  Ticks ticks;
  for (const double mark : marks)
    if (mark >= interval.low && mark <= interval.high)
      ticks.major.push_back({mark, core::text(mark)});
  return ticks;
}

Ticks named_ticks(const std::vector<std::string>& names) {
  Ticks ticks;
  for (const std::string& name : names)
    ticks.major.push_back({static_cast<double>(ticks.major.size()), name});
  return ticks;
}

/// Without those between whole numbers.
Ticks whole_ticks(Ticks ticks, Interval interval) {
  const auto is_broken = [](double value) {
    return std::abs(value - std::round(value)) > 1e-9 * std::max(1.0, std::abs(value));
  };
  std::erase_if(ticks.major, [&](const Tick& tick) { return is_broken(tick.value); });
  std::erase_if(ticks.minor, is_broken);
  if (const double one = std::ceil(interval.low); ticks.major.empty() && one <= interval.high)
    ticks.major = {{one, ""}};
  for (Tick& tick : ticks.major)
    if (tick.label.empty() || std::abs(tick.value) < 1e6)
      tick.label = core::text(std::llround(tick.value));
  return ticks;
}

Ticks ticks(const Axis& axis, Interval interval, int most) {
  Ticks ticks = !axis.names.empty()   ? named_ticks(axis.names)
                : !axis.marks.empty() ? ticks_at(axis.marks, interval)
                : axis.logarithmic    ? logarithmic_ticks(interval, most)
                                      : linear_ticks(interval, most);
  if (axis.whole) ticks = whole_ticks(std::move(ticks), interval);
  if (!axis.tick_labels)
    for (Tick& tick : ticks.major) tick.label.clear();
  return ticks;
}

double closest_neighbours(const Ticks& ticks, const Axis& axis, Interval interval, double pixels) {
  double closest = pixels;
  for (std::size_t i = 1; i < ticks.major.size(); ++i)
    closest = std::min(closest, pixels * (share_of_axis(axis, interval, ticks.major[i].value) -
                                          share_of_axis(axis, interval, ticks.major[i - 1].value)));
  return closest;
}

/// As many ticks as have room, at least two if possible.
/// spacing: pixels that neighbours need, of the ticks
template <class Spacing>
Ticks fitting_ticks(const Axis& axis, Interval interval, double pixels, const Spacing& spacing) {
  Ticks best;
  for (int most = std::max(2, static_cast<int>(pixels / closest_ticks)); most >= 2; --most) {
    Ticks candidate = ticks(axis, interval, most);
    if (best.major.size() >= 2 && candidate.major.size() < 2) break;
    best = std::move(candidate);
    if (closest_neighbours(best, axis, interval, pixels) >= spacing(best)) break;
  }
  return best;
}

/// Takes the labels away that stand too close behind another one. Returns how many are left.
int thin_labels(const Axis& axis, Interval interval, double pixels, double needed, Ticks& ticks) {
  int left = 0;
  double last = -needed;
  for (Tick& tick : ticks.major) {
    const double at = pixels * share_of_axis(axis, interval, tick.value);
    if (at - last < needed) {
      tick.label.clear();
      continue;
    }
    last = at;
    ++left;
  }
  return left;
}

/// The ticks of x, their labels turned where names, or two numbers, have no room side by side.
void set_x_ticks(const Axis& axis, double width, PanelLayout& layout) {
  const auto needed = [](const Ticks& ticks) { return widest_label(ticks) + x_label_gap; };
  layout.x_ticks = fitting_ticks(axis, layout.x, width, [&](const Ticks& ticks) {
    return std::max(needed(ticks), x_tick_spacing);
  });
  layout.upright = false;
  const double least = needed(layout.x_ticks);
  if (closest_neighbours(layout.x_ticks, axis, layout.x, width) >= least) return;
  if (axis.names.empty() && thin_labels(axis, layout.x, width, least, layout.x_ticks) > 1) return;
  layout.upright = true;
  layout.x_ticks = fitting_ticks(axis, layout.x, width, [](const Ticks&) { return line_height; });
}

Ticks y_ticks(const Axis& axis, Interval interval, double height) {
  return fitting_ticks(axis, interval, height, [](const Ticks&) { return y_tick_spacing; });
}

/// What the labels above a panel need.
double height_above(const Panel& panel) {
  return panel.x.above.empty() ? 0 : tick_label_gap + line_height;
}

double x_labels_height(const PanelLayout& layout) {
  return layout.upright ? widest_label(layout.x_ticks) : line_height;
}

/// Space around one panel's axes.
struct Margins {
  double left = 0, top = 0, bottom = 0;
};

Margins margins(const Panel& panel, const PanelLayout& layout, int key_rows) {
  Margins margins;
  const double label_width = widest_label(layout.y_ticks);
  const auto height = [](const std::vector<std::string>& lines) {
    return static_cast<double>(lines.size()) * line_height;
  };
  margins.left = height(layout.y_label) +
                 (label_width > 0 ? label_width + tick_label_gap + smallest_gap / 2 : smallest_gap);
  margins.top = (layout.title.empty() ? smallest_gap : height(layout.title) + 4) +
                key_rows * line_height + height_above(panel);
  margins.bottom = smallest_gap / 2;
  if (layout.has_x_labels) {
    if (panel.x.tick_labels) margins.bottom += tick_label_gap + x_labels_height(layout);
    margins.bottom += height(layout.x_label);
  }
  return margins;
}

/// Sizes that a row or column of the grid needs.
struct Grid {
  std::vector<double> left, top, bottom, relative_height;
  double panel_width = 0, panel_height = 0;  // of relative height 1
  double right = upright_right_margin;
};

void fit_panels(const Figure& figure, double used_above, Grid& grid) {
  const auto sum = [](const std::vector<double>& parts) {
    return std::accumulate(parts.begin(), parts.end(), 0.0);
  };
  const double columns = figure.columns;
  grid.panel_width = (figure.width - 2 * edge - sum(grid.left) - columns * grid.right) / columns;
  grid.panel_height = (figure.height - 2 * edge - used_above - sum(grid.top) - sum(grid.bottom)) /
                      sum(grid.relative_height);
  const double least_height =
      *std::min_element(grid.relative_height.begin(), grid.relative_height.end());
  if (grid.panel_width < smallest_panel || grid.panel_height * least_height < smallest_panel)
    throw core::Error(core::text("figure: ", figure.width, " x ", figure.height,
                                 " pixels leave no room for ", figure.panels.size(),
                                 " panels with their labels. Make it larger."));
}

Grid measure(const Figure& figure, const std::vector<PanelLayout>& panels, const KeyRows& key_rows,
             double used_above) {
  const auto columns = static_cast<std::size_t>(figure.columns);
  const std::size_t rows = row_count(figure);
  Grid grid;
  grid.left.assign(columns, 0);
  for (auto* part : {&grid.top, &grid.bottom, &grid.relative_height}) part->assign(rows, 0);
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const std::size_t row = i / columns, column = i % columns;
    auto& height = grid.relative_height[row];
    height = std::max(height, figure.panels[i].relative_height);
    if (panels[i].is_empty) continue;
    const Margins need = margins(figure.panels[i], panels[i], key_rows.above_panel[i]);
    grid.left[column] = std::max(grid.left[column], need.left);
    grid.top[row] = std::max(grid.top[row], need.top);
    grid.bottom[row] = std::max(grid.bottom[row], need.bottom);
    if (!panels[i].upright) grid.right = right_margin;
  }
  fit_panels(figure, used_above, grid);
  return grid;
}

void place_boxes(const Figure& figure, const Grid& grid, const KeyRows& key_rows, double y,
                 std::vector<PanelLayout>& panels) {
  const auto columns = static_cast<std::size_t>(figure.columns);
  for (std::size_t row = 0; row < row_count(figure); ++row) {
    y += grid.top[row];
    const double height = grid.relative_height[row] * grid.panel_height;
    double x = edge;
    for (std::size_t column = 0; column < columns; ++column) {
      const double label_x = x + line_height / 2;
      x += grid.left[column];
      const std::size_t i = row * columns + column;
      if (i < panels.size()) {
        PanelLayout& panel = panels[i];
        panel.box = {x, y, x + grid.panel_width, y + height};
        panel.y_label_x = label_x;
        panel.x_label_y = panel.box.bottom + line_height / 2 +
                          (figure.panels[i].x.tick_labels ? tick_label_gap + x_labels_height(panel)
                                                          : smallest_gap / 2);
        panel.above_y = y - tick_label_gap - line_height / 2;
        panel.key_y =
            y - height_above(figure.panels[i]) - (key_rows.above_panel[i] - 0.5) * line_height - 3;
        panel.title_y = panel.key_y - line_height * static_cast<double>(panel.title.size());
      }
      x += grid.panel_width + grid.right;
    }
    y += height + grid.bottom[row];
  }
}

/// Neighbours that show the same quantity need its name once.
bool has_y_label(const Figure& figure, std::size_t i) {
  if (i % static_cast<std::size_t>(figure.columns) == 0) return true;
  const Panel& left = figure.panels[i - 1];
  return is_empty(left) || left.y.label != figure.panels[i].y.label;
}

/// What a panel needs beside its curves, when its axes have this size.
void set_texts(const Figure& figure, std::size_t i, double width, double height,
               PanelLayout& layout) {
  const Panel& panel = figure.panels[i];
  set_x_ticks(panel.x, width, layout);
  layout.y_ticks = y_ticks(panel.y, layout.y, height);
  layout.title = wrapped(panel.title, (width + right_margin) / bold);
  layout.x_label = wrapped(panel.x.label, width + right_margin);
  layout.y_label.clear();
  if (has_y_label(figure, i)) layout.y_label = wrapped(panel.y.label, height + smallest_gap);
}

}  // namespace

std::vector<std::string> wrapped(const std::string& text, double width) {
  if (text.empty()) return {};
  if (text_width(text) <= width) return {text};
  std::vector<std::string> lines;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (!lines.empty() && text_width(lines.back() + " " + word) <= width) {
      lines.back() += " " + word;
      continue;
    }
    lines.emplace_back();
    for (const char letter : word) {
      const bool begins = (letter & 0xC0) != 0x80;  // else it continues a letter of UTF-8
      if (begins && !lines.back().empty() && text_width(lines.back() + letter) > width) {
        const std::size_t part = lines.back().find_last_of("._/") + 1;  // 0: none, it breaks here
        std::string rest = part > 0 ? lines.back().substr(part) : "";
        if (part > 0) lines.back().resize(part);
        lines.push_back(std::move(rest));
      }
      lines.back() += letter;
    }
  }
  return lines;
}

double text_width(const std::string& text) {
  // Widths of DejaVu Sans in shares of the font size.
  double width = 0;
  for (const char letter : text) {
    if ((letter & 0xC0) == 0x80) continue;  // continues a letter of UTF-8
    if (std::strchr(" .,:;'|!iIjlfrt()[]/-", letter))
      width += 0.37;
    else
      width += std::strchr("mwMW%@", letter) ? 0.92 : 0.63;
  }
  return width * font_size;
}

Point place(const PanelLayout& layout, const Panel& panel, double x, double y) {
  return {layout.box.left + share_of_axis(panel.x, layout.x, x) * layout.box.width(),
          layout.box.bottom - share_of_axis(panel.y, layout.y, y) * layout.box.height()};
}

Layout lay_out(const Figure& figure, const KeyRows& key_rows) {
  const std::vector<PanelRange> ranges = panel_ranges(figure);
  const double guessed_width = 0.8 * figure.width / figure.columns;
  double relative_heights = 0;
  for (std::size_t i = 0; i < figure.panels.size(); i += static_cast<std::size_t>(figure.columns))
    relative_heights += figure.panels[i].relative_height;
  const double guessed_height = 0.8 * figure.height / relative_heights;
  Layout layout;
  for (std::size_t i = 0; i < figure.panels.size(); ++i) {
    const Panel& panel = figure.panels[i];
    PanelLayout one;
    one.x = ranges[i].x;
    one.y = ranges[i].y;
    one.box = {0, 0, guessed_width, guessed_height * panel.relative_height};
    one.is_empty = is_empty(panel);
    one.has_x_labels = !figure.shared_x || !has_panel_below(figure, i);
    layout.panels.push_back(std::move(one));
  }
  layout.title = wrapped(figure.title, (figure.width - 2 * edge) / bold);
  layout.title_y = edge + line_height / 2;
  const double title = layout.title.empty()
                           ? 0
                           : static_cast<double>(layout.title.size()) * line_height + below_title;
  const double used_above =
      title + key_rows.common * line_height + (key_rows.common > 0 ? smallest_gap : 0);
  layout.common_key_y = edge + title + line_height / 2;
  // Labels decide about margins and these about panels: a guess comes first, then what it led to.
  for (int pass = 0; pass < 2; ++pass) {
    for (std::size_t i = 0; i < layout.panels.size(); ++i)
      set_texts(figure, i, layout.panels[i].box.width(), layout.panels[i].box.height(),
                layout.panels[i]);
    const Grid grid = measure(figure, layout.panels, key_rows, used_above);
    place_boxes(figure, grid, key_rows, edge + used_above, layout.panels);
  }
  return layout;
}

}  // namespace sagips::analysis::drawing

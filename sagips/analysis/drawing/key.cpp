#include "sagips/analysis/drawing/key.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace sagips::analysis::drawing {
namespace {

using Entries = std::vector<KeyEntry>;

constexpr double between_entries = 22;  // pixels
constexpr double inset = 10;            // pixels between the axes and a key inside
constexpr double ink_step = 3;          // pixels between the points that stand for a curve

constexpr double sample = key_sample_width + key_sample_gap;

double entry_width(const KeyEntry& entry) {
  double widest = 0;
  for (const std::string& line : entry.lines) widest = std::max(widest, text_width(line));
  return sample + widest;
}

Entries panel_entries(const Panel& panel) {
  const std::vector<Colour> colours = series_colours(panel);
  Entries entries;
  for (std::size_t i = 0; i < panel.series.size(); ++i) {
    const Series& series = panel.series[i];
    if (!series.label.empty())
      entries.push_back({series.label,
                         series.style,
                         colours[i],
                         !series.y_low.empty(),
                         series.mark,
                         {},
                         {series.label}});
  }
  return entries;
}

/// All panels' entries once, if no label and no look means two things and there is something to share.
std::optional<Entries> common_entries(const std::vector<Entries>& panels) {
  Entries common;
  std::size_t all = 0;
  for (const Entries& entries : panels)
    for (const KeyEntry& entry : entries) {
      ++all;
      const auto looks_alike = [&](const KeyEntry& other) {
        return other.style == entry.style && other.colour == entry.colour &&
               other.mark == entry.mark;
      };
      const auto same = std::find_if(common.begin(), common.end(), [&](const KeyEntry& other) {
        return other.label == entry.label || looks_alike(other);
      });
      if (same == common.end())
        common.push_back(entry);
      else if (same->label != entry.label || !looks_alike(*same))
        return std::nullopt;
    }
  return common.size() < all ? std::optional(common) : std::nullopt;
}

/// Breaks entries into centred rows no wider than `width`; returns how many lines they take.
int place_in_rows(Entries& entries, double middle, double width, double first_y) {
  for (KeyEntry& entry : entries) entry.lines = wrapped(entry.label, width - sample);
  int rows = 0;
  for (std::size_t begin = 0; begin < entries.size();) {
    std::size_t end = begin;
    double used = 0;
    int lines = 1;
    while (end < entries.size() &&
           (end == begin || used + between_entries + entry_width(entries[end]) <= width)) {
      used += (end == begin ? 0 : between_entries) + entry_width(entries[end]);
      lines = std::max(lines, static_cast<int>(entries[end].lines.size()));
      ++end;
    }
    double x = middle - used / 2;
    for (; begin < end; ++begin) {
      entries[begin].place = {x, first_y + rows * line_height};
      x += entry_width(entries[begin]) + between_entries;
    }
    rows += lines;
  }
  return rows;
}

void add_segment(Point from, Point to, std::vector<Point>& ink) {
  const double length = std::hypot(to.x - from.x, to.y - from.y);
  const int pieces = std::max(1, static_cast<int>(std::min(length, 1e4) / ink_step));
  for (int i = 0; i <= pieces; ++i) {
    const double share = static_cast<double>(i) / pieces;
    ink.push_back({std::lerp(from.x, to.x, share), std::lerp(from.y, to.y, share)});
  }
}

/// Points that lie as dense on everything drawn as a key could notice.
std::vector<Point> panel_ink(const Panel& panel, const PanelLayout& layout) {
  std::vector<Point> ink;
  const auto drawable = [&](double x, double y) {
    return is_drawable(x, panel.x) && is_drawable(y, panel.y);
  };
  for (const Series& series : panel.series) {
    const bool connected = series.style != Series::Style::points;
    const bool is_band = series.style == Series::Style::band;
    std::optional<Point> last_low, last_high;
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      if (series.style == Series::Style::segments) {
        for (const double beside : {-0.32, 0.0, 0.32})
          add_segment(place(layout, panel, series.y_low[i], series.y[i] + beside),
                      place(layout, panel, series.y_high[i], series.y[i] + beside), ink);
        continue;
      }
      const double low = series.y_low.empty() ? series.y[i] : series.y_low[i];
      const double high = series.y_high.empty() ? series.y[i] : series.y_high[i];
      if (!drawable(series.x[i], low) || !drawable(series.x[i], high)) {
        last_low = last_high = std::nullopt;
        continue;
      }
      const Point at_low = place(layout, panel, series.x[i], low);
      const Point at_high = place(layout, panel, series.x[i], high);
      add_segment(at_low, at_high, ink);
      if (connected && last_low) add_segment(*last_low, at_low, ink);
      if (is_band && last_high) add_segment(*last_high, at_high, ink);
      last_low = at_low;
      last_high = at_high;
    }
  }
  for (const double y : panel.horizontal_lines)
    if (drawable(layout.x.low, y))
      add_segment(place(layout, panel, layout.x.low, y), place(layout, panel, layout.x.high, y),
                  ink);
  return ink;
}

/// A free corner for a block of this size, if there is one.
std::optional<Point> free_corner(const Panel& panel, const PanelLayout& layout, double width,
                                 double height) {
  const Box& box = layout.box;
  if (width + 2 * inset > box.width() || height + 2 * inset > box.height()) return std::nullopt;
  const std::vector<Point> ink = panel_ink(panel, layout);
  for (const double top : {box.top + inset, box.bottom - inset - height})
    for (const double left : {box.right - inset - width, box.left + inset}) {
      const bool crossed = std::any_of(ink.begin(), ink.end(), [&](Point point) {
        return point.x > left - inset / 2 && point.x < left + width + inset / 2 &&
               point.y > top - inset / 2 && point.y < top + height + inset / 2;
      });
      if (!crossed) return Point{left, top};
    }
  return std::nullopt;
}

bool place_inside(const Panel& panel, const PanelLayout& layout, Entries& entries) {
  if (entries.empty()) return true;
  double width = 0;
  for (const KeyEntry& entry : entries) width = std::max(width, entry_width(entry));
  const double height = line_height * static_cast<double>(entries.size());
  const auto corner = free_corner(panel, layout, width, height);
  if (!corner) return false;
  for (std::size_t i = 0; i < entries.size(); ++i)
    entries[i].place = {corner->x, corner->y + (static_cast<double>(i) + 0.5) * line_height};
  return true;
}

Composition with_common_key(const Figure& figure, Entries entries) {
  const double middle = figure.width / 2.0, width = figure.width - 40.0;
  KeyRows rows{0, std::vector<int>(figure.panels.size(), 0)};
  rows.common = place_in_rows(entries, middle, width, 0);
  Composition composition{lay_out(figure, rows), {}};
  place_in_rows(entries, middle, width, composition.layout.common_key_y);
  composition.keys = std::move(entries);
  return composition;
}

}  // namespace

std::vector<Colour> series_colours(const Panel& panel) {
  std::vector<Colour> free{Colour::blue,   Colour::vermillion, Colour::green, Colour::purple,
                           Colour::orange, Colour::sky,        Colour::black};
  for (const Series& series : panel.series) std::erase(free, series.colour);
  if (free.empty()) free.push_back(Colour::black);
  std::vector<Colour> colours;
  std::size_t next = 0;
  for (const Series& series : panel.series)
    colours.push_back(series.colour != Colour::automatic ? series.colour
                                                         : free[next++ % free.size()]);
  return colours;
}

Composition compose(const Figure& figure) {
  std::vector<Entries> panels;
  for (const Panel& panel : figure.panels) panels.push_back(panel_entries(panel));
  if (auto common = common_entries(panels)) return with_common_key(figure, std::move(*common));

  KeyRows rows{0, std::vector<int>(panels.size(), 0)};
  Composition composition;
  // Rows above one panel shrink all of them, so that another key may lose its corner: repeat until
  // all have found their place. It ends, since no key ever goes back inside.
  for (bool settled = false; !settled;) {
    settled = true;
    composition.layout = lay_out(figure, rows);
    for (std::size_t i = 0; i < panels.size(); ++i) {
      const PanelLayout& layout = composition.layout.panels[i];
      if (rows.above_panel[i] == 0 && place_inside(figure.panels[i], layout, panels[i])) continue;
      const int needed = place_in_rows(panels[i], (layout.box.left + layout.box.right) / 2,
                                       layout.box.width(), layout.key_y);
      settled = settled && needed <= rows.above_panel[i];
      rows.above_panel[i] = std::max(needed, rows.above_panel[i]);
    }
  }
  for (const Entries& entries : panels)
    composition.keys.insert(composition.keys.end(), entries.begin(), entries.end());
  return composition;
}

}  // namespace sagips::analysis::drawing

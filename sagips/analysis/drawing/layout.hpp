#pragma once
#include <string>
#include <vector>

#include "sagips/analysis/drawing/ranges.hpp"
#include "sagips/analysis/drawing/ticks.hpp"
#include "sagips/analysis/figure.hpp"

namespace sagips::analysis::drawing {

inline constexpr double font_size = 13;      ///< pixels
inline constexpr double line_height = 19;    ///< pixels
inline constexpr double tick_label_gap = 9;  ///< pixels between an axis and the labels of its ticks

/// Width of a text in pixels, from the mean letter of the font (DejaVu Sans); a little generous.
double text_width(const std::string& text);

/// A text in lines no wider than that [pixels]: broken at spaces, and where a word is too long in it.
std::vector<std::string> wrapped(const std::string& text, double width);

/// A point of the picture in pixels, from its upper left corner.
struct Point {
  double x = 0, y = 0;
};

/// The area between the axes of a panel, in pixels from the upper left corner.
struct Box {
  double left = 0, top = 0, right = 0, bottom = 0;
  double width() const { return right - left; }
  double height() const { return bottom - top; }
};

struct PanelLayout {
  Box box;
  Interval x, y;
  Ticks x_ticks, y_ticks;
  bool upright = false;      ///< the labels of the ticks of x are turned, for want of room
  bool is_empty = false;     ///< nothing is drawn at this place
  bool has_x_labels = true;  ///< false over another panel that shares the axis
  std::vector<std::string> title, x_label, y_label;  ///< their lines
  // Where the middles of these texts' first lines stand:
  double title_y = 0, x_label_y = 0, y_label_x = 0;
  double key_y = 0;    ///< the first of the key rows above the panel
  double above_y = 0;  ///< what stands above the ticks of x
};

struct Layout {
  std::vector<PanelLayout> panels;
  std::vector<std::string> title;  ///< its lines
  double title_y = 0;
  double common_key_y = 0;  ///< where the first row of a common key stands
};

/// Lines that keys need: above all panels, and above each of them.
struct KeyRows {
  int common = 0;
  std::vector<int> above_panel;
};

/// Where a number of a panel stands in the picture.
Point place(const PanelLayout& layout, const Panel& panel, double x, double y);

/// Divides the picture among the panels: margins as wide as labels need, the rest in equal widths
/// and in the panels' relative heights. throws: Error when nothing is left for the panels
Layout lay_out(const Figure& figure, const KeyRows& key_rows);

}  // namespace sagips::analysis::drawing

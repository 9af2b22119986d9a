#include "sagips/analysis/drawing/script.hpp"

#include <algorithm>
#include <array>
#include <sstream>

#include "sagips/analysis/drawing/terminal.hpp"
#include "sagips/core/text.hpp"

namespace sagips::analysis::drawing {
namespace {

using Style = Series::Style;
using core::round_trip;
using core::text;

constexpr const char* ink = "#333333";   // texts
constexpr const char* axes = "#8c8c8c";  // thin lines: axes and marks on them
constexpr const char* grid = "#ececec";
constexpr std::size_t many_points = 200;
constexpr double overhang = 14;  // pixels by which the label of a tick may stand beyond its axis

/// In single quotes gnuplot knows one special sign, the quote itself.
std::string quoted(const std::string& content) {
  std::string result = "'";
  for (const char letter : content) {
    if (letter == '\'')
      result += "''";
    else if (static_cast<unsigned char>(letter) >= ' ')
      result += letter;
  }
  return result + "'";
}

/// Writes one figure's commands; knows the picture's size, which turns pixels into gnuplot's units.
class Script {
 public:
  Script(const Figure& figure, Format format)
      : figure_(figure), point_(magnification(figure, format)) {
    out_
        << terminal_command(figure, format) << "\n"
        << "set encoding utf8\nset multiplot\nunset key\nset errorbars 0\nset pointintervalbox 0\n";
  }

  void figure_title(const Layout& layout);
  void panel(const Panel& panel, const PanelLayout& layout);
  void key_entry(const KeyEntry& entry);
  std::string finish();

 private:
  std::string screen(Point point) const {
    return text("screen ", round_trip(point.x / figure_.width), ",screen ",
                round_trip(1 - point.y / figure_.height));
  }
  /// `how` says which point of the text stands there, and in which font.
  void label(const std::string& content, Point point, const char* how) {
    out_ << "set label " << quoted(content) << " at " << screen(point) << " " << how
         << " textcolor rgb '" << ink << "' front\n";
  }
  /// One line below the other.
  void label(const std::vector<std::string>& lines, Point first, const char* how) {
    for (std::size_t i = 0; i < lines.size(); ++i)
      label(lines[i], {first.x, first.y + static_cast<double>(i) * line_height}, how);
  }
  void axes_of(const Panel& panel, const PanelLayout& layout);
  void ticks(const char* name, const Ticks& ticks);
  void tick_labels(const Panel& panel, const PanelLayout& layout);
  void labels_above(const Panel& panel, const PanelLayout& layout);
  void texts(const PanelLayout& layout);
  void horizontal_lines(const Panel& panel, const PanelLayout& layout);
  std::string data(const Panel& panel, const PanelLayout& layout, const Series& series);
  void square_texts(const Panel& panel, const PanelLayout& layout, const Series& series);
  void curves(const Panel& panel, const PanelLayout& layout);

  std::string style_of(const Series& series, Colour colour) const;

  const Figure& figure_;
  double point_;  ///< by how much points are larger than on a screen
  std::ostringstream out_;
  int data_blocks_ = 0;
};

void Script::figure_title(const Layout& layout) {
  label(layout.title, {figure_.width / 2.0, layout.title_y}, "center font 'DejaVu Sans:Bold'");
}

void Script::ticks(const char* name, const Ticks& ticks) {
  std::vector<std::string> marks;
  for (const Tick& tick : ticks.major) marks.push_back("'' " + round_trip(tick.value) + " 0");
  for (const double value : ticks.minor) marks.push_back("'' " + round_trip(value) + " 1");
  out_ << "set " << name << "tics out nomirror scale 0.6,0.3 (" << core::join(marks, ", ") << ")\n";
}

void Script::axes_of(const Panel& panel, const PanelLayout& layout) {
  const Box& box = layout.box;
  out_ << "set lmargin at screen " << round_trip(box.left / figure_.width) << "\n"
       << "set rmargin at screen " << round_trip(box.right / figure_.width) << "\n"
       << "set tmargin at screen " << round_trip(1 - box.top / figure_.height) << "\n"
       << "set bmargin at screen " << round_trip(1 - box.bottom / figure_.height) << "\n"
       << "unset logscale\n";
  if (panel.x.logarithmic) out_ << "set logscale x\n";
  if (panel.y.logarithmic) out_ << "set logscale y\n";
  out_ << "set xrange [" << round_trip(layout.x.low) << ":" << round_trip(layout.x.high) << "]\n"
       << "set yrange [" << round_trip(layout.y.low) << ":" << round_trip(layout.y.high) << "]\n"
       << "set border 3 back linecolor rgb '" << axes << "' linewidth 1\n"
       << "set grid xtics ytics nomxtics nomytics back linetype 1 linecolor rgb '" << grid
       << "' linewidth 1\n";
  ticks("x", layout.x_ticks);
  ticks("y", layout.y_ticks);
}

void Script::horizontal_lines(const Panel& panel, const PanelLayout& layout) {
  for (const double y : panel.horizontal_lines)
    if (y >= layout.y.low && y <= layout.y.high)
      out_ << "set arrow from graph 0,first " << round_trip(y) << " to graph 1,first "
           << round_trip(y) << " nohead back linecolor rgb '" << axes << "' linewidth 1\n";
}

/// Writes the numbers as a block that the plot can name; empty when there is nothing to draw.
std::string Script::data(const Panel& panel, const PanelLayout& layout, const Series& series) {
  std::ostringstream rows;
  bool is_empty = true;
  const bool has_ends = !series.y_low.empty();
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    const double y = series.style == Style::band ? series.y_high[i] : series.y[i];
    double low = has_ends ? series.y_low[i] : y;
    const double high = has_ends ? series.y_high[i] : y;
    // On a logarithmic axis an error bar or band may reach below every positive number.
    if (panel.y.logarithmic && low <= 0) low = layout.y.low;
    const bool drawn = is_drawable(series.x[i], panel.x) && is_drawable(y, panel.y) &&
                       is_drawable(low, panel.y) && is_drawable(high, panel.y);
    // An empty line interrupts a curve, and does nothing else.
    if (drawn)
      rows << round_trip(series.x[i]) << " " << round_trip(y) << " " << round_trip(low) << " "
           << round_trip(high);
    if (drawn && !series.values.empty()) rows << " " << square_colour(series.values[i]);
    rows << "\n";
    is_empty = is_empty && !drawn;
  }
  if (is_empty) return {};
  std::string name = text("$data", ++data_blocks_);
  out_ << name << " << END_OF_DATA\n" << rows.str() << "END_OF_DATA\n";
  return name;
}

const char* gnuplot_mark(Series::Mark mark) {
  constexpr std::array marks{"7", "6 linewidth 1.8", "9"};  // in the order of Series::Mark
  return marks[static_cast<std::size_t>(mark)];
}

std::string paint(Colour colour) { return text("linecolor rgb '#", hex(colour), "'"); }

std::string Script::style_of(const Series& series, Colour colour) const {
  switch (series.style) {
    case Style::band:
      return text("using 1:3:4 with filledcurves fillstyle transparent solid 0.25 noborder ",
                  paint(colour));
    case Style::points:
      if (series.x.size() > many_points)
        return text("using 1:2 with points pointtype 7 pointsize ", 0.25 * point_,
                    " linecolor rgb '#90", hex(colour), "'");
      return text("using 1:2 with points pointtype ", gnuplot_mark(series.mark), " pointsize ",
                  (series.mark == Series::Mark::disc ? 0.55 : 0.8) * point_, " ", paint(colour));
    case Style::steps:
      return text("using 1:2 with steps linewidth 1.8 ", paint(colour));
    case Style::bars:
      return text(
          "using 1:2:(0):1:($2-0.3):($2+0.3) with boxxyerror fillstyle transparent solid "
          "0.5 noborder ",
          paint(colour));
    case Style::segments:
      return text(
          "using 4:2:3:4:($2-0.32):($2+0.32) with boxxyerror fillstyle solid 0.85 noborder ",
          paint(colour));
    case Style::squares:
      return "using 1:2:(0.49):(0.49):5 with boxxyerror fillstyle solid 1 noborder linecolor rgb "
             "variable";
    case Style::dashed:
      return text("using 1:2 with lines linewidth 1.5 dashtype (14,8) ", paint(colour));
    case Style::line:
      break;
  }
  return text("using 1:2 with lines linewidth 2 ", paint(colour));
}

/// Where each of them has room.
void Script::square_texts(const Panel& panel, const PanelLayout& layout, const Series& series) {
  if (series.values.empty()) return;
  std::vector<std::string> texts = series.texts;
  for (std::size_t i = texts.size(); i < series.values.size(); ++i)
    texts.push_back(square_text(series.values[i]));
  const double side = place(layout, panel, 1, 0).x - place(layout, panel, 0, 0).x;
  if (std::any_of(texts.begin(), texts.end(),
                  [&](const std::string& content) { return text_width(content) >= side; }))
    return;
  for (std::size_t i = 0; i < texts.size(); ++i)
    label(texts[i], place(layout, panel, series.x[i], series.y[i]), "center");
}

void Script::curves(const Panel& panel, const PanelLayout& layout) {
  const std::vector<Colour> colours = series_colours(panel);
  std::vector<std::string> below, above;
  for (std::size_t i = 0; i < panel.series.size(); ++i) {
    const Series& series = panel.series[i];
    const std::string curve = data(panel, layout, series);
    if (curve.empty()) continue;
    // Bands lie below all curves, in whatever order they were given; bars below their points.
    if (series.style == Style::points && !series.y_low.empty())
      below.push_back(text(curve, " using 1:3:(0):($4-$3) with vectors nohead linewidth 1.2 ",
                           paint(colours[i])));
    square_texts(panel, layout, series);
    (series.style == Style::band ? below : above)
        .push_back(curve + " " + style_of(series, colours[i]));
    if (series.style == Style::bars && !series.y_low.empty())
      above.push_back(text(curve, " using 3:2:($4-$3):(0) with vectors nohead linewidth 1.2 ",
                           paint(Colour::black)));
  }
  below.insert(below.end(), above.begin(), above.end());
  if (below.empty()) {
    const Box& box = layout.box;
    label("no data", {(box.left + box.right) / 2, (box.top + box.bottom) / 2}, "center");
    below.push_back("NaN");
  }
  out_ << "plot " << core::join(below, ", \\\n  ") << "\n"
       << "unset label\nunset arrow\nunset object\n";
}

/// Written as texts, since terminals differ in where they put the labels of ticks.
void Script::tick_labels(const Panel& panel, const PanelLayout& layout) {
  const double below = layout.box.bottom + tick_label_gap + (layout.upright ? 0 : line_height / 2);
  const double rightmost = layout.box.right + overhang;
  if (layout.has_x_labels)
    for (const Tick& tick : layout.x_ticks.major) {
      const double at = place(layout, panel, tick.value, layout.y.low).x;
      if (layout.upright)
        label(tick.label, {at, below}, "right rotate by 90");
      else
        label(tick.label, {std::min(at, rightmost - text_width(tick.label) / 2), below}, "center");
    }
  for (const Tick& tick : layout.y_ticks.major)
    label(tick.label,
          {layout.box.left - tick_label_gap, place(layout, panel, layout.x.low, tick.value).y},
          "right");
}

void Script::labels_above(const Panel& panel, const PanelLayout& layout) {
  const std::vector<Tick>& ticks = layout.x_ticks.major;
  for (std::size_t i = 0; i < std::min(ticks.size(), panel.x.above.size()); ++i)
    if (!ticks[i].label.empty())  // it had room
      label(panel.x.above[i],
            {place(layout, panel, ticks[i].value, layout.y.low).x, layout.above_y}, "center");
  if (!panel.x.above_label.empty())
    label(panel.x.above_label, {layout.box.left - tick_label_gap, layout.above_y}, "right");
}

void Script::texts(const PanelLayout& layout) {
  const Box& box = layout.box;
  const Point middle{(box.left + box.right) / 2, (box.top + box.bottom) / 2};
  label(layout.title, {box.left, layout.title_y}, "left font 'DejaVu Sans:Bold'");
  for (std::size_t i = 0; i < layout.y_label.size(); ++i)
    label(layout.y_label[i], {layout.y_label_x + static_cast<double>(i) * line_height, middle.y},
          "center rotate by 90");
  if (layout.has_x_labels) label(layout.x_label, {middle.x, layout.x_label_y}, "center");
}

void Script::panel(const Panel& panel, const PanelLayout& layout) {
  axes_of(panel, layout);
  tick_labels(panel, layout);
  labels_above(panel, layout);
  texts(layout);
  horizontal_lines(panel, layout);
  curves(panel, layout);
}

void Script::key_entry(const KeyEntry& entry) {
  const Point from = entry.place, to{from.x + key_sample_width, from.y};
  const Point middle{(from.x + to.x) / 2, from.y};
  const std::string paint = text(" rgb '#", hex(entry.colour), "'");
  label(entry.lines, {to.x + key_sample_gap, from.y}, "left");
  switch (entry.style) {
    case Style::band:
    case Style::segments:
      out_ << "set object rectangle from " << screen({from.x, from.y - 6}) << " to "
           << screen({to.x, to.y + 6}) << " front fillstyle "
           << (entry.style == Style::band ? "transparent solid 0.25" : "solid 0.85")
           << " noborder fillcolor" << paint << "\n";
      return;
    case Style::points:
      out_ << "set label '' at " << screen(middle) << " point pointtype "
           << gnuplot_mark(entry.mark) << " pointsize " << 0.5 * point_ << " linecolor" << paint
           << " front\n";
      if (entry.has_error_bars)
        out_ << "set arrow from " << screen({middle.x, middle.y - 7}) << " to "
             << screen({middle.x, middle.y + 7}) << " nohead front linewidth 1.2 linecolor" << paint
             << "\n";
      return;
    case Style::line:
    case Style::steps:
    case Style::dashed:
    case Style::squares:
    case Style::bars:
      break;
  }
  out_ << "set arrow from " << screen(from) << " to " << screen(to) << " nohead front "
       << (entry.style == Style::dashed ? "linewidth 1.5 dashtype (14,8)" : "linewidth 2")
       << " linecolor" << paint << "\n";
}

std::string Script::finish() {
  // Title and keys belong to no panel: a plot over the whole picture, with nothing else in it.
  out_ << "unset border\nunset tics\nunset grid\nunset logscale\n"
       << "set margins 0,0,0,0\nset xrange [0:1]\nset yrange [0:1]\nplot NaN\nunset multiplot\n";
  return out_.str();
}

}  // namespace

std::string gnuplot_script(const Figure& figure, const Composition& composition, Format format) {
  Script script(figure, format);
  for (std::size_t i = 0; i < figure.panels.size(); ++i)
    if (!composition.layout.panels[i].is_empty)
      script.panel(figure.panels[i], composition.layout.panels[i]);
  script.figure_title(composition.layout);
  for (const KeyEntry& entry : composition.keys) script.key_entry(entry);
  return script.finish();
}

}  // namespace sagips::analysis::drawing

#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sagips/core/config/config.hpp"

namespace sagips::analysis {

/// Colours that people with any colour vision tell apart.
/// source: Okabe and Ito, "Color Universal Design" (2008); grey added for what stands back
enum class Colour { automatic, black, blue, vermillion, green, purple, orange, sky, grey };

inline constexpr std::size_t curve_colours = 8;
/// The colour of the curve with that number, the same in all figures; behind the last comes the first.
Colour colour_of(std::size_t curve);

/// One curve or set of points. A number that is not finite, or not positive on a logarithmic axis,
/// leaves a gap.
struct Series {
  enum class Style {
    line,
    points,  ///< with error bars when there are y_low and y_high; tiny and pale when there are many
    steps,   ///< y[i] holds from x[i] to x[i + 1]: give the last edge the last height again
    band,    ///< semi-transparent between y_low and y_high; y is not used
    dashed,
    squares,  ///< of width 1 around (x, y), coloured by `values` and with these written in
    bars,     ///< lying, from 0 to x at y; y_low and y_high are the ends of error bars along x
    segments  ///< of lying bars: from y_low to y_high along x, at y; x is where they end
  };
  enum class Mark { disc, circle, triangle };
  std::string label{};  ///< empty: not in the key
  Style style = Style::line;
  std::vector<double> x{}, y{};
  std::vector<double> y_low{}, y_high{};  ///< ends of the error bars (points), edges of the band
  std::vector<double> values{};           ///< of squares, -1 (vermillion) to 1 (blue)
  std::vector<std::string> texts{};       ///< of squares, in place of the values; empty: these
  Colour colour = Colour::automatic;  ///< automatic: the next one that the panel does not use yet
  Mark mark = Mark::disc;             ///< of points

  void add(double at, double value) {
    x.push_back(at);
    y.push_back(value);
  }
  /// Adds the ends of the error bar, or of the band, at the last x.
  void add_ends(double low, double high) {
    y_low.push_back(low);
    y_high.push_back(high);
  }
};

/// What curves are compared with.
Series dashed_line(std::string label, Colour colour, std::vector<double> x, std::vector<double> y);

struct Axis {
  std::string label{};
  bool logarithmic = false;
  std::optional<double> lowest{}, highest{};  ///< empty: what the data need
  bool tick_labels = true;
  bool whole = false;                ///< it counts: ticks at whole numbers alone
  std::vector<std::string> names{};  ///< stand at 0, 1, ... instead of numbers
  std::vector<double> marks{};       ///< ticks at these numbers and nowhere else; empty: round ones
  /// The second labels of the x axis, above the panel at each tick, and what they count ("nodes");
  /// empty: none.
  std::vector<std::string> above{};
  std::string above_label{};
};

/// One pair of axes. A panel with neither title nor series leaves its place in the grid empty.
struct Panel {
  std::string title{};
  Axis x{}, y{};
  std::vector<Series> series{};
  std::vector<double> horizontal_lines{};  ///< thin grey lines, e.g. at zero
  double relative_height = 1;
};

/// Panels in a grid, filled row by row. Panels in one column of a `shared_x` figure stand close
/// together (data over ratio) over one x axis, labelled at the lowest.
/// Texts are plain UTF-8: no character has a special meaning.
struct Figure {
  std::string title{};
  std::vector<Panel> panels{};
  int columns = 1;
  bool shared_x = false;
  bool keeps_columns = false;  ///< a panel's place says what it is: narrow paper changes nothing
  int width = 1000, height = 700;  ///< pixels
  double scale = 1;                ///< what a pixel is on paper [1/96 inch]
  int dots_per_inch = 96;          ///< of the PNG
};

/// Where figures will stand.
struct FigureConfig {
  enum class Width { screen, column, page };
  Width width = Width::screen;
  double font_size = 8;  ///< of every text on paper [pt]

  void fields(core::FieldList& list);
  /// How many parameters a figure of their pairs has room for.
  std::size_t most_parameters() const { return width == Width::column ? 4 : 6; }
};

/// The figure as wide as a column (8.6 cm) or a page (17.8 cm) of a paper, its texts in the size
/// that was asked for, in fewer columns of panels where these would be too narrow. A square figure
/// that is smaller stays as it is; on a screen, every figure does.
Figure sized(Figure figure, const FigureConfig& config);

/// Writes `<stem>.svg`, `.png` and `.pdf` through gnuplot, and `<stem>.csv` with the numbers shown
/// (that one without gnuplot too).
///
/// The key stands in a corner that no curve crosses, or else above its panel; panels that explain
/// the same things get one key above all of them.
///
/// Returns false and sets `problem` to one line (what is missing, how to get it) when gnuplot is
/// not there.
/// throws: Error when the figure is malformed (lengths that differ, empty range, no panel) or
///         gnuplot refuses it; StorageError when files cannot be written
bool write_figure(const Figure& figure, const std::string& stem, std::string& problem);

/// The picture alone, as the text of an SVG file; empty, with `problem` set, without gnuplot.
/// throws: Error as above
std::optional<std::string> figure_svg(const Figure& figure, std::string& problem);

}  // namespace sagips::analysis

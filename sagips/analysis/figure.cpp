#include "sagips/analysis/figure.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "sagips/analysis/drawing/gnuplot.hpp"
#include "sagips/analysis/drawing/key.hpp"
#include "sagips/analysis/drawing/script.hpp"
#include "sagips/analysis/drawing/svg.hpp"
#include "sagips/core/config/effects.hpp"
#include "sagips/core/csv.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"

namespace sagips::analysis {
namespace {

using drawing::Format;

[[noreturn]] void refuse(const std::string& problem, const std::string& remedy) {
  throw core::Error(core::text("figure: ", problem, ". ", remedy));
}

void check(const Series& series, std::size_t panel, std::size_t index) {
  const std::string name = core::text("panel ", panel + 1, ", series ", index + 1,
                                      series.label.empty() ? "" : " '" + series.label + "'");
  const std::size_t count = series.x.size();
  const bool is_band = series.style == Series::Style::band;
  const bool is_squares = series.style == Series::Style::squares;
  const auto fits = [&](const std::vector<double>& numbers, bool may_miss) {
    return numbers.size() == count || (may_miss && numbers.empty());
  };
  const bool ends_come_in_pairs = series.y_low.size() == series.y_high.size();
  if (!fits(series.y, is_band) || !fits(series.y_low, !is_band) || !ends_come_in_pairs)
    refuse(core::text(name, " has ", count, " x, ", series.y.size(), " y, ", series.y_low.size(),
                      " lower and ", series.y_high.size(), " upper ends"),
           "Give each x its y (a band: both edges).");
  if (series.values.size() != (is_squares ? count : 0) ||
      (!series.texts.empty() && series.texts.size() != series.values.size()))
    refuse(core::text(name, " has ", count, " x and ", series.values.size(), " values"),
           "Give each square its value, and nothing else one.");
}

void check(const Figure& figure) {
  if (figure.columns < 1 || figure.width < 1 || figure.height < 1)
    refuse("columns, width and height must be positive", "Set all three.");
  bool has_panel = false;
  for (std::size_t i = 0; i < figure.panels.size(); ++i) {
    const Panel& panel = figure.panels[i];
    has_panel = has_panel || !panel.series.empty() || !panel.title.empty();
    if (!(panel.relative_height > 0))
      refuse(core::text("panel ", i + 1, " has no height"), "Set relative_height above 0.");
    for (std::size_t j = 0; j < panel.series.size(); ++j) check(panel.series[j], i, j);
  }
  if (!has_panel) refuse("has no panel", "Add one with a title or a series.");
}

std::string numbers_shown(const Figure& figure) {
  bool has_values = false, has_texts = false;
  for (const Panel& panel : figure.panels)
    for (const Series& series : panel.series) {
      has_values = has_values || !series.values.empty();
      has_texts = has_texts || !series.texts.empty();
    }
  std::string content = "panel,title,series,x,y,y_low,y_high";
  content += core::text(has_values ? ",value" : "", has_texts ? ",text\n" : "\n");
  const auto cell = [](const std::vector<double>& numbers, std::size_t i) {
    return numbers.empty() ? std::string{} : core::round_trip(numbers[i]);
  };
  for (std::size_t panel = 0; panel < figure.panels.size(); ++panel)
    for (const Series& series : figure.panels[panel].series) {
      const std::string start =
          core::text(panel + 1, ",", core::csv_cell(figure.panels[panel].title), ",",
                     core::csv_cell(series.label), ",");
      for (std::size_t i = 0; i < series.x.size(); ++i)
        content += core::text(start, core::round_trip(series.x[i]), ",", cell(series.y, i), ",",
                              cell(series.y_low, i), ",", cell(series.y_high, i),
                              has_values ? "," + cell(series.values, i) : "", has_texts ? "," : "",
                              series.texts.empty() ? "" : core::csv_cell(series.texts[i]), "\n");
    }
  return content;
}

// height: of all axes; what surrounds them comes on top
void set_height(Figure& figure, double height) {
  double around = figure.width;
  for (const double larger : {3.0, 1.6, 1.0}) {  // keys find their places by the room there is
    figure.height = static_cast<int>(around + larger * height);
    const drawing::Layout layout = drawing::compose(figure).layout;
    around = figure.height;
    for (std::size_t i = 0; i < layout.panels.size(); i += static_cast<std::size_t>(figure.columns))
      around -= layout.panels[i].box.height();
  }
}

const char* const no_gnuplot =
    "gnuplot is not on the PATH (it draws the figures). Install it, e.g. 'apt-get install "
    "gnuplot-nox'.";

}  // namespace

Colour colour_of(std::size_t curve) {
  constexpr std::array<Colour, curve_colours> colours{
      Colour::blue,   Colour::vermillion, Colour::green, Colour::purple,
      Colour::orange, Colour::sky,        Colour::black, Colour::grey};
  return colours[curve % colours.size()];
}

Series dashed_line(std::string label, Colour colour, std::vector<double> x, std::vector<double> y) {
  return {.label = std::move(label),
          .style = Series::Style::dashed,
          .x = std::move(x),
          .y = std::move(y),
          .colour = colour};
}

void FigureConfig::fields(core::FieldList& list) {
  list.choice("width", width,
              {{"screen", Width::screen}, {"column", Width::column}, {"page", Width::page}},
              "how wide figures are: screen, or a paper's column (8.6 cm) or page (17.8 cm), then "
              "with PNG at 300 dpi");
  list.add("font_size", font_size, "of every text in figures for paper [pt]",
           core::Range::between(7, 12));
  core::needs(list, width != Width::screen, "width=column or page", {"font_size"});
}

Figure sized(Figure figure, const FigureConfig& config) {
  // pixels; what surrounds the axes comes on top of their heights
  constexpr double narrowest = 190, lowest = 120, lowest_alone = 250, named = 22;
  constexpr double least_kept = 130;    // of a panel whose place counts: rather wider than paper
  constexpr double least_share = 0.35;  // of a panel's width on a screen: its key needs the rest
  constexpr double axes = 0.75;         // of a panel's height on a screen
  constexpr double highest = 1.8;       // of all axes, in widths of the figure
  check(figure);
  if (config.width == FigureConfig::Width::screen) return figure;
  const double points = (config.width == FigureConfig::Width::column ? 8.6 : 17.8) / 2.54 * 72;
  double width = std::floor(points / config.font_size * drawing::font_size);
  figure.scale = points / 0.75 / width;
  figure.dots_per_inch = 300;
  if (figure.width == figure.height) {
    figure.width = figure.height = std::min(figure.width, static_cast<int>(width));
    return figure;
  }
  const auto rows = [&] {
    return std::ceil(static_cast<double>(figure.panels.size()) / figure.columns);
  };
  const double panel_width = static_cast<double>(figure.width) / figure.columns;
  const double panel_height = axes * figure.height / rows();
  if (figure.keeps_columns)
    width = std::max(width, least_kept * figure.columns);
  else
    figure.columns =
        std::clamp(static_cast<int>(width / std::max(narrowest, least_share * panel_width)), 1,
                   figure.columns);
  figure.width = static_cast<int>(width);
  double least = lowest;
  for (const Panel& panel : figure.panels)
    least = std::max(least, named * static_cast<double>(panel.y.names.size()));
  const double smaller = std::min(1.0, width / figure.columns / panel_width);
  const double height = std::max(
      {std::min(smaller * panel_height * rows(), highest * width), least * rows(), lowest_alone});
  set_height(figure, height);
  return figure;
}

bool write_figure(const Figure& figure, const std::string& stem, std::string& problem) {
  check(figure);
  core::write_file(stem + ".csv", numbers_shown(figure));
  const drawing::Composition composition = drawing::compose(figure);
  std::vector<std::string> scripts;
  for (const Format format : {Format::svg, Format::png, Format::pdf})
    scripts.push_back(drawing::gnuplot_script(figure, composition, format));
  // one process: to start it and its fonts takes longer than most pictures
  const auto pictures = drawing::run_gnuplot(scripts);
  if (!pictures) {
    problem = no_gnuplot;
    return false;
  }
  core::write_file(stem + ".svg", drawing::tidy_svg((*pictures)[0], figure.scale));
  core::write_file(stem + ".png", (*pictures)[1]);
  core::write_file(stem + ".pdf", (*pictures)[2]);
  return true;
}

std::optional<std::string> figure_svg(const Figure& figure, std::string& problem) {
  check(figure);
  const auto pictures = drawing::run_gnuplot(
      {drawing::gnuplot_script(figure, drawing::compose(figure), Format::svg)});
  if (!pictures) {
    problem = no_gnuplot;
    return std::nullopt;
  }
  return drawing::tidy_svg(pictures->front(), figure.scale);
}

}  // namespace sagips::analysis

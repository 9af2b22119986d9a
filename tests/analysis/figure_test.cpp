#include "sagips/analysis/figure.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <limits>

#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"
#include "tests/core/message_of.hpp"
#include "tests/core/temporary_folder.hpp"

namespace sagips::analysis {
namespace {

using testing::message_of;
using testing::TemporaryFolder;
using Style = Series::Style;

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

Figure simple_figure() {
  Panel panel;
  panel.series.push_back({.label = "curve", .x = {0, 1, 2}, .y = {1, 4, 9}});
  return {.panels = {panel}, .width = 400, .height = 300};
}

/// The PATH as it was comes back with the end of the test.
class Path {
 public:
  explicit Path(const std::string& path) : before_(std::getenv("PATH")) {
    ::setenv("PATH", path.c_str(), 1);
  }
  ~Path() { ::setenv("PATH", before_.c_str(), 1); }
  Path(const Path&) = delete;
  Path& operator=(const Path&) = delete;

 private:
  std::string before_;
};

/// Width and height as a PNG file states them.
std::pair<unsigned, unsigned> png_size(const std::string& path) {
  const std::string bytes = core::read_file(path);
  EXPECT_EQ(bytes.substr(0, 8), "\x89PNG\r\n\x1a\n");
  const auto number = [&](std::size_t at) {
    unsigned value = 0;
    for (std::size_t i = at; i < at + 4; ++i)
      value = value << 8 | static_cast<unsigned char>(bytes.at(i));
    return value;
  };
  return {number(16), number(20)};
}

std::string drawn_svg(const Figure& figure) {
  const TemporaryFolder folder;
  std::string problem;
  EXPECT_TRUE(write_figure(figure, folder.file("figure"), problem)) << problem;
  return core::read_file(folder.file("figure.svg"));
}

TEST(Figure, IsWrittenAsVectorsPixelsAndNumbers) {
  const TemporaryFolder folder;
  std::string problem;
  ASSERT_TRUE(write_figure(simple_figure(), folder.file("curve"), problem)) << problem;
  EXPECT_EQ(folder.entries(), 4u);
  EXPECT_EQ(core::read_file(folder.file("curve.pdf")).substr(0, 5), "%PDF-");
  EXPECT_EQ(png_size(folder.file("curve.png")), std::make_pair(400u, 300u));
  const std::string svg = core::read_file(folder.file("curve.svg"));
  EXPECT_EQ(svg.rfind("<?xml", 0), 0u);
  EXPECT_NE(svg.find("</svg>"), std::string::npos);
  EXPECT_EQ(core::read_file(folder.file("curve.csv")),
            "panel,title,series,x,y,y_low,y_high\n"
            "1,,curve,0,1,,\n1,,curve,1,4,,\n1,,curve,2,9,,\n");
}

TEST(Figure, IsTheSameEachTimeItIsDrawn) {
  EXPECT_EQ(drawn_svg(simple_figure()), drawn_svg(simple_figure()));
}

TEST(Figure, IsAsWideAsAPapersColumnWithTextsOfTheirSize) {
  for (const auto& [width, centimetres] :
       {std::pair(FigureConfig::Width::column, 8.6), std::pair(FigureConfig::Width::page, 17.8)})
    for (const double font_size : {7.0, 10.0}) {
      Figure figure = simple_figure();
      for (int i = 0; i < 5; ++i) figure.panels.push_back(figure.panels[0]);
      figure.columns = 3;
      figure.width = 1100;
      figure = sized(figure, {width, font_size});
      EXPECT_EQ(figure.columns, width == FigureConfig::Width::page ? 3 : font_size > 9 ? 1 : 2);
      const TemporaryFolder folder;
      std::string problem;
      ASSERT_TRUE(write_figure(figure, folder.file("f"), problem)) << problem;
      EXPECT_NEAR(png_size(folder.file("f.png")).first, centimetres / 2.54 * 300, 1);
      const std::string svg = core::read_file(folder.file("f.svg"));
      double size = 0;
      ASSERT_EQ(std::sscanf(svg.c_str() + svg.find(" width=\""), " width=\"%lf", &size), 1);
      EXPECT_NEAR(size / 96 * 2.54, centimetres, 0.01);
      const double point = size / figure.width * 0.75;
      EXPECT_GE(13 * point, font_size);
      EXPECT_LT(13 * point, 1.02 * font_size);
    }
}

TEST(Figure, TakesTextsAsTheyAre) {
  Figure figure = simple_figure();
  figure.panels[0].title = "N_u^2 {it's} @x `id` \"q\" \\n % é";
  figure.panels[0].x.label = "a < b & c";
  const std::string svg = drawn_svg(figure);
  EXPECT_NE(svg.find("N_u^2 {it's} @x `id` \"q\" \\n % é"), std::string::npos);
  EXPECT_NE(svg.find("a &lt; b &amp; c"), std::string::npos);
}

TEST(Figure, DrawsEveryStyleOnEveryKindOfAxis) {
  for (const bool logarithmic : {false, true}) {
    Panel panel;
    panel.title = "all styles";
    panel.x = {.label = "x", .logarithmic = logarithmic};
    panel.y = {.label = "y", .logarithmic = logarithmic};
    panel.horizontal_lines = {2, -2};
    for (const Style style : {Style::line, Style::points, Style::steps, Style::dashed})
      panel.series.push_back({.label = "s", .style = style, .x = {1, 10, 100}, .y = {1, 5, 2}});
    panel.series.push_back({.style = Style::points,
                            .x = {1, 10, 100},
                            .y = {1, 5, 2},
                            .y_low = {-1, 4, 1},
                            .y_high = {3, 6, 3}});
    panel.series.push_back(
        {.style = Style::band, .x = {1, 10}, .y_low = {-1, 2}, .y_high = {3, 4}});
    EXPECT_NE(drawn_svg({.panels = {panel}}).find("all styles"), std::string::npos);
  }
}

TEST(Figure, InterruptsCurvesAtGaps) {
  const auto pieces = [](double middle) {
    Panel panel;
    panel.series.push_back({.x = {1, 2, 3, 4, 5}, .y = {1, 2, middle, 2, 1}});
    const std::string svg = drawn_svg({.panels = {panel}, .width = 400, .height = 300});
    // The curve is the only thing in this colour; each piece of a path starts with an M.
    const auto begin = svg.find("<path stroke='rgb(  0, 114, 178)'");
    const std::string path = svg.substr(begin, svg.find("/>", begin) - begin);
    return std::count(path.begin(), path.end(), 'M');
  };
  EXPECT_EQ(pieces(3), 1);
  EXPECT_EQ(pieces(not_a_number), 2);
}

TEST(Figure, SaysWhenAPanelHasNoData) {
  Panel panel;
  panel.series.push_back({.label = "nothing", .x = {1, 2}, .y = {not_a_number, not_a_number}});
  EXPECT_NE(drawn_svg({.panels = {panel}}).find("no data"), std::string::npos);
  panel.series[0].x.clear();
  panel.series[0].y.clear();
  EXPECT_NE(drawn_svg({.panels = {panel}}).find("no data"), std::string::npos);
}

TEST(Figure, MarksAnAxisWhereItIsAskedTo) {
  Figure figure = simple_figure();
  figure.panels[0].x = {.label = "ranks", .logarithmic = true, .marks = {1, 2, 7}};
  figure.panels[0].series[0].x = {1, 2, 4};
  const std::string svg = drawn_svg(figure);
  for (const char* label : {">1</text>", ">2</text>"})
    EXPECT_NE(svg.find(label), std::string::npos) << label;
  EXPECT_EQ(svg.find(">7</text>"), std::string::npos);  // beyond the end of the axis
}

TEST(Figure, LeavesPlacesOfEmptyPanelsEmpty) {
  const Panel panel = simple_figure().panels[0];
  const std::string svg = drawn_svg({.panels = {panel, {}, panel, panel}, .columns = 2});
  EXPECT_EQ(svg.find("no data"), std::string::npos);
}

TEST(Figure, RefusesLengthsThatDiffer) {
  const TemporaryFolder folder;
  std::string problem;
  Figure figure = simple_figure();
  figure.panels[0].series[0].y.pop_back();
  const auto message =
      message_of<core::Error>([&] { write_figure(figure, folder.file("figure"), problem); });
  EXPECT_EQ(message,
            "figure: panel 1, series 1 'curve' has 3 x, 2 y, 0 lower and 0 upper ends. Give each x "
            "its y (a band: both edges).");
  EXPECT_EQ(folder.entries(), 0u);
}

TEST(Figure, RefusesWhatIsMalformed) {
  const TemporaryFolder folder;
  std::string problem;
  const auto refuses = [&](const Figure& figure) {
    EXPECT_THROW(write_figure(figure, folder.file("figure"), problem), core::Error);
  };
  refuses({});
  refuses({.panels = {Panel{}}});
  Figure figure = simple_figure();
  figure.columns = 0;
  refuses(figure);
  figure = simple_figure();
  figure.panels[0].relative_height = 0;
  refuses(figure);
  figure = simple_figure();
  figure.panels[0].series[0].y_low = {1, 2, 3};
  refuses(figure);
  figure = simple_figure();
  figure.panels[0].series[0].style = Style::band;
  refuses(figure);
  figure = simple_figure();
  figure.panels[0].y.lowest = std::numeric_limits<double>::infinity();
  refuses(figure);
}

TEST(Figure, SaysWhatIsMissingWithoutGnuplot) {
  const TemporaryFolder folder;
  const Path nowhere(folder.file("empty"));
  std::string problem;
  EXPECT_FALSE(write_figure(simple_figure(), folder.file("figure"), problem));
  EXPECT_NE(problem.find("gnuplot is not on the PATH"), std::string::npos);
  EXPECT_NE(problem.find("gnuplot-nox"), std::string::npos);
  EXPECT_EQ(problem.find('\n'), std::string::npos);
  EXPECT_TRUE(std::filesystem::exists(folder.file("figure.csv")));
  EXPECT_FALSE(std::filesystem::exists(folder.file("figure.svg")));
}

TEST(Figure, PassesOnWhatGnuplotComplainsAbout) {
  const TemporaryFolder folder;
  const auto program =
      folder.make("gnuplot",
                  "#!/bin/sh\necho >&2\necho 'gnuplot> set terminal' >&2\n"
                  "echo '         line 1: unknown or ambiguous terminal type' >&2\nexit 1\n");
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const Path fake(folder.path());
  std::string problem;
  const auto message = message_of<core::Error>(
      [&] { write_figure(simple_figure(), folder.file("figure"), problem); });
  EXPECT_NE(message.find("unknown or ambiguous terminal type"), std::string::npos) << message;
  EXPECT_FALSE(std::filesystem::exists(folder.file("figure.svg")));
}

TEST(Figure, RefusesAPlaceWhereItCannotWrite) {
  const TemporaryFolder folder;
  std::string problem;
  EXPECT_THROW(write_figure(simple_figure(), folder.file("missing/figure"), problem),
               core::StorageError);
}

}  // namespace
}  // namespace sagips::analysis

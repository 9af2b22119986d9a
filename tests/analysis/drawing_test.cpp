#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <regex>

#include "sagips/analysis/drawing/gnuplot.hpp"
#include "sagips/analysis/drawing/key.hpp"
#include "sagips/analysis/drawing/layout.hpp"
#include "sagips/analysis/drawing/script.hpp"
#include "sagips/analysis/drawing/ticks.hpp"
#include "sagips/core/error.hpp"
#include "tests/core/message_of.hpp"

namespace sagips::analysis::drawing {
namespace {

using testing::message_of;
using Style = Series::Style;

std::vector<std::string> labels(const Ticks& ticks) {
  std::vector<std::string> all;
  for (const Tick& tick : ticks.major) all.push_back(tick.label);
  return all;
}
using Labels = std::vector<std::string>;

TEST(LinearTicks, StandAtRoundNumbers) {
  EXPECT_EQ(labels(linear_ticks({0, 10}, 6)), (Labels{"0", "2", "4", "6", "8", "10"}));
  EXPECT_EQ(labels(linear_ticks({-0.13, 0.27}, 5)), (Labels{"−0.1", "0", "0.1", "0.2"}));
  EXPECT_EQ(labels(linear_ticks({70, 110}, 5)), (Labels{"70", "80", "90", "100", "110"}));
}

TEST(LinearTicks, NeverExceedTheirNumber) {
  for (int step = 0; step < 79; ++step) {
    const double high = std::pow(1.07, step);  // up to 200
    for (int most = 2; most < 12; ++most) {
      const auto count = linear_ticks({0, high}, most).major.size();
      EXPECT_LE(count, static_cast<std::size_t>(most)) << high;
      EXPECT_GE(count, 1u) << high;
    }
  }
}

TEST(LinearTicks, AreAtLeastTwo) {
  for (int most = 2; most < 8; ++most)
    for (int place = 0; place < 100; ++place)
      for (int size = 0; size < 50; ++size) {
        const double low = 0.01 + 0.0937 * place, length = 0.013 * std::pow(1.17, size);
        const Ticks ticks = linear_ticks({low, low + length}, most);
        EXPECT_GE(ticks.major.size(), 2u) << low << " " << length << " " << most;
        EXPECT_LE(ticks.major.size(), static_cast<std::size_t>(most));
        EXPECT_LE(ticks.major.back().value, low + length * (1 + 1e-9));
      }
}

TEST(LinearTicks, WriteVeryLargeAndSmallNumbersAsPowers) {
  EXPECT_EQ(labels(linear_ticks({0, 4e6}, 3)), (Labels{"0", "2×10⁶", "4×10⁶"}));
  EXPECT_EQ(labels(linear_ticks({0, 2.1e-7}, 3)), (Labels{"0", "10⁻⁷", "2×10⁻⁷"}));
  EXPECT_EQ(labels(linear_ticks({-2e6, 0}, 2)), (Labels{"−2×10⁶", "0"}));
}

TEST(LinearTicks, HaveTheDecimalsOfTheirStep) {
  EXPECT_EQ(labels(linear_ticks({0.9, 1.15}, 3)), (Labels{"0.9", "1.0", "1.1"}));
}

TEST(LogarithmicTicks, StandAtPowersOfTen) {
  const Ticks ticks = logarithmic_ticks({0.5, 2000}, 5);
  EXPECT_EQ(labels(ticks), (Labels{"1", "10", "100", "1000"}));
  // 0.5 .. 0.9, eight between each pair of powers, 2000.
  EXPECT_EQ(ticks.minor.size(), 5u + 3 * 8 + 1);
}

TEST(LogarithmicTicks, LeaveOutPowersWhenThereAreMany) {
  EXPECT_EQ(labels(logarithmic_ticks({1e-6, 1e6}, 5)),
            (Labels{"10⁻⁶", "10⁻³", "10⁰", "10³", "10⁶"}));
}

TEST(LogarithmicTicks, FillAShortAxis) {
  EXPECT_EQ(labels(logarithmic_ticks({0.8, 30}, 6)), (Labels{"1", "2", "5", "10", "20"}));
  EXPECT_EQ(labels(logarithmic_ticks({91, 93}, 3)), (Labels{"91", "92", "93"}));
}

Panel line_panel(std::vector<double> x, std::vector<double> y) {
  Panel panel;
  panel.series.push_back({.label = "curve", .x = std::move(x), .y = std::move(y)});
  return panel;
}

TEST(PanelRanges, HoldAllNumbersThatCanBeDrawn) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Panel panel = line_panel({1, 2, 3, 4}, {5, nan, 7, std::numeric_limits<double>::infinity()});
  panel.horizontal_lines = {10};
  const auto range = panel_ranges({.panels = {panel}}).front();
  EXPECT_EQ(range.x.low, 1);
  EXPECT_EQ(range.x.high, 4);
  EXPECT_LT(range.y.low, 5);
  EXPECT_GT(range.y.high, 10);
  EXPECT_LT(range.y.high, 11);
}

TEST(PanelRanges, LeaveOutWhatALogarithmicAxisCannotShow) {
  Panel panel = line_panel({0, 1, 100}, {-1, 0.01, 1});
  panel.x.logarithmic = panel.y.logarithmic = true;
  const auto range = panel_ranges({.panels = {panel}}).front();
  EXPECT_EQ(range.x.low, 1);
  EXPECT_GT(range.y.low, 0.005);
  EXPECT_LT(range.y.low, 0.01);
}

TEST(PanelRanges, AreReasonableWithoutNumbers) {
  Panel panel = line_panel({1}, {5});
  EXPECT_LT(panel_ranges({.panels = {panel}})[0].y.low, 5);
  EXPECT_GT(panel_ranges({.panels = {panel}})[0].y.high, 5);
  panel = line_panel({}, {});
  panel.y.logarithmic = true;
  const auto range = panel_ranges({.panels = {panel}}).front();
  EXPECT_LT(range.x.low, range.x.high);
  EXPECT_GT(range.y.low, 0);
}

TEST(PanelRanges, AreCommonToAColumnThatSharesItsAxis) {
  const Figure figure{.panels = {line_panel({0, 1}, {0, 1}), line_panel({5, 9}, {0, 1}),
                                 line_panel({0, 3}, {0, 1}), line_panel({2, 6}, {0, 1})},
                      .columns = 2,
                      .shared_x = true};
  const auto ranges = panel_ranges(figure);
  EXPECT_EQ(ranges[0].x.high, 3);
  EXPECT_EQ(ranges[2].x.high, 3);
  EXPECT_EQ(ranges[1].x.low, 2);
  EXPECT_EQ(ranges[3].x.high, 9);
}

TEST(PanelRanges, RefuseFixedEndsThatMakeNoAxis) {
  Panel panel = line_panel({0, 1}, {0, 1});
  panel.y.lowest = 3;
  panel.y.highest = 2;
  EXPECT_THROW(panel_ranges({.panels = {panel}}), core::Error);
  panel.y = {.logarithmic = true, .lowest = 0};
  EXPECT_THROW(panel_ranges({.panels = {panel}}), core::Error);
  panel.y = {.lowest = std::numeric_limits<double>::quiet_NaN()};
  EXPECT_THROW(panel_ranges({.panels = {panel}}), core::Error);
}

TEST(PanelRanges, LeaveOutNumbersThatNoAxisCanSpan) {
  const Panel panel = line_panel({0, 1, 2, 3}, {-1e308, 1e308, 1, 2});
  const auto range = panel_ranges({.panels = {panel}}).front();
  EXPECT_GT(range.y.low, 0.9);
  EXPECT_LT(range.y.high, 2.1);
}

TEST(PanelRanges, SurviveNumbersBeyondAFixedEnd) {
  Panel panel = line_panel({0, 1}, {-5, -4});
  panel.y.lowest = 0;
  const auto range = panel_ranges({.panels = {panel}}).front();
  EXPECT_EQ(range.y.low, 0);
  EXPECT_GT(range.y.high, 0);
}

TEST(Layout, GivesRatioPanelsTheirShareOfTheHeight) {
  Panel upper = line_panel({0, 1}, {0, 1}), lower = line_panel({0, 1}, {0, 1});
  upper.relative_height = 3;
  const auto layout =
      lay_out({.panels = {upper, lower}, .shared_x = true}, {0, std::vector<int>(2, 0)});
  const Box above = layout.panels[0].box, below = layout.panels[1].box;
  EXPECT_NEAR(above.height(), 3 * below.height(), 1e-9);
  EXPECT_EQ(above.left, below.left);
  EXPECT_EQ(above.right, below.right);
  EXPECT_FALSE(layout.panels[0].has_x_labels);
  EXPECT_TRUE(layout.panels[1].has_x_labels);
  EXPECT_LT(below.top - above.bottom, 20);
}

TEST(Layout, KeepsPanelsInsideThePictureAndApart) {
  Figure figure{.title = "title", .columns = 3};
  for (int i = 0; i < 6; ++i) {
    figure.panels.push_back(line_panel({0, 1}, {0, 1e5}));
    figure.panels.back().x = {.label = "x"};
    figure.panels.back().y = {.label = "y"};
  }
  const auto layout = lay_out(figure, {1, std::vector<int>(6, 0)});
  for (std::size_t i = 0; i < 6; ++i) {
    const Box box = layout.panels[i].box;
    EXPECT_GT(box.left, 0);
    EXPECT_GT(box.top, 0);
    EXPECT_LT(box.right, figure.width);
    EXPECT_LT(box.bottom, figure.height);
    if (i % 3 > 0) {
      EXPECT_GT(box.left, layout.panels[i - 1].box.right);
    }
    if (i >= 3) {
      EXPECT_GT(box.top, layout.panels[i - 3].box.bottom);
    }
  }
}

TEST(Wrapped, BreaksAtSpacesAndLongWordsInside) {
  EXPECT_EQ(wrapped("", 10), Labels{});
  EXPECT_EQ(wrapped("as it is", 1000), Labels{"as it is"});
  EXPECT_EQ(wrapped("one two three", text_width("one two")), (Labels{"one two", "three"}));
  EXPECT_EQ(wrapped("optimizer.learning_rate", text_width("optimizer.lear")),
            (Labels{"optimizer.", "learning_rate"}));
  for (const std::string& line : wrapped("Cramér-Rao_αβγδεζηθ and more", 40)) {
    EXPECT_LE(text_width(line), 40);
    EXPECT_NE(line[0] & 0xC0, 0x80) << "a letter of two bytes is torn";
  }
}

TEST(Layout, NamesWhatNeighboursShareOnce) {
  Figure figure{.columns = 2};
  for (const char* label : {"a", "a", "b", "c"}) {
    figure.panels.push_back(line_panel({0, 1}, {0, 1}));
    figure.panels.back().y.label = label;
  }
  const auto layout = lay_out(figure, {0, std::vector<int>(4, 0)});
  EXPECT_EQ(layout.panels[0].y_label, Labels{"a"});
  EXPECT_EQ(layout.panels[1].y_label, Labels{});
  EXPECT_EQ(layout.panels[2].y_label, Labels{"b"});
  EXPECT_EQ(layout.panels[3].y_label, Labels{"c"});
}

TEST(Layout, TurnsNamesThatHaveNoRoomSideBySide) {
  Figure figure{.panels = {line_panel({0, 1, 2}, {0, 1, 2})}, .width = 400, .height = 300};
  Axis& x = figure.panels[0].x;
  x.names = {"a", "b", "c"};
  EXPECT_FALSE(lay_out(figure, {0, {0}}).panels[0].upright);
  x.names = {"a_long_parameter_name", "b", "c"};
  const PanelLayout panel = lay_out(figure, {0, {0}}).panels[0];
  EXPECT_TRUE(panel.upright);
  EXPECT_LT(panel.box.bottom, 300 - text_width(x.names[0]));
}

TEST(Layout, LeavesOutLabelsOfMarksThatStandTooClose) {
  Figure figure{.panels = {line_panel({1, 2000}, {0, 1})}, .width = 200, .height = 200};
  figure.panels[0].x.marks = {1, 2, 1000, 2000};
  const Ticks ticks = lay_out(figure, {0, {0}}).panels[0].x_ticks;
  EXPECT_EQ(labels(ticks), (Labels{"1", "", "1000", "2000"}));
}

TEST(Layout, RefusesAPictureTooSmallForItsPanels) {
  const Figure figure{.panels = {line_panel({0, 1}, {0, 1})}, .width = 60, .height = 40};
  EXPECT_THROW(lay_out(figure, {0, {0}}), core::Error);
}

/// Whether a number of the first series lies under the only key.
bool key_covers_a_point(const Figure& figure, const Composition& composition) {
  const KeyEntry& key = composition.keys.front();
  const double right = key.place.x + key_sample_width + key_sample_gap + text_width(key.label);
  const Series& series = figure.panels[0].series[0];
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    const Point point =
        place(composition.layout.panels[0], figure.panels[0], series.x[i], series.y[i]);
    if (point.x > key.place.x && point.x < right &&
        std::abs(point.y - key.place.y) < line_height / 2)
      return true;
  }
  return false;
}

bool is_inside(Point point, const Box& box) {
  return point.x > box.left && point.x < box.right && point.y > box.top && point.y < box.bottom;
}

std::vector<double> numbers(double from, double to, int count) {
  std::vector<double> all;
  for (int i = 0; i < count; ++i) all.push_back(from + (to - from) * i / (count - 1));
  return all;
}

TEST(Keys, StandInACornerThatNoCurveCrosses) {
  const auto up = numbers(0, 1, 200), down = numbers(1, 0, 200);
  const Figure rising{.panels = {line_panel(up, up)}}, falling{.panels = {line_panel(up, down)}};
  for (const Figure& figure : {rising, falling}) {
    const Composition composition = compose(figure);
    ASSERT_EQ(composition.keys.size(), 1u);
    EXPECT_TRUE(is_inside(composition.keys[0].place, composition.layout.panels[0].box));
    EXPECT_FALSE(key_covers_a_point(figure, composition));
  }
}

TEST(Keys, StandAboveAPanelThatIsFull) {
  // A saw that crosses all corners.
  const auto x = numbers(0, 1, 400);
  std::vector<double> y;
  for (std::size_t i = 0; i < x.size(); ++i) y.push_back(i % 2 == 0 ? 0 : 1);
  const Figure figure{.panels = {line_panel(x, y)}};
  const Composition composition = compose(figure);
  EXPECT_LT(composition.keys[0].place.y, composition.layout.panels[0].box.top);
  EXPECT_GT(composition.keys[0].place.y, 0);
}

TEST(Keys, AreSharedByPanelsThatExplainTheSame) {
  const auto x = numbers(0, 1, 10);
  const Figure figure{.panels = {line_panel(x, x), line_panel(x, x)}, .columns = 2};
  const Composition composition = compose(figure);
  ASSERT_EQ(composition.keys.size(), 1u);
  EXPECT_LT(composition.keys[0].place.y, composition.layout.panels[0].box.top);
}

TEST(Keys, StayWithTheirPanelsWhenOneLabelMeansTwoThings) {
  const auto x = numbers(0, 1, 10);
  Figure figure{.panels = {line_panel(x, x), line_panel(x, x)}, .columns = 2};
  figure.panels[1].series[0].style = Style::dashed;
  EXPECT_EQ(compose(figure).keys.size(), 2u);
}

TEST(Keys, StayWithTheirPanelsWhenOneLookMeansTwoThings) {
  const auto x = numbers(0, 1, 10);
  Figure figure{.panels = {line_panel(x, x), line_panel(x, x), line_panel(x, x)}, .columns = 2};
  figure.panels[1].series[0].label = "another";
  EXPECT_EQ(compose(figure).keys.size(), 3u);
}

TEST(Keys, BreakLabelsThatAreWiderThanTheirPlace) {
  const auto x = numbers(0, 1, 10);
  Figure figure{.panels = {line_panel(x, x), line_panel(x, x)}, .columns = 1, .width = 200};
  for (Panel& panel : figure.panels) panel.series[0].label = "a label of seven words, or more";
  const Composition composition = compose(figure);
  ASSERT_EQ(composition.keys.size(), 1u);
  EXPECT_GT(composition.keys[0].lines.size(), 1u);
  for (const std::string& line : composition.keys[0].lines) EXPECT_LT(text_width(line), 160);
  const double last = composition.keys[0].place.y +
                      line_height * static_cast<double>(composition.keys[0].lines.size() - 1);
  EXPECT_LT(last, composition.layout.panels[0].box.top);
}

TEST(Colours, AreTakenInTurnAndNotTwice) {
  Panel panel;
  panel.series = {{.colour = Colour::blue}, {}, {}};
  EXPECT_EQ(series_colours(panel),
            (std::vector<Colour>{Colour::blue, Colour::vermillion, Colour::green}));
}

TEST(Gnuplot, ReturnsWhatItDraws) {
  const auto pictures = run_gnuplot({"set terminal svg\nplot [0:1] x\n"});
  ASSERT_TRUE(pictures) << "gnuplot is not installed";
  ASSERT_EQ(pictures->size(), 1u);
  EXPECT_NE(pictures->front().find("<svg"), std::string::npos);
}

TEST(Gnuplot, DrawsAFiguresFormatsTogetherAsEachAlone) {
  Figure figure;
  figure.title = "one picture";
  figure.panels = {{.title = "logarithmic",
                    .x = {.label = "x"},
                    .y = {.label = "y", .logarithmic = true},
                    .series = {{.label = "curve", .x = {1, 2, 3}, .y = {10, 100, 1000}},
                               {.label = "measured",
                                .style = Series::Style::points,
                                .x = {1, 2},
                                .y = {20, 200},
                                .y_low = {10, 100},
                                .y_high = {30, 300}}},
                    .horizontal_lines = {50}}};
  const Composition composition = compose(figure);
  std::vector<std::string> scripts;
  for (const Format format : {Format::svg, Format::png, Format::pdf})
    scripts.push_back(gnuplot_script(figure, composition, format));
  const auto together = run_gnuplot(scripts);
  ASSERT_TRUE(together) << "gnuplot is not installed";
  // cairo writes the second in which a PDF was made
  const auto undated = [](const std::string& picture) {
    return std::regex_replace(picture, std::regex("/CreationDate [(][^)]*[)]"), "");
  };
  for (std::size_t i = 0; i < scripts.size(); ++i)
    EXPECT_EQ(undated((*together)[i]), undated(run_gnuplot({scripts[i]})->front())) << i;
}

TEST(Gnuplot, IsQuotedWithItsFirstComplaint) {
  const auto message =
      message_of<core::Error>([] { run_gnuplot({"set terminal svg\nplot nonsense(\nplot x\n"}); });
  EXPECT_NE(message.find("figure: gnuplot failed: invalid expression"), std::string::npos)
      << message;
}

TEST(Gnuplot, TakesAScriptLargerThanAPipe) {
  std::string script = "set terminal svg\n$data << END\n";
  for (int i = 0; i < 100'000; ++i) script += std::to_string(i) + " 1\n";
  EXPECT_THROW(run_gnuplot({script + "END\nnonsense\n"}), core::Error);
}

}  // namespace
}  // namespace sagips::analysis::drawing

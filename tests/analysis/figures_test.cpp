#include <gtest/gtest.h>

#include <cmath>

#include "sagips/analysis/figures/correlations.hpp"
#include "sagips/analysis/figures/densities.hpp"
#include "sagips/analysis/figures/observable.hpp"
#include "sagips/analysis/figures/over_time.hpp"
#include "sagips/analysis/figures/parameter_pairs.hpp"
#include "sagips/core/error.hpp"
#include "tests/core/temporary_folder.hpp"

namespace sagips::analysis {
namespace {

using record::EpochDone;
using record::Evaluated;
using record::Event;
using record::ParameterResult;
using testing::TemporaryFolder;
using Style = Series::Style;
using Numbers = std::vector<double>;

void expect_drawable(const Figure& figure) {
  const TemporaryFolder folder;
  std::string problem;
  EXPECT_TRUE(write_figure(figure, folder.file("figure"), problem)) << problem;
}

const Series& series_named(const Panel& panel, const std::string& label) {
  for (const Series& series : panel.series)
    if (series.label == label) return series;
  throw std::runtime_error("no series '" + label + "'");
}

/// A known, an unknown and a fixed parameter at 0 s and at 60 s.
std::vector<Event> two_evaluations(double last_time_s = 60) {
  return {Evaluated{0,
                    0,
                    {{"a_u", "", -0.5, false, -0.4, 0.05, 0.2},
                     {"mass", "GeV", std::nullopt, false, 95, 2, std::nullopt},
                     {"width", "GeV", std::nullopt, true, 2.5, 0, std::nullopt}},
                    {{"ks_1", 0.4}}},
          Evaluated{100,
                    last_time_s,
                    {{"a_u", "", -0.5, false, -0.49, 0.01, 0.02},
                     {"mass", "GeV", std::nullopt, false, 91, 0.5, std::nullopt},
                     {"width", "GeV", std::nullopt, true, 2.5, 0, std::nullopt}},
                    {{"ks_1", 0.1}}}};
}

TEST(ResidualsOverTime, ShowsResidualsOfKnownParametersInPerCent) {
  const Figure figure = residuals_over_time(two_evaluations(), {});
  ASSERT_EQ(figure.panels.size(), 2u);  // the fixed one has none
  const Panel& panel = figure.panels[0];
  EXPECT_EQ(panel.title, "a_u");
  const Series& line = series_named(panel, "residual (true − recovered) / true");
  EXPECT_EQ(line.x, (Numbers{0, 60}));
  EXPECT_NEAR(line.y[0], 20, 1e-12);
  EXPECT_NEAR(line.y[1], 2, 1e-12);
  const Series& band = series_named(panel, "± spread over noise vectors");
  EXPECT_NEAR(band.y_low[0], 10, 1e-12);
  EXPECT_NEAR(band.y_high[0], 30, 1e-12);
  EXPECT_EQ(panel.horizontal_lines, Numbers{0});
  expect_drawable(figure);
}

TEST(ResidualsOverTime, ShowsTheFloorOnBothSides) {
  ParameterResult reference;
  reference.name = "a_u";
  reference.floor = 0.035;
  const Panel panel = residuals_over_time(two_evaluations(), {reference}).panels[0];
  EXPECT_NEAR(series_named(panel, "± Cramér-Rao floor").y[0], 3.5, 1e-12);
  EXPECT_NEAR(panel.series[1].y[0], -3.5, 1e-12);
}

TEST(ResidualsOverTime, ShowsValuesOfUnknownParametersWithTheirFit) {
  ParameterResult reference;
  reference.name = "mass";
  reference.fit_value = 91.05;
  reference.fit_error = 0.03;
  const Figure figure = residuals_over_time(two_evaluations(), {reference});
  const Panel& panel = figure.panels[1];
  EXPECT_EQ(panel.y.label, "value [GeV]");
  EXPECT_EQ(series_named(panel, "recovered value").y, (Numbers{95, 91}));
  const Series& fit = series_named(panel, "fit of the same data ± error");
  EXPECT_NEAR(fit.y_low[0], 91.02, 1e-12);
  EXPECT_NEAR(fit.y_high[1], 91.08, 1e-12);
  expect_drawable(figure);
}

TEST(ResidualsOverTime, ChoosesAHandyUnitOfTime) {
  const auto label = [](double last) {
    return residuals_over_time(two_evaluations(last), {}).panels[0].x.label;
  };
  EXPECT_EQ(label(100), "training time [s]");
  EXPECT_EQ(label(1000), "training time [min]");
  EXPECT_EQ(label(100'000), "training time [h]");
}

TEST(ResidualsOverTime, PutsSixPanelsIntoTwoRows) {
  Evaluated evaluated;
  for (const char* name : {"a", "b", "c", "d", "e", "f"})
    evaluated.parameters.push_back({name, "", 1.0, false, 0.9, 0.1, 0.1});
  const Figure figure = residuals_over_time({evaluated}, {});
  EXPECT_EQ(figure.columns, 3);
  EXPECT_TRUE(figure.shared_x);
  EXPECT_EQ(figure.panels[0].y.label, "residual [%]");
  expect_drawable(figure);
}

TEST(FiguresOverTime, AreDrawableWithoutAnyEvent) {
  expect_drawable(residuals_over_time({}, {}));
  expect_drawable(losses_over_time({}));
  expect_drawable(distances_over_time({}));
}

TEST(LossesOverTime, ShowsFewEpochsOneByOne) {
  const Figure figure = losses_over_time({EpochDone{1, 0.5, 0, {{"generator", 1.5}}},
                                          EpochDone{2, 1.0, 0, {{"generator", 1.2}}},
                                          EpochDone{3, 1.5, 0, {{"generator", 1.1}}}});
  const Series& line = series_named(figure.panels[0], "generator");
  EXPECT_EQ(line.x, (Numbers{0.5, 1.0, 1.5}));
  EXPECT_EQ(line.y, (Numbers{1.5, 1.2, 1.1}));
  EXPECT_TRUE(figure.panels[0].x.logarithmic);
  EXPECT_EQ(figure.panels[0].horizontal_lines, Numbers{1});
  expect_drawable(figure);
}

TEST(LossesOverTime, JoinsManyEpochsToMeanAndExtremes) {
  std::vector<Event> metrics;
  // Within 1 % of 10 s: one group. 1 and 3 in turn: mean 2.
  for (int i = 0; i < 100; ++i) {
    const double loss = i % 2 == 0 ? 1 : 3;
    metrics.emplace_back(EpochDone{i + 1, 10 + 0.0001 * i, 0, {{"generator", loss}}});
  }
  const Panel panel = losses_over_time(metrics).panels[0];
  const Series& line = series_named(panel, "generator");
  ASSERT_EQ(line.y.size(), 1u);
  EXPECT_DOUBLE_EQ(line.y[0], 2);
  EXPECT_EQ(panel.series[0].y_low, Numbers{1});
  EXPECT_EQ(panel.series[0].y_high, Numbers{3});
}

TEST(DistancesOverTime, UsesALogarithmicAxisForLargeChanges) {
  EXPECT_FALSE(distances_over_time(two_evaluations()).panels[0].y.logarithmic);
  auto metrics = two_evaluations();
  std::get<Evaluated>(metrics[1]).distances[0].value = 0.01;
  const Figure figure = distances_over_time(metrics);
  EXPECT_TRUE(figure.panels[0].y.logarithmic);
  EXPECT_EQ(series_named(figure.panels[0], "ks_1").y, (Numbers{0.4, 0.01}));
  expect_drawable(figure);
}

TEST(ObservableWithRatio, ScalesTheModelToTheData) {
  Histogram data(0, 2, 2), model(0, 2, 2);
  data.fill(Numbers{0.5, 0.5, 0.5, 0.5, 1.5, 9});  // 4, 1, and one outside
  model.fill(Numbers{0.5, 0.5, 1.5});              // 2, 1: times 2
  const Figure figure = observable_with_ratio(data, model, "mass", "GeV");
  EXPECT_EQ(series_named(figure.panels[0], "model").y, (Numbers{4, 2, 2}));
  EXPECT_EQ(series_named(figure.panels[0], "model").x, (Numbers{0, 1, 2}));
  const Series& points = series_named(figure.panels[0], "data");
  EXPECT_EQ(points.y, (Numbers{4, 1}));
  EXPECT_EQ(points.y_low, (Numbers{2, 0}));
  const Series& ratio = figure.panels[1].series[1];
  EXPECT_EQ(ratio.y, (Numbers{1, 0.5}));
  EXPECT_EQ(ratio.y_high, (Numbers{1.5, 1}));
  EXPECT_EQ(figure.panels[0].y.label, "events / 1 GeV");
  EXPECT_EQ(figure.panels[1].x.label, "mass [GeV]");
  EXPECT_EQ(figure.panels[0].relative_height, 3 * figure.panels[1].relative_height);
  expect_drawable(figure);
}

TEST(ObservableWithRatio, LeavesAGapWhereTheModelIsEmpty) {
  Histogram data(0, 2, 2), model(0, 2, 2);
  data.fill(Numbers{0.5, 1.5});
  model.fill(0.5);
  const Figure figure = observable_with_ratio(data, model, "x", "");
  EXPECT_TRUE(std::isnan(figure.panels[1].series[1].y[1]));
  EXPECT_EQ(figure.panels[0].y.label, "events / 1");
  expect_drawable(figure);
}

TEST(ObservableWithRatio, RefusesHistogramsThatCannotBeCompared) {
  Histogram data(0, 2, 2), other(0, 3, 2), finer(0, 2, 4);
  data.fill(0.5);
  other.fill(0.5);
  finer.fill(0.5);
  EXPECT_THROW(observable_with_ratio(data, other, "x", ""), core::Error);
  EXPECT_THROW(observable_with_ratio(data, finer, "x", ""), core::Error);
  EXPECT_THROW(observable_with_ratio(data, Histogram(0, 2, 2), "x", ""), core::Error);
}

TEST(ParameterPairs, FillsTheLowerTriangle) {
  std::vector<float> samples;
  for (int place = 0; place < 3000; ++place) {
    const auto x = static_cast<float>(place);
    samples.insert(samples.end(), {x, 2 * x, -x});
  }
  const Figure figure = parameter_pairs(samples, {"a", "b", "c"}, {1500, std::nullopt, -1500});
  ASSERT_EQ(figure.panels.size(), 9u);
  for (std::size_t row = 0; row < 3; ++row)
    for (std::size_t column = 0; column < 3; ++column)
      EXPECT_EQ(figure.panels[3 * row + column].series.empty(), column > row);
  const Panel& pair = figure.panels[6];  // c against a
  EXPECT_EQ(pair.y.label, "c");
  EXPECT_EQ(pair.x.label, "a");
  EXPECT_EQ(pair.series[0].x.size(), 1000u);
  EXPECT_EQ(pair.series[0].x[7], 7);
  EXPECT_EQ(pair.series[0].y[7], -7);
  EXPECT_EQ(pair.series[1].x, (Numbers{1500, 1500}));
  EXPECT_EQ(pair.series[2].y, (Numbers{-1500, -1500}));
  EXPECT_EQ(figure.panels[4].series.size(), 2u);  // b has no truth
  expect_drawable(figure);
}

TEST(ParameterPairs, AreDrawableForAGeneratorThatHasCollapsed) {
  const std::vector<float> samples{1, 0, 1, 0, 1, 0};
  expect_drawable(parameter_pairs(samples, {"a", "b"}, {std::nullopt, std::nullopt}));
  const std::vector<float> broken(4, std::nanf(""));
  expect_drawable(parameter_pairs(broken, {"a", "b"}, {std::nullopt, std::nullopt}));
}

TEST(ParameterPairs, RefusesSizesThatDoNotFit) {
  const std::vector<float> samples{1, 2, 3};
  EXPECT_THROW(parameter_pairs(samples, {"a", "b"}, {1, 2}), core::Error);
  EXPECT_THROW(parameter_pairs(samples, {"a"}, {}), core::Error);
  EXPECT_THROW(parameter_pairs(samples, {}, {}), core::Error);
}

TEST(DensitiesWithBand, DividesByAKnownTruth) {
  const DensityBand known{"u(x)", {0.1, 0.5}, {2, 3}, {1, 2}, {3, 4}, {2, 0}};
  const DensityBand unknown{"d(x)", {0.1, 0.5}, {2, 3}, {1, 2}, {3, 4}, {}};
  const Figure figure = densities_with_band({known, unknown}, "x", "band");
  ASSERT_EQ(figure.panels.size(), 4u);
  EXPECT_EQ(figure.panels[0].title, "u(x)");
  EXPECT_EQ(series_named(figure.panels[0], "true").y, (Numbers{2, 0}));
  EXPECT_EQ(figure.panels[2].series[1].y[0], 1);
  EXPECT_FALSE(std::isfinite(figure.panels[2].series[1].y[1]));
  EXPECT_EQ(figure.panels[2].series[0].y_high[0], 1.5);
  EXPECT_TRUE(figure.panels[3].series.empty());
  expect_drawable(figure);
}

TEST(DensitiesWithBand, RefusesLengthsThatDiffer) {
  const DensityBand bad{"u", {0.1, 0.5}, {2}, {1, 2}, {3, 4}, {}};
  EXPECT_THROW(densities_with_band({bad}, "x", "band"), core::Error);
  EXPECT_THROW(densities_with_band({}, "x", "band"), core::Error);
}

TEST(RunsOverTime, ShowsOneCurveARunInTheFirstOnesParameters) {
  std::vector<Event> other = two_evaluations();
  std::get<Evaluated>(other[1]).parameters.erase(
      std::get<Evaluated>(other[1]).parameters.begin());  // of another problem
  ParameterResult reference;
  reference.name = "a_u";
  reference.floor = 0.03;
  const Figure figure =
      runs_over_time({{"one", two_evaluations(600)}, {"empty", {}}, {"other", other}}, {reference});
  ASSERT_EQ(figure.panels.size(), 2u);
  const Panel& panel = figure.panels[0];
  EXPECT_EQ(panel.x.label, "training time [min]");
  EXPECT_EQ(series_named(panel, "± Cramér-Rao floor").y[0], 3);
  EXPECT_EQ(series_named(panel, "one").x, (Numbers{0, 10}));
  EXPECT_NEAR(series_named(panel, "one").y[0], 20, 1e-12);
  EXPECT_EQ(series_named(panel, "other").x, Numbers{0});
  EXPECT_EQ(series_named(panel, "other").style, Style::points);
  EXPECT_EQ(series_named(figure.panels[1], "other").y, (Numbers{95, 91}));
  EXPECT_EQ(panel.series.size(), 4u) << "two of the floor, one for each run that was evaluated";
  expect_drawable(figure);
  expect_drawable(runs_over_time({}, {}));
}

TEST(CorrelationSquares, HaveTheFirstRowOnTop) {
  const Figure figure = correlation_squares({"errors", {"a", "b"}, {1, -0.25, 0.5, 1}});
  const Panel& panel = figure.panels[0];
  EXPECT_EQ(panel.x.names, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(panel.y.names, (std::vector<std::string>{"b", "a"}));
  const Series& squares = panel.series[0];
  EXPECT_EQ(squares.values, (Numbers{1, -0.25, 0.5, 1}));
  EXPECT_EQ(squares.x, (Numbers{0, 1, 0, 1}));
  EXPECT_EQ(squares.y, (Numbers{1, 1, 0, 0}));
  std::string problem;
  const std::string svg = figure_svg(figure, problem).value_or(problem);
  EXPECT_NE(svg.find("−0.25"), std::string::npos) << svg;
  EXPECT_NE(svg.find(">b<"), std::string::npos);
  EXPECT_THROW(correlation_squares({"errors", {"a", "b"}, {1}}), core::Error);
}

}  // namespace
}  // namespace sagips::analysis

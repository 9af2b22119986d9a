#include <gtest/gtest.h>

#include <cmath>

#include "sagips/analysis/figures/correlations.hpp"
#include "sagips/analysis/figures/densities.hpp"
#include "sagips/analysis/figures/images.hpp"
#include "sagips/analysis/figures/learning.hpp"
#include "sagips/analysis/figures/observable.hpp"
#include "sagips/analysis/figures/over_time.hpp"
#include "sagips/analysis/figures/parameter_pairs.hpp"
#include "sagips/analysis/figures/search.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"
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
  std::get<Evaluated>(metrics[1]).metrics[0].value = 0.01;
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

const Panel& panel_named(const Figure& figure, const std::string& y) {
  for (const Panel& panel : figure.panels)
    if (panel.y.label == y) return panel;
  throw std::runtime_error("no panel '" + y + "'");
}

/// Epochs 1 to `epochs`, an evaluation after each and one before the first.
std::vector<Event> learned(int epochs, double loss_of_batches = 0.5) {
  std::vector<Event> events{Evaluated{0, 0, {}, {{"loss", 80}, {"accuracy", 0.1}}}};
  for (int i = 1; i <= epochs; ++i) {
    events.push_back(
        EpochDone{i, 0.01 * i, 0, {{"loss", loss_of_batches / i}}, {{"network", 1e-3}}});
    events.push_back(Evaluated{
        i, 0.01 * i, {}, {{"loss", 0.75 / i}, {"accuracy", 0.9 + 0.01 * i}, {"recall/cat", 0.5}}});
  }
  return events;
}

TEST(LearningCurves, ShowEveryEpochAndNoneBeforeTheFirst) {
  const Figure figure = learning_curves(learned(4));
  const Panel& loss = panel_named(figure, "loss");
  EXPECT_TRUE(loss.y.logarithmic);
  EXPECT_TRUE(loss.x.whole);
  EXPECT_EQ(series_named(loss, "batches").x, (Numbers{1, 2, 3, 4}));
  EXPECT_EQ(series_named(loss, "rows kept aside").x, (Numbers{1, 2, 3, 4})) << "80 is left out";
  const Panel& accuracy = panel_named(figure, "accuracy");
  EXPECT_FALSE(accuracy.y.logarithmic);
  EXPECT_EQ(series_named(accuracy, "rows kept aside").y.size(), 4u);
  expect_drawable(figure);
}

TEST(LearningCurves, MarkTheBestEpoch) {
  const Figure figure = learning_curves(learned(4), 3);
  const Series& mark = series_named(panel_named(figure, "loss"), "best, epoch 3");
  EXPECT_EQ(mark.x, Numbers{3});
  EXPECT_EQ(mark.y, Numbers{0.25});
  EXPECT_EQ(panel_named(figure, "recall").series.size(), 1U) << "curves by name stay as they are";
  expect_drawable(figure);
}

TEST(LearningCurves, OfOneEpochAndOfNoneArePoints) {
  EXPECT_EQ(series_named(panel_named(learning_curves(learned(1)), "loss"), "batches").style,
            Style::points);
  const Figure before = learning_curves(learned(0));
  EXPECT_EQ(series_named(panel_named(before, "loss"), "rows kept aside").y, Numbers{80});
  expect_drawable(before);
  expect_drawable(learning_curves({}));
}

TEST(LearningCurves, HaveALinearAxisWhereALossIsNotPositive) {
  EXPECT_FALSE(panel_named(learning_curves(learned(3, -1)), "loss").y.logarithmic);
  const Figure gap = learning_curves(learned(3, std::nan("")));
  EXPECT_EQ(panel_named(gap, "loss").series.size(), 1u) << "of the rows kept aside";
  expect_drawable(gap);
}

TEST(LearningCurves, NameTheWorstOfManyClasses) {
  std::vector<Event> events;
  for (int epoch = 1; epoch <= 2; ++epoch) {
    Evaluated evaluated{epoch, 1.0 * epoch, {}, {}};
    for (int k = 0; k < 100; ++k)
      evaluated.metrics.push_back({core::text("recall/", k), 1 - 0.001 * k * epoch});
    events.push_back(evaluated);
  }
  const Figure figure = learning_curves(events);
  std::vector<std::string> labels;
  for (const Series& series : figure.panels[0].series)
    if (!series.label.empty()) labels.push_back(series.label);
  EXPECT_EQ(labels,
            (std::vector<std::string>{"the other 93", "93", "94", "95", "96", "97", "98", "99"}));
  expect_drawable(figure);
}

TEST(MemberCurves, HaveMeanAndDeviationOfOneVariant) {
  std::vector<RunLearningCurve> members;
  for (const double accuracy : {0.5, 0.7})
    members.push_back({core::text("fold_", members.size() + 1),
                       {Evaluated{0, 0, {}, {{"accuracy", 0.1}}},
                        Evaluated{1, 1, {}, {{"accuracy", accuracy}, {"recall/a", 0.1}}},
                        Evaluated{2, 2, {}, {{"accuracy", accuracy + 0.1}}}},
                       "all"});
  members[1].metrics.push_back(Evaluated{3, 3, {}, {{"accuracy", 0.9}}});
  const Figure figure = member_curves(members);
  ASSERT_EQ(figure.panels.size(), 1u) << "none by class";
  const Panel& panel = figure.panels[0];
  EXPECT_EQ(series_named(panel, "fold_2").x, (Numbers{1, 2, 3}));
  const Series& mean = series_named(panel, "mean");
  EXPECT_EQ(mean.x, (Numbers{1, 2})) << "both have reached";
  EXPECT_NEAR(mean.y[1], 0.7, 1e-12);
  EXPECT_NEAR(series_named(panel, "± deviation").y_high[1], 0.7 + 0.1 * std::sqrt(2), 1e-12);
  expect_drawable(figure);
  members.resize(40, members[0]);
  expect_drawable(member_curves(members));
  for (std::size_t i = 0; i < members.size(); ++i) members[i].variant = i % 2 == 0 ? "a" : "b";
  const Panel two = member_curves(members).panels[0];
  EXPECT_EQ(two.series.size(), 40u);
  EXPECT_EQ(two.series[0].label + two.series[1].label, "ab");
  EXPECT_EQ(two.series[2].label, "") << "a variant is named once";
  EXPECT_EQ(two.series[2].colour, two.series[0].colour);
  expect_drawable(member_curves({}));
}

TEST(Images, StandOnOneScaleFromTheTop) {
  const Figure figure =
      image_rows({{"real", {{2, {0, 1, 2, 3, 4, 5}}}}, {"made", {{2, {10, 0, 0, 0, 0, 0}}}}});
  ASSERT_EQ(figure.panels.size(), 2U);
  const Series& real = figure.panels[0].series[0];
  EXPECT_EQ(real.values, (Numbers{0, 0.1, 0.2, 0.3, 0.4, 0.5}));
  EXPECT_EQ(real.y, (Numbers{2, 2, 1, 1, 0, 0}));
  EXPECT_EQ(figure.panels[1].series[0].values.front(), 1);
  expect_drawable(figure);
  expect_drawable(image_rows({{"empty", {{1, {0}}}}}));
  EXPECT_THROW(image_rows({{"a", {{1, {0}}}}, {"b", {{1, {0, 1}}}}}), core::Error);
}

TEST(Images, OfManyDecadesHaveLogarithmicColours) {
  const Figure figure = image_rows({{"a", {{2, {100, 1, 0, 1e-3}}}}}, /*is_logarithmic=*/true);
  const Series& squares = figure.panels[0].series[0];
  ASSERT_EQ(squares.values.size(), 2U) << "white ones are left out";
  EXPECT_EQ(squares.values[0], 1);
  EXPECT_NEAR(squares.values[1], 0.5, 1e-12);
  EXPECT_EQ(figure.title, "logarithmic, from white at 0.010 to blue at 100");
  expect_drawable(image_rows({{"empty", {{20, Numbers(400, 0)}}}}, /*is_logarithmic=*/true));
}

TEST(ConfusionMatrix, HoldsNumbersOfRows) {
  const Figure figure = confusion_matrix({30, 10, 0, 1234567}, {"cat", "dog"});
  const Panel& panel = figure.panels[0];
  EXPECT_EQ(panel.x.label, "predicted class");
  EXPECT_EQ(panel.y.label, "true class");
  EXPECT_EQ(panel.series[0].values, (Numbers{0.75, 0.25, 0, 1}));
  std::string problem;
  const std::string svg = figure_svg(figure, problem).value_or(problem);
  for (const char* word : {">30<", ">10<", ">0<", ">1234567<"})
    EXPECT_NE(svg.find(word), std::string::npos) << word;
  const TemporaryFolder folder;
  EXPECT_TRUE(write_figure(figure, folder.file("f"), problem));
  EXPECT_NE(core::read_file(folder.file("f.csv")).find("0.25,10\n"), std::string::npos);
}

TEST(ConfusionMatrix, HasRoomForTwentyClassesAndForNone) {
  std::vector<std::string> names;
  for (int i = 0; i < 20; ++i) names.push_back(core::text("a rather long class ", i));
  std::string problem;
  const std::string svg =
      figure_svg(confusion_matrix(Numbers(400, 54321), names), problem).value_or(problem);
  EXPECT_NE(svg.find(">54321<"), std::string::npos);
  EXPECT_NE(svg.find(">a rather long class 19<"), std::string::npos);
  expect_drawable(confusion_matrix({0}, {"alone"}));
  expect_drawable(confusion_matrix({0.5, 0, 0, std::nan("")}, {"a", "b"}));
  EXPECT_THROW(confusion_matrix({}, {}), core::Error);
  EXPECT_THROW(confusion_matrix({1}, {"a", "b"}), core::Error);
}

TEST(RocCurves, HaveALogarithmicAxisAndTheirArea) {
  const Figure figure = roc_curves({{"cat", {0, 0, 0.002, 1}, {0, 0.25, 0.5, 1}, 0.98765}});
  const Panel& panel = figure.panels[0];
  EXPECT_TRUE(panel.x.logarithmic);
  EXPECT_EQ(panel.x.label, "false positive rate");
  EXPECT_EQ(panel.y.label, "true positive rate");
  EXPECT_NEAR(*panel.x.lowest, 1e-3, 1e-12);
  const Series& line = series_named(panel, "cat, AUC 0.9877");
  EXPECT_NEAR(line.x[0], 1e-3, 1e-12) << "what is found without a false positive";
  EXPECT_EQ(line.y, (Numbers{0.25, 0.5, 1}));
  expect_drawable(figure);
}

TEST(RocCurves, OfManyClassesKeepTheirColoursApart) {
  const RocCurve curve{"class", {0, 0.1, 1}, {0, 0.9, 1}, 0.95};
  const Figure figure = roc_curves(std::vector<RocCurve>(20, curve));
  ASSERT_EQ(figure.panels.size(), 3u);
  for (const Panel& panel : figure.panels) EXPECT_LE(panel.series.size(), 9u) << "with chance";
  expect_drawable(figure);
  expect_drawable(roc_curves({}));
}

SearchedSettings searched(const Numbers& importances, double error) {
  SearchedSettings search{.metric = "loss", .keys = {}, .trials = {}};
  for (std::size_t i = 0; i < importances.size(); ++i)
    search.keys.push_back({.name = core::text("networks.a.layers.", i, ".dense"),
                           .whole = true,
                           .importance = importances[i],
                           .error = error});
  for (int i = 1; i <= 20; ++i)
    search.trials.push_back({i, 70.0 / i, false, Numbers(importances.size(), 1.0 + i % 3)});
  return search;
}

TEST(Search, LiesBarsOfImportanceDown) {
  const Figure figure = search_importance(searched({0.1, 0.7, 0.2}, 0.05));
  const Panel& panel = figure.panels[0];
  EXPECT_EQ(panel.series[0].style, Style::bars);
  EXPECT_EQ(panel.y.names.back(), "networks.a.layers.1.dense") << "the first on top";
  EXPECT_NEAR(panel.series[0].x.back(), 70, 1e-9);
  EXPECT_EQ(panel.title, "");
  expect_drawable(figure);
  expect_drawable(sized(figure, {.width = FigureConfig::Width::column}));
}

TEST(Search, SaysWhereTrialsDoNotSettleIt) {
  EXPECT_TRUE(leading_setting(searched({0.1, 0.7}, 0.1)).is_settled);
  EXPECT_EQ(leading_setting(searched({0.1, 0.7}, 0.1)).answer, "networks.a.layers.1.dense");
  for (const auto& open : {searched({0.6, 0.7}, 0.1), searched({0, 0.19}, 0.1),
                           searched({0, 0}, 0.1), searched({0, 0}, 0)}) {
    EXPECT_EQ(leading_setting(open).answer, "20 trials do not settle it");
    EXPECT_EQ(search_importance(open).panels[0].title, "20 trials do not settle it");
    expect_drawable(search_importance(open));
  }
}

TEST(Search, CountsInWholeNumbers) {
  EXPECT_TRUE(search_history(searched({0.1, 0.7}, 0.1)).panels[0].x.whole);
  std::string problem;
  SearchedSettings three = searched({0.1}, 0.1);
  three.trials.resize(3);
  for (const Figure& figure : {search_history(three), search_slices(three)}) {
    const std::string svg = figure_svg(figure, problem).value_or(problem);
    for (const char* word : {">1<", ">2<", ">3<"})
      EXPECT_NE(svg.find(word), std::string::npos) << word;
    for (const char* word : {">1.5<", ">2.5<", ">1.0<"})
      EXPECT_EQ(svg.find(word), std::string::npos) << word;
  }
  three.trials.resize(1);
  EXPECT_NE(figure_svg(search_history(three), problem).value_or("").find(">1<"), std::string::npos);
}

}  // namespace
}  // namespace sagips::analysis

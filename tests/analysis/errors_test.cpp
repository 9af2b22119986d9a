#include "sagips/analysis/figures/errors.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace sagips::analysis {
namespace {

using record::Results;

/// Free parameters a [GeV] = 2 ± 0.5 and b = -10 ± 2 with a correlation of 0.6, a fixed one between.
Results two_parameters() {
  Results results;
  results.method = "moments";
  results.errors_from = "covariance of the moments";
  results.parameters.resize(3);
  auto& a = results.parameters[0];
  a.name = "a";
  a.unit = "GeV";
  a.truth = 2.5;
  a.recovered = 2;
  a.error = 0.5;
  a.floor = 0.1;
  results.parameters[1].name = "held";
  results.parameters[1].fixed = true;
  auto& b = results.parameters[2];
  b.name = "b";
  b.recovered = -10;
  b.error = 2;
  results.correlations = {
      {"errors of the maximum-likelihood fit", {"a", "b"}, {1, 0, 0, 1}, {}},
      {"errors: covariance of the moments", {"a", "b"}, {1, 0.6, 0.6, 1}, {0.25, 0.6, 0.6, 4}}};
  return results;
}

TEST(ErrorEllipses, HoldTheShareOfTwoParameters) {
  const auto figure = error_ellipses(two_parameters(), 6);
  ASSERT_TRUE(figure);
  ASSERT_EQ(figure->panels.size(), 1u);
  const Panel& panel = figure->panels[0];
  EXPECT_EQ(panel.x.label, "a [GeV]");
  EXPECT_EQ(panel.y.label, "b");
  for (const auto& [label, probability] :
       {std::pair("68.3 %", 0.683), std::pair("95.4 %", 0.954)}) {
    const auto curve =
        std::find_if(panel.series.begin(), panel.series.end(),
                     [&, label = std::string(label)](const Series& s) { return s.label == label; });
    ASSERT_NE(curve, panel.series.end());
    for (std::size_t i = 0; i < curve->x.size(); ++i) {
      const double x = (curve->x[i] - 2) / 0.5, y = (curve->y[i] + 10) / 2;
      const double chi2 = (x * x - 2 * 0.6 * x * y + y * y) / (1 - 0.6 * 0.6);
      EXPECT_NEAR(1 - std::exp(-chi2 / 2), probability, 1e-9);
    }
    EXPECT_GT(*panel.x.lowest, 0);  // 2.5 errors, and a little air
    EXPECT_LT(*panel.x.lowest, *std::min_element(curve->x.begin(), curve->x.end()));
    EXPECT_GT(*panel.y.highest, *std::max_element(curve->y.begin(), curve->y.end()));
  }
}

TEST(ErrorEllipses, MarkTheTruthAndOtherSolutions) {
  Results results = two_parameters();
  results.others = {{{1, 0, -8}, {0.1, 0, 0.2}, 3}};
  const auto figure = error_ellipses(results, 6);
  const Panel& panel = figure.value().panels[0];
  const auto points = std::find_if(panel.series.begin(), panel.series.end(),
                                   [](const Series& s) { return s.label == "other solutions"; });
  ASSERT_NE(points, panel.series.end());
  EXPECT_EQ(points->x, std::vector<double>{1});
  EXPECT_EQ(points->y, std::vector<double>{-8});
  EXPECT_EQ(panel.series.back().label, "true");  // of a alone
  EXPECT_EQ(panel.series.back().x, (std::vector<double>{2.5, 2.5}));
  std::string problem;
  EXPECT_TRUE(figure_svg(*figure, problem)) << problem;
}

TEST(ErrorEllipses, NeedACovarianceOfTheAnswerAndTwoParameters) {
  Results results = two_parameters();
  results.parameters[2].open = true;
  EXPECT_FALSE(error_ellipses(results, 6));
  results = two_parameters();
  results.errors_from.clear();  // the fit beside a training is not its answer
  EXPECT_FALSE(error_ellipses(results, 6));
}

TEST(Deviations, AreInPerCentOfTheTruth) {
  const auto figure = deviations(two_parameters());
  ASSERT_TRUE(figure);
  const Panel& panel = figure->panels[0];
  EXPECT_EQ(panel.x.names, std::vector<std::string>{"a"});  // nobody knows the true b
  EXPECT_DOUBLE_EQ(panel.series.back().y[0], -20);
  EXPECT_DOUBLE_EQ(panel.series.back().y_high[0], 0);
  EXPECT_DOUBLE_EQ(panel.series.front().y_high[0], 10);
  Results unknown = two_parameters();
  unknown.parameters[0].truth.reset();
  EXPECT_FALSE(deviations(unknown));
}

}  // namespace
}  // namespace sagips::analysis

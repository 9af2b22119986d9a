#include "sagips/analysis/figures/methods_over_time.hpp"

#include <gtest/gtest.h>

#include "tests/core/temporary_folder.hpp"

namespace sagips::analysis {
namespace {

TEST(MethodsOverTime, DrawsEachMethodAndTheFloor) {
  const Figure figure = methods_over_time(
      {{"moments", {0.01, 0.1}, {50, 4}}, {"gan", {0, 5, 60}, {60, 30, 9}}, {"once", {2}, {7}}},
      "mean |residual| [%]", 3.5, 60);
  ASSERT_EQ(figure.panels.size(), 1u);
  std::vector<std::string> labels;
  for (const Series& series : figure.panels[0].series)
    if (!series.label.empty()) labels.push_back(series.label);
  EXPECT_EQ(labels, (std::vector<std::string>{"moments", "gan", "once", "Cramér-Rao floor"}));
  const testing::TemporaryFolder folder;
  std::string problem;
  EXPECT_TRUE(write_figure(figure, folder.file("figure"), problem)) << problem;
}

TEST(MethodsOverTime, KeepsTheLastDistanceOfAMethodThatStoppedEarly) {
  const Figure figure = methods_over_time({{"moments", {0.01, 0.1}, {50, 4}}}, "d", 0, 60);
  const Series& tail = figure.panels[0].series.front();
  EXPECT_EQ(tail.style, Series::Style::dashed);
  EXPECT_EQ(tail.x, (std::vector<double>{0.1, 60}));
  EXPECT_EQ(tail.y, (std::vector<double>{4, 4}));
}

}  // namespace
}  // namespace sagips::analysis

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "sagips/analysis/convergence/tables.hpp"
#include "sagips/analysis/figures/convergence.hpp"
#include "sagips/core/file.hpp"
#include "tests/analysis/learning_curves.hpp"
#include "tests/core/temporary_folder.hpp"

namespace sagips::analysis {
namespace {

using testing::TemporaryFolder;
using testing::variant;
using Numbers = std::vector<double>;

bool has(const std::string& text, const std::string& word) {
  return text.find(word) != std::string::npos;
}

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

/// One rank, and two exchanges on two and four.
std::vector<ConvergenceVariant> scan() {
  return {variant("ring", "ring", 4, 12, 300), variant("one rank", "", 1, 10, 100),
          variant("ring, 2 ranks", "ring", 2, 11, 180),
          variant("all_reduce, 2 ranks", "all_reduce", 2, 20, 150)};
}

Shown pointers(const std::vector<ConvergenceVariant>& variants) {
  Shown all;
  for (const ConvergenceVariant& one : variants) all.push_back(&one);
  return all;
}

TEST(ConvergenceTable, ShowsWhatTheEnsemblesEndedWith) {
  // Last residuals of 20 and 40 %: mean 30 %, spread 10 %, 3 floors of 10 %.
  const std::string table = convergence_table({variant("ring", "ring", 4, 12, 300)});
  for (const std::string word : {"30.0 ± 10.0", "distance [floors]", "12.0 ± 0.0", "0.300 ± 0.0"})
    EXPECT_TRUE(has(table, word)) << word << "\n" << table;
  EXPECT_TRUE(has(table, "distance [floors]         1         3.00\n")) << table;
}

TEST(ConvergenceTable, SaysThatOneMemberHasNoSpread) {
  ConvergenceVariant one = variant("ring", "ring", 4, 12, 300);
  EXPECT_FALSE(has(convergence_table({one}), "has no spread"));
  one.curve = testing::learning_curve_of({testing::straight(1, 12, 0.4, 0.2)});
  one.time_s = {12};
  const std::string table = convergence_table({one});
  EXPECT_TRUE(has(table, "has no spread")) << table;
  EXPECT_TRUE(has(table, "distance [%]")) << table;
}

TEST(StopText, TellsTheTimeOrWhyThereIsNone) {
  EXPECT_EQ(stop_text({.crossing = {Meeting::crosses, 34},
                       .redrawn = 300,
                       .share = 0.91,
                       .low_s = 27,
                       .high_s = 41}),
            "suggested stop after 34.0 s (91 % of 300 ensembles of redrawn members cross, 68 % of "
            "those from 27.0 s to 41.0 s)");
  EXPECT_TRUE(has(stop_text({.crossing = {Meeting::stays_below, 1}}),
                  "no crossing: several ranks "
                  "are nearer"));
  EXPECT_TRUE(has(stop_text({}), "no crossing: several ranks are never nearer"));
}

TEST(ConvergenceFiles, HaveARowForEachTimeAndVariant) {
  const TemporaryFolder folder;
  auto variants = scan();
  variants[0].outer_every = 5;
  write_convergence_csv(folder.file("convergence.csv"), variants);
  const std::string rows = core::read_file(folder.file("convergence.csv"));
  EXPECT_EQ(std::count(rows.begin(), rows.end(), '\n'), 1 + 4 * 11);
  EXPECT_TRUE(has(rows, "\nring,2,a,1,")) << rows;
}

TEST(ConvergenceFigures, ShowEachVariantWithItsBand) {
  const auto variants = scan();
  const Figure figure = ensemble_residuals_over_time(pointers(variants));
  const Series& line = series_named(figure.panels[0], "ring");
  EXPECT_NEAR(line.y.front(), 60, 1e-4);
  EXPECT_NEAR(line.y.back(), 30, 1e-4);
  EXPECT_NEAR(series_named(figure.panels[0], "± Cramér-Rao floor").y[0], 10, 1e-9);
  const auto bands = std::count_if(figure.panels[0].series.begin(), figure.panels[0].series.end(),
                                   [](const Series& s) { return s.style == Series::Style::band; });
  EXPECT_EQ(bands, 4);
  expect_drawable(figure);
  expect_drawable(ensemble_spread_over_time(pointers(variants)));
}

TEST(ConvergenceFigures, MarkTheSuggestedStop) {
  const auto variants = scan();
  const SuggestedStop stop{
      .crossing = {Meeting::crosses, 7}, .redrawn = 300, .share = 1, .low_s = 6, .high_s = 8};
  const Figure figure = distance_over_time(pointers(variants), stop);
  EXPECT_EQ(series_named(figure.panels[0], "suggested stop").x, (Numbers{7, 7}));
  EXPECT_EQ(series_named(figure.panels[0], "68 % of redrawn ensembles").x, (Numbers{6, 8}));
  EXPECT_NEAR(series_named(figure.panels[0], "ring").y.back(), 3, 1e-5);
  expect_drawable(figure);
  EXPECT_THROW(series_named(distance_over_time(pointers(variants)).panels[0], "suggested stop"),
               std::runtime_error);
}

TEST(ConvergenceFigures, AreDrawableOfNothing) {
  expect_drawable(ensemble_residuals_over_time({}));
  expect_drawable(distance_over_time({}));
}

}  // namespace
}  // namespace sagips::analysis

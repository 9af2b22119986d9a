#include "sagips/kernels/inverse_cdf.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "sagips/core/error.hpp"

namespace sagips::kernels {
namespace {

// The definition written out once more in double, one draw at a time.
struct Reference {
  InverseCdfGrid grid;

  /// Mass of the cell whose left end is point i.
  double mass(const std::vector<double>& densities, std::int64_t i) const {
    const auto at = static_cast<std::size_t>(i);
    if (grid.rule == MassRule::left) return densities[at];
    return i + 1 < grid.points ? (densities[at] + densities[at + 1]) / 2 : 0.0;
  }
  /// S(x_i) for all points.
  std::vector<double> survival(const std::vector<double>& densities) const {
    std::vector<double> tail(static_cast<std::size_t>(grid.points));
    double sum = 0;
    for (std::int64_t i = grid.points - 1; i >= 0; --i)
      tail[static_cast<std::size_t>(i)] = sum += mass(densities, i);
    for (double& value : tail) value /= sum;
    return tail;
  }
  /// Left point of the cell that holds u: the last but for the outermost with S >= u.
  std::int64_t cell(const std::vector<double>& tail, double u) const {
    std::int64_t i = grid.points - 2;
    while (i > 0 && tail[static_cast<std::size_t>(i)] < u) --i;
    return i;
  }
  double position(const std::vector<double>& tail, std::int64_t cell, double u) const {
    const double left = tail[static_cast<std::size_t>(cell)];
    const double right = tail[static_cast<std::size_t>(cell) + 1];
    const double share = std::clamp((u - right) / (left - right), 0.0, 1.0);
    return grid.last - (static_cast<double>(grid.points - 2 - cell) + share) * grid.step;
  }
};

struct Problem {
  InverseCdfGrid grid;
  InverseCdfShape shape;
  std::vector<float> densities, uniform, gradient_positions;

  std::int64_t tables() const { return shape.samples * shape.observables; }
  std::vector<double> table(std::int64_t t) const {
    const auto first = densities.begin() + t * grid.points;
    return {first, first + grid.points};
  }
  double u(std::int64_t t, std::int64_t event) const {
    return static_cast<double>(uniform[static_cast<std::size_t>(t * shape.events + event)]);
  }
  /// Where a draw lies in [samples, events, observables].
  std::size_t place(std::int64_t t, std::int64_t event) const {
    const std::int64_t sample = t / shape.observables, observable = t % shape.observables;
    return static_cast<std::size_t>((sample * shape.events + event) * shape.observables +
                                    observable);
  }
};

/// Densities in [0.2, 1), a share of them 0; `grid` from -1 to 3.
Problem problem(MassRule rule, std::int64_t points, InverseCdfShape shape, double empty = 0.0) {
  Problem made{{3.0, 4.0 / static_cast<double>(points - 1), points, rule}, shape, {}, {}, {}};
  std::mt19937 engine(static_cast<unsigned>(points + 7 * shape.events + shape.observables));
  std::uniform_real_distribution<double> number(0.0, 1.0);
  const auto tables = static_cast<std::size_t>(made.tables());
  const auto draws = tables * static_cast<std::size_t>(shape.events);
  made.densities.resize(tables * static_cast<std::size_t>(points));
  for (float& density : made.densities)
    density = number(engine) < empty ? 0.0F : static_cast<float>(0.2 + 0.8 * number(engine));
  for (std::size_t t = 0; t < tables; ++t)  // not all empty
    made.densities[t * static_cast<std::size_t>(points)] = 0.5F;
  for (std::size_t i = 0; i < draws; ++i) {
    made.uniform.push_back(static_cast<float>((std::floor(number(engine) * 8388608.0) + 0.5) /
                                              8388608.0));  // as core::RandomStream
    made.gradient_positions.push_back(static_cast<float>(number(engine) - 0.3));
  }
  return made;
}

std::vector<Problem> problems() {
  std::vector<Problem> all;
  for (const MassRule rule : {MassRule::left, MassRule::trapezoid}) {
    // The search changes its way at 32, 1024 and beyond; sums run in chains of points / 4.
    for (const std::int64_t points : {3, 4, 5, 17, 31, 32, 33, 34, 64, 65, 100, 1000})
      for (const std::int64_t events : {1, 16, 101})
        all.push_back(problem(rule, points, {2, 2, events}));
    for (const std::int64_t observables : {1, 2, 3})
      all.push_back(problem(rule, 40, {3, observables, 7}));
    for (const std::int64_t points : {1023, 1024, 1025, 2100, 5000})
      all.push_back(problem(rule, points, {1, 1, 200}));
    for (const std::int64_t points : {12, 90})
      all.push_back(problem(rule, points, {2, 2, 50}, 0.6));
  }
  return all;
}

std::string described(const Problem& given) {
  return std::string(given.grid.rule == MassRule::left ? "left" : "trapezoid") + ", points " +
         std::to_string(given.grid.points) + ", events " + std::to_string(given.shape.events) +
         ", observables " + std::to_string(given.shape.observables);
}

std::vector<float> draw(const Problem& given, InverseCdfTrace* trace = nullptr) {
  std::vector<float> positions(given.uniform.size(), -100.0F);
  draw_positions(given.grid, given.shape, given.densities, given.uniform, positions, trace);
  return positions;
}

std::vector<float> gradient(const Problem& given) {
  InverseCdfTrace trace;
  draw(given, &trace);
  std::vector<float> densities(given.densities.size(), -100.0F);
  pull_back_positions(given.grid, given.shape, trace, given.uniform, given.gradient_positions,
                      densities);
  return densities;
}

// Rounding of S to float (quotient of two floats: three times 2^-24) moves x by that over the
// density; x itself is made by three roundings of numbers up to 4.
TEST(InverseCdf, PutsDrawsWhereTheDefinitionDoes) {
  for (const Problem& given : problems()) {
    SCOPED_TRACE(described(given));
    const Reference reference{given.grid};
    const std::vector<float> positions = draw(given);
    for (std::int64_t t = 0; t < given.tables(); ++t) {
      const std::vector<double> tail = reference.survival(given.table(t));
      for (std::int64_t e = 0; e < given.shape.events; ++e) {
        const std::int64_t cell = reference.cell(tail, given.u(t, e));
        const double width =
            tail[static_cast<std::size_t>(cell)] - tail[static_cast<std::size_t>(cell) + 1];
        const double tolerance = 4 * 3 * 0x1p-24 + 4 * 0x1p-24 * given.grid.step / width;
        ASSERT_NEAR(static_cast<double>(positions[given.place(t, e)]),
                    reference.position(tail, cell, given.u(t, e)), tolerance)
            << "table " << t << " event " << e;
      }
    }
  }
}

/// dL/d(density i of table t) of L = sum gradient_positions x, by central differences in double,
/// the draws' cells held fast.
double difference(const Problem& given, std::int64_t t, std::size_t i) {
  const Reference reference{given.grid};
  const std::vector<double> middle = given.table(t);
  const std::vector<double> tail = reference.survival(middle);
  constexpr double step = 1e-5;
  std::vector<double> above = middle, below = middle;
  above[i] += step;
  below[i] -= step;
  const std::vector<double> tail_above = reference.survival(above);
  const std::vector<double> tail_below = reference.survival(below);
  double sum = 0;
  for (std::int64_t e = 0; e < given.shape.events; ++e) {
    const std::int64_t cell = reference.cell(tail, given.u(t, e));
    sum += static_cast<double>(given.gradient_positions[given.place(t, e)]) *
           (reference.position(tail_above, cell, given.u(t, e)) -
            reference.position(tail_below, cell, given.u(t, e)));
  }
  return sum / (2 * step);
}

/// What rounding may do to a gradient of table t: each draw's width in S, about 1 / points, is the
/// difference of two floats near 1, wrong by up to four times 2^-24; its share of the gradient is
/// wrong by that over the width.
double tolerance(const Problem& given, std::int64_t t) {
  const Reference reference{given.grid};
  const std::vector<double> densities = given.table(t);
  const std::vector<double> tail = reference.survival(densities);
  double total = 0, sum = 0;
  for (std::int64_t i = 0; i < given.grid.points; ++i) total += reference.mass(densities, i);
  for (std::int64_t e = 0; e < given.shape.events; ++e) {
    const auto cell = static_cast<std::size_t>(reference.cell(tail, given.u(t, e)));
    const double width = tail[cell] - tail[cell + 1];
    const auto pull = static_cast<double>(given.gradient_positions[given.place(t, e)]);
    sum += std::abs(pull) * given.grid.step / width / total * (4 * 0x1p-24 / width + 4 * 0x1p-24);
  }
  return sum;
}

TEST(InverseCdf, HasTheGradientOfFiniteDifferences) {
  for (const Problem& given : problems()) {
    SCOPED_TRACE(described(given));
    const std::vector<float> found = gradient(given);
    const std::int64_t points = given.grid.points;
    for (std::int64_t t = 0; t < given.tables(); ++t) {
      const double allowed = tolerance(given, t);
      // All points of small tables, every 37th and the last of large ones.
      for (std::int64_t i = 0; i<points; i += points> 200 && i + 37 < points ? 37 : 1) {
        const double expected = difference(given, t, static_cast<std::size_t>(i));
        // A difference quotient of a table is good to 1e-8 of its terms.
        ASSERT_NEAR(static_cast<double>(found[static_cast<std::size_t>(t * points + i)]), expected,
                    allowed + 1e-7 * std::abs(expected) + 1e-9)
            << "table " << t << " point " << i;
      }
    }
  }
}

// Positions do not change when all densities are multiplied by one number, so the gradient is
// orthogonal to the densities (Euler). It is not when the normalisation is left out.
TEST(InverseCdf, HasNoGradientAlongTheNormalisation) {
  for (const Problem& given : problems()) {
    SCOPED_TRACE(described(given));
    const std::vector<float> found = gradient(given);
    for (std::int64_t t = 0; t < given.tables(); ++t) {
      const std::vector<double> densities = given.table(t);
      double along = 0, size = 0;
      for (std::size_t i = 0; i < densities.size(); ++i) {
        const auto term = static_cast<std::size_t>(t * given.grid.points) + i;
        along += densities[i] * static_cast<double>(found[term]);
        size += densities[i] * std::abs(static_cast<double>(found[term]));
      }
      // A share of a float's rounding in each term, and the rounding of S in the draws.
      double total = 0;
      for (const double density : densities) total += density;
      ASSERT_NEAR(along, 0.0, 0x1p-22 * size + tolerance(given, t) * total) << "table " << t;
    }
  }
}

// Otherwise the two tests above would pass with a gradient that is too small to be seen.
TEST(InverseCdf, HasGradientsFarAboveTheTestsTolerance) {
  const Problem given = problem(MassRule::trapezoid, 100, {1, 1, 101});
  const std::vector<float> found = gradient(given);
  float largest = 0;
  for (const float value : found) largest = std::max(largest, std::abs(value));
  EXPECT_GT(static_cast<double>(largest), 300 * tolerance(given, 0));
}

TEST(InverseCdf, KeepsDrawsAtTheEndsInsideTheTable) {
  for (const MassRule rule : {MassRule::left, MassRule::trapezoid})
    for (const std::int64_t points : {3, 33, 1000}) {
      Problem given = problem(rule, points, {1, 1, 4});
      given.uniform = {1e-30F, 0x1p-24F, 1.0F - 0x1p-24F, 1.0F};
      SCOPED_TRACE(described(given));
      const std::vector<float> positions = draw(given);
      EXPECT_NEAR(positions[0], 3.0F, 1e-6F);
      EXPECT_NEAR(positions[1], 3.0F, 1e-4F);
      EXPECT_NEAR(positions[2], -1.0F, 1e-3F);
      EXPECT_NEAR(positions[3], -1.0F, 1e-6F);
    }
}

// The left rule gives the last point a mass; what falls on it stays there whatever its size.
TEST(InverseCdf, PassesNoGradientFromAClampedDraw) {
  Problem given = problem(MassRule::left, 5, {1, 1, 1});
  given.densities = {1, 1, 1, 1, 4};
  given.uniform = {0.25F};
  EXPECT_EQ(draw(given), std::vector<float>{3.0F});
  EXPECT_EQ(gradient(given), std::vector<float>(5, 0.0F));
  given.uniform = {0.75F};
  EXPECT_NE(gradient(given), std::vector<float>(5, 0.0F));
}

TEST(InverseCdf, DrawsNothingInEmptyCells) {
  Problem given = problem(MassRule::left, 9, {1, 1, 3});
  given.densities = {0, 1, 0, 0, 0, 1, 0, 0, 0};
  given.uniform = {0.5F, 0.25F, 1.0F};  // the boundary belongs to the right cell
  EXPECT_EQ(draw(given), (std::vector<float>{1.5F, 1.75F, -0.5F}));
}

// Coverage may take a number to 0, where empty cells at the right end have 0 / 0.
TEST(InverseCdf, PutsZeroAtTheRightEndAlthoughItsCellsAreEmpty) {
  for (const MassRule rule : {MassRule::left, MassRule::trapezoid}) {
    Problem given = problem(rule, 5, {1, 1, 1});
    given.densities = {1, 1, 0, 0, 0};
    given.uniform = {0.0F};
    EXPECT_EQ(draw(given), std::vector<float>{3.0F});
    EXPECT_EQ(gradient(given), std::vector<float>(5, 0.0F));
  }
}

TEST(InverseCdf, AnswersAnEmptyTableWithNan) {
  Problem given = problem(MassRule::trapezoid, 70, {1, 1, 20});
  std::fill(given.densities.begin(), given.densities.end(), 0.0F);
  for (const float position : draw(given)) EXPECT_TRUE(std::isnan(position));
  for (const float value : gradient(given)) EXPECT_TRUE(std::isnan(value));
}

TEST(InverseCdf, GivesTheSameWithAndWithoutATraceAndForAnyTile) {
  const Problem whole = problem(MassRule::trapezoid, 100, {5, 2, 33});
  InverseCdfTrace trace;
  const std::vector<float> positions = draw(whole, &trace);
  EXPECT_EQ(draw(whole), positions);
  const std::vector<float> gradients = gradient(whole);
  for (std::int64_t sample = 0; sample < 5; ++sample) {
    Problem tile = whole;
    tile.shape.samples = 1;
    const auto cut = [sample](const std::vector<float>& from) {
      const auto size = static_cast<std::ptrdiff_t>(from.size() / 5);
      return std::vector<float>(from.begin() + sample * size, from.begin() + (sample + 1) * size);
    };
    tile.densities = cut(whole.densities);
    tile.uniform = cut(whole.uniform);
    tile.gradient_positions = cut(whole.gradient_positions);
    EXPECT_EQ(draw(tile, &trace), cut(positions));  // a trace of another shape is fitted
    EXPECT_EQ(gradient(tile), cut(gradients));
  }
}

TEST(InverseCdf, RunsInSeveralThreadsAtOnce) {
  std::vector<Problem> given;
  for (const std::int64_t points : {1000, 40, 2000, 300})
    given.push_back(problem(MassRule::left, points, {20, 2, 50}));
  std::vector<std::vector<float>> positions(given.size()), gradients(given.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < given.size(); ++i)
    threads.emplace_back([&, i] {
      positions[i] = draw(given[i]);
      gradients[i] = gradient(given[i]);
    });
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < given.size(); ++i) {
    EXPECT_EQ(positions[i], draw(given[i]));
    EXPECT_EQ(gradients[i], gradient(given[i]));
  }
}

TEST(InverseCdf, AcceptsNoDrawsAndNoSamples) {
  EXPECT_TRUE(draw(problem(MassRule::left, 10, {0, 2, 5})).empty());
  EXPECT_EQ(gradient(problem(MassRule::left, 10, {1, 1, 0})), std::vector<float>(10, 0.0F));
}

TEST(InverseCdf, RefusesArraysThatDoNotFit) {
  const Problem given = problem(MassRule::left, 10, {2, 2, 5});
  Problem wrong = given;
  wrong.grid.points = 2;
  EXPECT_THROW(draw(wrong), core::ShapeError);
  wrong = given;
  wrong.shape.samples = -1;
  EXPECT_THROW(draw(wrong), core::ShapeError);
  wrong = given;
  wrong.densities.pop_back();
  EXPECT_THROW(draw(wrong), core::ShapeError);
  wrong = given;
  wrong.gradient_positions.pop_back();
  EXPECT_THROW(gradient(wrong), core::ShapeError);
  std::vector<float> densities(given.densities.size());
  InverseCdfTrace finer;
  draw(problem(MassRule::left, 20, given.shape), &finer);
  EXPECT_THROW(pull_back_positions(given.grid, given.shape, finer, given.uniform,
                                   given.gradient_positions, densities),
               core::ShapeError);
  EXPECT_THROW(pull_back_positions(given.grid, given.shape, InverseCdfTrace{}, given.uniform,
                                   given.gradient_positions, densities),
               core::ShapeError);
}

}  // namespace
}  // namespace sagips::kernels

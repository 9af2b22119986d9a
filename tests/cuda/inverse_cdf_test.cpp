#include "tests/cuda/shim.hpp"

#include "sagips/cuda/inverse_cdf.cu"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "sagips/kernels/inverse_cdf.hpp"

namespace {

using sagips::kernels::InverseCdfGrid;
using sagips::kernels::InverseCdfShape;
using sagips::kernels::InverseCdfTrace;
using sagips::kernels::MassRule;

struct Problem {
  InverseCdfGrid grid;
  InverseCdfShape shape;
  std::vector<float> densities, uniform, gradient_positions;
};

struct Result {
  std::vector<float> positions, shares, slopes, gradient;
  std::vector<std::int32_t> cells;
  std::vector<double> masses;
};

/// Densities in [0.2, 1), a share of them 0; `grid` from -1 to 3.
Problem problem(MassRule rule, std::int64_t points, InverseCdfShape shape, double empty = 0.0) {
  Problem made{{3.0, 4.0 / static_cast<double>(points - 1), points, rule}, shape, {}, {}, {}};
  std::mt19937 engine(static_cast<unsigned>(points + 7 * shape.events + shape.observables));
  std::uniform_real_distribution<double> number(0.0, 1.0);
  const std::int64_t tables = shape.samples * shape.observables;
  for (std::int64_t i = 0; i < tables * points; ++i) {
    const double density = number(engine) * 0.8 + 0.2;
    made.densities.push_back(
        i % points != 0 && number(engine) < empty ? 0.0F : static_cast<float>(density));
  }
  for (std::int64_t i = 0; i < tables * shape.events; ++i) {
    made.uniform.push_back(
        static_cast<float>((std::floor(number(engine) * 0x1p23) + 0.5) * 0x1p-23));
    made.gradient_positions.push_back(static_cast<float>(number(engine) - 0.3));
  }
  return made;
}

constexpr float untouched = -100;

Result empty_result(const Problem& given) {
  Result result;
  for (auto* const values : {&result.positions, &result.shares, &result.slopes})
    values->assign(given.uniform.size(), untouched);
  result.gradient.assign(given.densities.size(), untouched);
  result.cells.assign(given.uniform.size(), -1);
  result.masses.assign(static_cast<std::size_t>(given.shape.samples * given.shape.observables), -1);
  return result;
}

Result of_cpu(const Problem& given) {
  Result result = empty_result(given);
  InverseCdfTrace trace;
  draw_positions(given.grid, given.shape, given.densities, given.uniform, result.positions, &trace);
  pull_back_positions(given.grid, given.shape, trace, given.uniform, given.gradient_positions,
                      result.gradient);
  result.cells = trace.cells, result.shares = trace.shares, result.slopes = trace.slopes;
  result.masses = trace.masses;
  return result;
}

Result of_device(const Problem& given, bool keep = true) {
  Result result = empty_result(given);
  const sagips_cuda_grid grid{given.grid.last, given.grid.step, given.grid.points,
                              given.grid.rule == MassRule::trapezoid};
  const sagips_cuda_draws shape{given.shape.samples, given.shape.observables, given.shape.events};
  sagips_cuda_trace trace{};
  if (keep)
    trace = {result.cells.data(), result.shares.data(), result.slopes.data(), result.masses.data()};
  EXPECT_EQ(sagips_cuda_draw_positions(grid, shape, given.densities.data(), given.uniform.data(),
                                       result.positions.data(), trace, nullptr),
            0);
  if (keep) {
    EXPECT_EQ(sagips_cuda_pull_back_positions(grid, shape, trace, given.uniform.data(),
                                              given.gradient_positions.data(),
                                              result.gradient.data(), nullptr),
              0);
  }
  return result;
}

/// Each value within `relative` of the expected one or of what the table's largest one allows; where one is not
/// finite, neither is the other.
void expect_near(const std::vector<float>& found, const std::vector<float>& expected,
                 double relative, std::size_t per_table) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t first = 0; first < expected.size(); first += per_table) {
    double largest = 0;
    for (std::size_t i = first; i < first + per_table; ++i)
      if (std::isfinite(expected[i]))
        largest = std::max(largest, std::abs(static_cast<double>(expected[i])));
    for (std::size_t i = first; i < first + per_table; ++i) {
      if (!std::isfinite(expected[i])) {
        ASSERT_FALSE(std::isfinite(found[i])) << i;
        continue;
      }
      ASSERT_NEAR(static_cast<double>(found[i]), static_cast<double>(expected[i]),
                  relative * largest)
          << i;
    }
  }
}

void expect_alike(const Problem& given) {
  SCOPED_TRACE(testing::Message() << (given.grid.rule == MassRule::left ? "left" : "trapezoid")
                                  << ", points " << given.grid.points << ", samples "
                                  << given.shape.samples << ", observables "
                                  << given.shape.observables << ", events " << given.shape.events);
  const Result expected = of_cpu(given), found = of_device(given);
  EXPECT_EQ(found.cells, expected.cells);
  expect_near(found.positions, expected.positions, 1e-6,
              std::max<std::size_t>(1, found.positions.size()));
  expect_near(found.shares, expected.shares, 1e-6, std::max<std::size_t>(1, found.shares.size()));
  expect_near(found.slopes, expected.slopes, 1e-6, std::max<std::size_t>(1, found.slopes.size()));
  for (std::size_t t = 0; t < expected.masses.size(); ++t)
    EXPECT_NEAR(found.masses[t], expected.masses[t], 1e-14 * expected.masses[t]);
  expect_near(found.gradient, expected.gradient, 1e-6, static_cast<std::size_t>(given.grid.points));
}

TEST(CudaInverseCdf, AgreesWithTheCpu) {
  for (const MassRule rule : {MassRule::left, MassRule::trapezoid}) {
    // A thread sums 1, 5, 9, 17 entries; the search halves 1, 2, 4, ... of them.
    for (const std::int64_t points : {3, 4, 5, 17, 33, 256, 257, 258, 1000, 1025, 2100, 4096})
      for (const std::int64_t events : {1, 100, 257})
        expect_alike(problem(rule, points, {2, 2, events}));
    for (const std::int64_t observables : {1, 2, 3, 5})
      expect_alike(problem(rule, 40, {3, observables, 7}));
    for (const std::int64_t points : {12, 90, 1000})
      expect_alike(problem(rule, points, {2, 2, 50}, 0.6));
  }
}

TEST(CudaInverseCdf, AgreesWithTheCpuInDensitiesOfManySizes) {
  Problem given = problem(MassRule::trapezoid, 1000, {4, 2, 100});
  for (std::size_t i = 0; i < given.densities.size(); ++i)  // falls by 12 orders of magnitude
    given.densities[i] *= std::exp(-0.0277F * static_cast<float>(i % 1000));
  expect_alike(given);
}

TEST(CudaInverseCdf, AgreesWithTheCpuInManyEvents) {
  for (const MassRule rule : {MassRule::left, MassRule::trapezoid}) {
    expect_alike(problem(rule, 1000, {1, 1, 100000}));
    expect_alike(problem(rule, 100, {1, 2, 4097}));
  }
}

TEST(CudaInverseCdf, AgreesWithTheCpuAtTheEnds) {
  for (const MassRule rule : {MassRule::left, MassRule::trapezoid})
    for (const std::int64_t points : {3, 33, 1000}) {
      Problem given = problem(rule, points, {1, 1, 5});
      given.uniform = {0.0F, 1e-30F, 0x1p-24F, 1.0F - 0x1p-24F, 1.0F};
      expect_alike(given);
    }
}

TEST(CudaInverseCdf, AgreesWithTheCpuInEmptyCells) {
  Problem given = problem(MassRule::left, 9, {1, 1, 3});
  given.densities = {0, 1, 0, 0, 0, 1, 0, 0, 0};
  given.uniform = {0.5F, 0.25F, 1.0F};  // the boundary belongs to the right cell
  expect_alike(given);
  given.uniform = {0.0F, 0.0F, 0.0F};
  expect_alike(given);
}

TEST(CudaInverseCdf, AnswersAnEmptyTableWithNan) {
  Problem given = problem(MassRule::trapezoid, 70, {1, 1, 20});
  std::fill(given.densities.begin(), given.densities.end(), 0.0F);
  const Result found = of_device(given);
  for (const float position : found.positions) EXPECT_TRUE(std::isnan(position));
  for (const float value : found.gradient) EXPECT_TRUE(std::isnan(value));
}

TEST(CudaInverseCdf, ShowsAGradientThatIsNotFinite) {
  for (const float wrong : {INFINITY, -INFINITY, NAN}) {
    Problem given = problem(MassRule::left, 70, {2, 1, 20});
    given.gradient_positions[3] = wrong;
    const Result found = of_device(given);
    for (std::size_t i = 0; i < 140; ++i) EXPECT_EQ(std::isfinite(found.gradient[i]), i >= 70);
  }
}

TEST(CudaInverseCdf, GivesTheSameBitsAgainAndWithoutATrace) {
  const Problem given = problem(MassRule::trapezoid, 1000, {2, 2, 300});
  const Result once = of_device(given), again = of_device(given);
  EXPECT_EQ(once.positions, again.positions);
  EXPECT_EQ(once.gradient, again.gradient);
  EXPECT_EQ(of_device(given, false).positions, once.positions);
}

// Sums of cells are exact; the sum through the total is in double and rounds where the order changes.
TEST(CudaInverseCdf, DoesNotDependOnTheOrderOfAdditions) {
  const Problem given = problem(MassRule::trapezoid, 50, {1, 1, 256});
  Problem turned = given;
  for (auto* const values : {&turned.uniform, &turned.gradient_positions})
    std::reverse(values->begin(), values->end());
  const Result one = of_device(given), other = of_device(turned);
  expect_near(other.gradient, one.gradient, 1e-7, 50);
}

TEST(CudaInverseCdf, AcceptsNoDrawsAndNoSamples) {
  EXPECT_TRUE(of_device(problem(MassRule::left, 10, {0, 2, 5})).positions.empty());
  EXPECT_EQ(of_device(problem(MassRule::left, 10, {1, 1, 0})).gradient,
            std::vector<float>(10, 0.0F));
}

TEST(CudaInverseCdf, RefusesTablesThatDoNotFit) {
  for (const std::int64_t points : {2, 4097}) {
    const sagips_cuda_grid grid{1, 0.1, points, 1};
    EXPECT_NE(sagips_cuda_draw_positions(grid, {1, 1, 1}, nullptr, nullptr, nullptr, {}, nullptr),
              0);
    EXPECT_NE(
        sagips_cuda_pull_back_positions(grid, {1, 1, 1}, {}, nullptr, nullptr, nullptr, nullptr),
        0);
  }
}

}  // namespace

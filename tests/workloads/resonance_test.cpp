#include "workloads/resonance/resonance.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sagips/core/error.hpp"
#include "sagips/optim/likelihood/maximum_likelihood.hpp"
#include "sagips/problem/loaded_data.hpp"
#include "tests/core/message_of.hpp"
#include "workloads/resonance/line_shape.hpp"

namespace sagips::workloads {
namespace {

using testing::message_of;

const env::Grid window{.low = 70, .high = 110, .points = 401, .rule = env::CellRule::trapezoid};

struct Shape {
  double mass = 91.1876, width = 2.4952, resolution = 1.5, fraction = 1, slope = 0.03;
};

/// Density at the points of the window, from the workload.
std::vector<double> table_of(const Shape& s) {
  const torch::Tensor parameters =
      torch::tensor({{s.mass, s.width, s.resolution, s.fraction, s.slope}}, torch::kFloat64);
  const torch::Tensor table = resonance::LineShape(window).table(parameters).contiguous();
  EXPECT_EQ(table.sizes(), (std::vector<std::int64_t>{1, 1, 401}));
  return {table.data_ptr<double>(), table.data_ptr<double>() + table.numel()};
}

double integral(const std::vector<double>& table) {
  double sum = (table.front() + table.back()) / 2;
  for (std::size_t i = 1; i + 1 < table.size(); ++i) sum += table[i];
  return sum * window.step();
}

double point(std::size_t i) { return window.low + window.step() * static_cast<double>(i); }

// The convolution by Simpson's rule over 12 resolutions on either side, 1/2000 of one a step.
std::vector<double> signal_by_quadrature(const Shape& s) {
  const auto breit_wigner = [&](double m) {
    const double off = m * m - s.mass * s.mass;
    return m * m / (off * off + s.mass * s.mass * s.width * s.width);
  };
  std::vector<double> table(401);
  constexpr int steps = 48'000;
  for (std::size_t i = 0; i < table.size(); ++i) {
    double sum = 0;
    for (int k = 0; k <= steps; ++k) {
      const double t = -12 + 24.0 * k / steps;
      const double weight = k == 0 || k == steps ? 1 : (k % 2 == 1 ? 4 : 2);
      sum += weight * breit_wigner(point(i) - s.resolution * t) * std::exp(-t * t / 2);
    }
    table[i] = sum;
  }
  const double total = integral(table);
  for (double& value : table) value /= total;
  return table;
}

double largest_relative_difference(const Shape& s) {
  const std::vector<double> found = table_of(s), expected = signal_by_quadrature(s);
  double largest = 0;
  for (std::size_t i = 0; i < found.size(); ++i)
    largest = std::max(largest, std::abs(found[i] / expected[i] - 1));
  return largest;
}

TEST(LineShape, EqualsADirectConvolution) {
  EXPECT_LT(largest_relative_difference({.resolution = 1.5}), 1e-6);
  EXPECT_LT(largest_relative_difference({.resolution = 2}), 1e-6);
  EXPECT_LT(largest_relative_difference({.mass = 88, .width = 4, .resolution = 0.3}), 1e-6);
}

// the accuracy that line_shape.hpp states, where a plain sum is off by up to 80 %
TEST(LineShape, IsAsGoodForNarrowWidthsAndPoorResolutions) {
  for (const double width : {0.5, 1.0, 2.4952, 5.0})
    for (const double resolution : {0.3, 0.7, 2.0, 5.0})
      EXPECT_LT(largest_relative_difference({.width = width, .resolution = resolution}), 1e-6)
          << width << " " << resolution;
}

// 2 pi / step resolutions above the real axis the pole's term is left out, and the sum alone serves
TEST(LineShape, StaysFiniteForAResolutionFarBelowTheWidth) {
  EXPECT_LT(largest_relative_difference({.width = 5, .resolution = 0.02}), 1e-6);
}

TEST(LineShape, GivesItsGradientInSinglePrecision) {
  const torch::Tensor parameters = torch::tensor({{91.1876, 0.5, 5.0, 0.9, 0.03},
                                                  {91.1876, 0.5, 2.0, 0.9, 0.03},
                                                  {91.1876, 2.5, 1.5, 0.9, 0.03},
                                                  {88.0, 5.0, 0.3, 0.9, 0.03}},
                                                 torch::kFloat64);
  const auto gradient = [&](torch::ScalarType type) {
    const torch::Tensor variable = parameters.to(type).requires_grad_();
    const torch::Tensor table = resonance::LineShape(window).table(variable);
    // the mean mass cubed: smooth, as what a training asks for
    const torch::Tensor factors = torch::linspace(-1, 1, 401, table.options()).pow(3);
    return torch::autograd::grad({(table * factors).sum()}, {variable})[0].to(torch::kFloat64);
  };
  const torch::Tensor precise = gradient(torch::kFloat64);
  const torch::Tensor off = (gradient(torch::kFloat32) - precise).abs() / precise.abs();
  EXPECT_LT(off.max().item<double>(), 1e-3) << off;
}

TEST(LineShape, IsNormalisedInTheWindow) {
  for (const double fraction : {0.0, 0.4, 1.0})
    for (const double slope : {-0.05, 0.0, 0.2})
      EXPECT_NEAR(integral(table_of({.fraction = fraction, .slope = slope})), 1, 1e-12);
}

TEST(LineShape, MixesSignalAndBackgroundByTheSignalsShare) {
  const std::vector<double> mixed = table_of({.fraction = 0.3});
  const std::vector<double> signal = table_of({.fraction = 1}),
                            background = table_of({.fraction = 0});
  for (std::size_t i = 0; i < mixed.size(); ++i)
    EXPECT_NEAR(mixed[i], 0.3 * signal[i] + 0.7 * background[i], 1e-14);
}

TEST(LineShape, HasAnExponentialBackground) {
  const std::vector<double> falling = table_of({.fraction = 0, .slope = 0.1});
  // the trapezoid's integral lies step^2 slope^2 / 12 = 8e-6 above (1 - exp(-4)) / 0.1
  for (const std::size_t i : {0U, 137U, 400U})
    EXPECT_NEAR(falling[i] / (0.1 * std::exp(-0.1 * (point(i) - 70)) / (1 - std::exp(-4.0))), 1,
                1e-5);
  for (const double value : table_of({.fraction = 0, .slope = 0}))
    EXPECT_NEAR(value, 1.0 / 40, 1e-14);
}

TEST(LineShape, PeaksAtTheMass) {
  const std::vector<double> table = table_of({.mass = 89});
  const auto peak = std::max_element(table.begin(), table.end());
  // m^2 in the numerator and the window pull it by a few hundredths of a GeV
  EXPECT_NEAR(point(static_cast<std::size_t>(peak - table.begin())), 89, 0.15);
}

env::Environment environment_of(const problem::Workload& workload, std::int64_t events,
                                std::uint64_t seed) {
  problem::DataSettings settings;
  settings.toy_events = events;
  return problem::load_data(workload, settings, seed).all();
}

TEST(Resonance, HoldsTheWidthUnlessToldOtherwise) {
  const auto workload = resonance_workload().make();
  const env::ParameterSet set(workload->parameters());
  EXPECT_EQ(set.names(),
            (std::vector<std::string>{"mass", "width", "resolution", "fraction", "slope"}));
  EXPECT_EQ(set.free(), (std::vector<std::size_t>{0, 2, 3, 4}));
  EXPECT_EQ(set.all()[1].fixed, 2.4952);
}

// Whether errors mean what they say is a matter of many toys: pulls_test.cpp.
TEST(Resonance, IsRecoveredByAFitWithinFiveErrors) {
  const auto workload = resonance_workload().make();
  const env::Environment environment = environment_of(*workload, 10'000, 3);
  const optim::FitResult fit = optim::fit_maximum_likelihood(environment, {}, 3);
  const std::vector<double> floors = optim::cramer_rao_errors(
      environment, optim::ReferenceUse::exact, environment.parameters.truth(), 10'000);
  for (const std::size_t i : environment.parameters.free()) {
    const std::string& name = environment.parameters.all()[i].name;
    EXPECT_LT(std::abs(fit.values[i] - *environment.parameters.all()[i].truth), 5 * fit.errors[i])
        << name;
    EXPECT_NEAR(fit.errors[i] / floors[i], 1, 0.25) << name;
  }
  EXPECT_EQ(fit.errors[1], 0.0);
}

TEST(Resonance, CanFreeItsWidth) {
  auto workload = resonance_workload().make();
  core::FieldList list;
  workload->fields(list);
  core::ConfigDocument document;
  document.override_with("parameters.width.fixed=null");
  document.override_with("parameters.slope.fixed=0.03");
  core::read_fields(document, list);
  const env::ParameterSet set(workload->parameters());
  EXPECT_EQ(set.free(), (std::vector<std::size_t>{0, 1, 2, 3}));
}

TEST(Resonance, CutsMeasuredMassesToItsWindow) {
  const auto workload = resonance_workload().make();
  EXPECT_EQ(workload->channels()[0].cuts, std::vector<std::string>{"70 < M < 110"});
  EXPECT_EQ(workload->channels()[0].observables[0].name, "M");
}

}  // namespace
}  // namespace sagips::workloads

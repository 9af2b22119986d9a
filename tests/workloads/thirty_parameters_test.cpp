// 30 parameters of 10 observables, against the maximum of the likelihood, which regression gives.
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>

#include "sagips/core/text.hpp"
#include "sagips/optim/moments/moments.hpp"

namespace sagips {
namespace {

using torch::Tensor;

constexpr std::int64_t observables = 10, events = 20'000;

/// x_0 = m_0 + s_0 z_0 and x_j = m_j + b_j x_(j-1) + s_j z_j; the last one also has c x_7.
/// shape: [samples, 30] (10 m, 10 s, 9 b, c) -> [samples, events, 10]
struct Chain {
  Tensor operator()(Tensor p, env::Noise& noise) const {
    const auto column = [&](std::int64_t i) { return p.select(1, i).unsqueeze(1); };
    std::vector<Tensor> x;
    for (std::int64_t j = 0; j < observables; ++j) {
      Tensor next = column(j) + column(observables + j) * noise.normal();
      if (j > 0) next = next + column(2 * observables + j - 1) * x.back();
      if (j + 1 == observables) next = next + column(3 * observables - 1) * x[x.size() - 2];
      x.push_back(next);
    }
    return torch::stack(x, 2);
  }
};

env::ParameterSet parameters() {
  std::vector<env::Parameter> all;
  const auto add = [&](const std::string& name, double low, double high, double truth) {
    env::Parameter one;
    one.name = name;
    one.low = low;
    one.high = high;
    one.truth = truth;
    all.push_back(one);
  };
  for (int j = 0; j < observables; ++j) add(core::text("m", j), -2, 2, 0.3 * std::sin(j + 1.0));
  for (int j = 0; j < observables; ++j) add(core::text("s", j), 0.2, 2, 0.8 + 0.03 * j);
  for (int j = 1; j < observables; ++j) add(core::text("b", j), -1, 1, 0.4 * std::cos(j));
  add("c", -1, 1, 0.25);
  return env::ParameterSet(all);
}

/// The maximum of the likelihood and its errors, in the order of the parameters.
std::pair<std::vector<double>, std::vector<double>> regression(const Tensor& values) {
  const Tensor x = values.to(torch::kFloat64);
  const auto n = static_cast<double>(x.size(0));
  std::vector<double> best(30), errors(30);
  for (std::int64_t j = 0; j < observables; ++j) {
    std::vector<Tensor> columns = {torch::ones({x.size(0)}, torch::kFloat64)};
    if (j > 0) columns.push_back(x.select(1, j - 1));
    if (j + 1 == observables) columns.push_back(x.select(1, j - 2));
    const Tensor design = torch::stack(columns, 1);
    const Tensor inverse = torch::linalg_inv(design.t().matmul(design));
    const Tensor found = inverse.matmul(design.t()).matmul(x.select(1, j));
    const double deviation =
        std::sqrt((x.select(1, j) - design.matmul(found)).square().mean().item<double>());
    const auto take = [&](std::int64_t parameter, std::int64_t row) {
      best[static_cast<std::size_t>(parameter)] = found[row].item<double>();
      errors[static_cast<std::size_t>(parameter)] =
          deviation * std::sqrt(inverse[row][row].item<double>());
    };
    take(j, 0);
    if (j > 0) take(2 * observables + j - 1, 1);
    if (j + 1 == observables) take(3 * observables - 1, 2);
    best[static_cast<std::size_t>(observables + j)] = deviation;
    errors[static_cast<std::size_t>(observables + j)] = deviation / std::sqrt(2 * n);
  }
  return {best, errors};
}

TEST(ThirtyParameters, AreWithinHalfAnErrorOfMaximumLikelihood) {
  at::set_num_threads(1);
  env::Environment environment;
  environment.parameters = parameters();
  const env::Pipeline pipeline{Chain{}};
  std::vector<std::string> names;
  for (int j = 0; j < observables; ++j) names.push_back(core::text("x", j));
  environment.channels.push_back({"events",
                                  pipeline,
                                  env::toy_data(pipeline, environment.parameters.truth(), events,
                                                names, core::RandomStream(1, "thirty")),
                                  {},
                                  std::nullopt});
  const auto [best, errors] = regression(environment.channels[0].training.values);
  optim::SolveContext context;
  context.seed = 1;
  const optim::Solution solution = optim::MomentSolver({}).solve(environment, context);
  int within = 0;
  double square = 0;
  for (std::size_t i = 0; i < 30; ++i) {
    const double distance = (solution.values[i] - best[i]) / errors[i];
    square += distance * distance / 30;
    if (std::abs(distance) <= 0.5)
      ++within;
    else
      std::cout << environment.parameters.names()[i] << ": " << distance << " errors\n";
  }
  std::cout << within << " of 30 within half an error, rms " << std::sqrt(square) << ", "
            << solution.time_s << " s, " << solution.evaluations << " evaluations; "
            << solution.warnings.size() << " warnings" << '\n';
  EXPECT_GE(within, 29);
}

}  // namespace
}  // namespace sagips

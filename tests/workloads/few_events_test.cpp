// 100, 200 and 1,000 events: what intervals cover, beside those of the profile of a likelihood that
// knows nothing of the moments. A parameter that data do not fix has its whole range as interval.
// SAGIPS_EXPERIMENTS=N makes fewer than 200.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <nlopt.hpp>
#include <numbers>

#include "sagips/core/text.hpp"
#include "sagips/optim/likelihood/maximum_likelihood.hpp"
#include "sagips/optim/moments/moments.hpp"
#include "tests/workloads/closure_problems.hpp"

namespace sagips {
namespace {

using namespace testing;

/// -ln L of g-and-k events, whose density is that of z over the slope of the quantile function.
class GAndKLikelihood {
 public:
  explicit GAndKLikelihood(const Tensor& events) {
    const Tensor dense = events.to(torch::kFloat64).contiguous();
    events_.assign(dense.data_ptr<double>(), dense.data_ptr<double>() + dense.numel());
  }

  double at(const std::vector<double>& p) const {
    double sum = 0;
    for (const double x : events_) {
      double low = -9, high = 9;
      for (int i = 0; i < 45; ++i) {
        const double middle = (low + high) / 2;
        (quantile(p, middle) < x ? low : high) = middle;
      }
      const double z = (low + high) / 2, step = 1e-5;
      const double slope = (quantile(p, z + step) - quantile(p, z - step)) / (2 * step);
      sum += z * z / 2 + std::log(std::max(slope, 1e-12));
    }
    return sum;
  }

 private:
  static double quantile(const std::vector<double>& p, double z) {
    return p[0] + p[1] * (1 + 0.8 * std::tanh(p[2] * z / 2)) * std::pow(1 + z * z, p[3]) * z;
  }
  std::vector<double> events_;
};

// The least -ln L with parameter `held` at the truth, or with none held, from the truth.
double least(const GAndKLikelihood& likelihood, const env::ParameterSet& parameters,
             std::ptrdiff_t held) {
  std::vector<double> low, high, at, step;
  for (std::size_t i = 0; i < parameters.all().size(); ++i) {
    const env::Parameter& one = parameters.all()[i];
    const bool fixed = static_cast<std::ptrdiff_t>(i) == held;
    at.push_back(*one.truth);
    low.push_back(fixed ? *one.truth : one.low);
    high.push_back(fixed ? *one.truth : one.high);
    step.push_back((one.high - one.low) / 50);
  }
  nlopt::opt method(nlopt::LN_SBPLX, static_cast<unsigned>(at.size()));
  method.set_min_objective(
      [](const std::vector<double>& p, std::vector<double>&, void* data) {
        return static_cast<const GAndKLikelihood*>(data)->at(p);
      },
      const_cast<GAndKLikelihood*>(&likelihood));
  method.set_lower_bounds(low);
  method.set_upper_bounds(high);
  method.set_initial_step(step);
  method.set_ftol_abs(1e-4);
  method.set_maxeval(4'000);
  double value = 0;
  method.optimize(at, value);
  return value;
}

// Whether the truth of each free parameter lies where the profile of -ln L has grown by less than 1/2:
// by the fit of a known density, or by minimising anew with the parameter held there.
std::vector<bool> covered_by_profile(const env::Environment& environment, std::uint64_t seed) {
  std::vector<bool> covered;
  const env::ParameterSet& parameters = environment.parameters;
  if (!environment.channels[0].density) {
    const GAndKLikelihood likelihood(environment.channels[0].training.values);
    double best = least(likelihood, parameters, -1);
    std::vector<double> held;
    for (std::ptrdiff_t i = 0; i < parameters.size(); ++i) {
      held.push_back(least(likelihood, parameters, i));
      best = std::min(best, held.back());
    }
    for (const double one : held) covered.push_back(one - best < 0.5);
    return covered;
  }
  const optim::FitResult fit = optim::fit_maximum_likelihood(environment, {}, seed);
  for (const std::size_t i : parameters.free()) {
    const double truth = *parameters.all()[i].truth;
    covered.push_back(fit.open[i] || std::abs(truth - fit.values[i]) < fit.error_towards(i, truth));
  }
  return covered;
}

class FewEvents : public ::testing::TestWithParam<std::tuple<std::size_t, std::int64_t>> {};

TEST_P(FewEvents, AreCoveredAsByProfiles) {
  at::set_num_threads(1);
  const char* fewer = std::getenv("SAGIPS_EXPERIMENTS");
  const int experiments = fewer ? std::atoi(fewer) : 200;
  const Problem problem = problems()[std::get<0>(GetParam())];
  const std::int64_t events = std::get<1>(GetParam());
  std::vector<std::string> names;
  std::vector<double> ours, theirs, discordant, farthest, open, sided;
  int warned = 0;
  double seconds = 0;
  for (int seed = 1; seed <= experiments; ++seed) {
    const env::Environment environment = problem.make(static_cast<std::uint64_t>(seed), events);
    optim::SolveContext context;
    context.seed = static_cast<std::uint64_t>(seed);
    const optim::Solution solution = optim::MomentSolver({}).solve(environment, context);
    const std::vector<bool> profile = covered_by_profile(environment, context.seed);
    const bool warns = !solution.warnings.empty() || !solution.open_directions.empty();
    warned += warns ? 1 : 0;
    seconds += solution.time_s / experiments;
    const auto& free = environment.parameters.free();
    for (auto* all : {&ours, &theirs, &discordant, &farthest, &open, &sided})
      all->resize(free.size());
    for (std::size_t k = 0; k < free.size(); ++k) {
      const std::size_t i = free[k];
      const env::Parameter& one = environment.parameters.all()[i];
      if (seed == 1) names.push_back(one.name);
      const double away = (*one.truth - solution.values[i]) / solution.error_towards(i, *one.truth);
      const bool covers = solution.open[i] || std::abs(away) < 1;
      open[k] += solution.open[i] ? 1 : 0;
      sided[k] += solution.asymmetric[i] ? 1 : 0;
      ours[k] += covers ? 1 : 0;
      theirs[k] += profile[k] ? 1 : 0;
      discordant[k] += covers != profile[k] ? 1 : 0;
      if (!warns) farthest[k] = std::max(farthest[k], std::abs(away));
    }
  }
  for (std::size_t k = 0; k < names.size(); ++k) {
    std::cout << problem.name << ", " << events << " events, " << names[k] << ": covered "
              << core::fixed(ours[k] / experiments, 3) << ", by profiles "
              << core::fixed(theirs[k] / experiments, 3) << ", not fixed in "
              << core::fixed(open[k] / experiments, 3) << ", two sides in "
              << core::fixed(sided[k] / experiments, 3) << ", farthest "
              << core::fixed(farthest[k], 1) << '\n';
    // the difference of two shares of the same toys; false alarm 2e-4
    EXPECT_GT(ours[k] - theirs[k], -3.5 * std::sqrt(std::max(discordant[k], 1.0))) << names[k];
    EXPECT_LT(farthest[k], 6) << names[k];
  }
  std::cout << problem.name << ", " << events << " events: " << warned << " warned, "
            << core::fixed(seconds, 2) << " s\n";
}
INSTANTIATE_TEST_SUITE_P(Problems, FewEvents,
                         ::testing::Combine(::testing::Values<std::size_t>(4, 5, 6),
                                            ::testing::Values<std::int64_t>(100, 200, 1'000)));

}  // namespace
}  // namespace sagips

// Moment matching against the maximum-likelihood fit of the same data, over many data sets.
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>

#include "sagips/core/config/config.hpp"
#include "sagips/core/text.hpp"
#include "sagips/optim/likelihood/maximum_likelihood.hpp"
#include "sagips/optim/moments/moments.hpp"
#include "sagips/problem/loaded_data.hpp"
#include "workloads/proxy1d/proxy1d.hpp"
#include "workloads/proxy2d/proxy2d.hpp"
#include "workloads/resonance/resonance.hpp"

namespace sagips::workloads {
namespace {

struct Toys {
  std::unique_ptr<problem::Workload> workload;
  problem::DataSettings settings;

  Toys(const problem::WorkloadEntry& entry, std::int64_t events,
       const std::vector<std::string>& overrides = {})
      : workload(entry.make()) {
    settings.toy_events = events;
    core::ConfigDocument document;
    for (const std::string& override : overrides) document.override_with(override);
    core::FieldList list;
    workload->fields(list);
    core::read_fields(document, list);
  }
  env::Environment environment(std::uint64_t seed) const {
    return problem::load_data(*workload, settings, seed).all();
  }
};

optim::Solution solve(const env::Environment& environment, std::uint64_t seed, bool minima = true) {
  optim::MomentsConfig config;
  config.start = optim::MomentsConfig::Start::random;
  config.minima = minima;
  optim::SolveContext context;
  context.seed = seed;
  context.intervals = minima;
  return optim::MomentSolver(config).solve(environment, context);
}

/// Pulls and coverage of each free parameter, and what they may be.
class Calibration {
 public:
  void add(const env::Environment& environment, const optim::Solution& solution) {
    const auto& free = environment.parameters.free();
    pulls_.resize(free.size());
    EXPECT_TRUE(solution.others.empty()) << "one solution is all there is";
    for (std::size_t i = 0; i < free.size(); ++i) {
      const env::Parameter& parameter = environment.parameters.all()[free[i]];
      names_.resize(std::max(names_.size(), i + 1));
      names_[i] = parameter.name;
      pulls_[i].push_back((solution.values[free[i]] - *parameter.truth) / solution.errors[free[i]]);
    }
  }

  // Each of 3 numbers a parameter lies beyond 3.5 standard errors with a probability of about 5e-4
  // (means and widths; coverage of few toys up to 2e-3).
  void expect_calibrated() const {
    for (std::size_t i = 0; i < pulls_.size(); ++i) {
      const double n = static_cast<double>(pulls_[i].size());
      double mean = 0, square = 0, covered = 0;
      for (const double pull : pulls_[i]) {
        mean += pull / n;
        square += pull * pull / n;
        covered += (std::abs(pull) < 1 ? 1 : 0) / n;
      }
      const double width = std::sqrt((square - mean * mean) * n / (n - 1));
      EXPECT_LT(std::abs(mean), 3.5 / std::sqrt(n)) << "mean pull of " << names_[i];
      EXPECT_LT(std::abs(width - 1), 3.5 / std::sqrt(2 * n)) << "width of " << names_[i];
      EXPECT_LT(std::abs(covered - 0.6827), 3.5 * std::sqrt(0.2166 / n))
          << "coverage of " << names_[i];
      std::cout << names_[i] << ": mean pull " << core::fixed(mean, 2) << ", width "
                << core::fixed(width, 2) << ", coverage " << core::fixed(covered, 2) << '\n';
    }
  }

 private:
  std::vector<std::string> names_;
  std::vector<std::vector<double>> pulls_;
};

double farthest(const optim::Solution& solution, const optim::FitResult& fit,
                const std::vector<double>& floors, const env::ParameterSet& parameters) {
  double worst = 0;
  for (const std::size_t i : parameters.free())
    worst = std::max(worst, std::abs(solution.values[i] - fit.values[i]) / floors[i]);
  return worst;
}

// False alarm of the calibration: 6 parameters, 3 numbers: at most 1.5 %. The seeds are fixed.
TEST(MomentsOfProxy1d, AreTheMaximumLikelihoodFitOfTheSameData) {
  at::set_num_threads(1);
  constexpr std::uint64_t seeds = SAGIPS_DATA_SETS;
  const Toys toys(proxy1d_workload(), 100'000);
  std::vector<double> floors;
  Calibration calibration;
  std::uint64_t within = 0;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const env::Environment environment = toys.environment(seed);
    if (floors.empty())
      floors = optim::cramer_rao_errors(environment, optim::ReferenceUse::exact,
                                        environment.parameters.truth(), 100'000);
    const optim::Solution solution = solve(environment, seed);
    const optim::FitResult fit = optim::fit_maximum_likelihood(environment, {}, seed);
    if (farthest(solution, fit, floors, environment.parameters) < 0.5) ++within;
    calibration.add(environment, solution);
  }
  EXPECT_GE(within * 25, seeds * 24);
  calibration.expect_calibrated();
}

// No density is known here; the edges of the box cut events away. Neither other minima nor intervals are
// asked for: with noisy slopes these take most of the time, and no number judged here changes.
TEST(MomentsOfProxy1d, SurviveSmearingMixingAndAFilter) {
  at::set_num_threads(1);
  const Toys toys(proxy1d_workload(), 100'000,
                  {"detector.enabled=true", "filter.enabled=true", "filter.low=[0.12, 0.12]",
                   "filter.high=[0.7, 0.7]"});
  Calibration calibration;
  for (std::uint64_t seed = 0; seed < SAGIPS_FILTERED_SETS; ++seed) {
    const env::Environment environment = toys.environment(seed);
    const optim::Solution solution = solve(environment, seed, false);
    EXPECT_TRUE(solution.converged);
    EXPECT_GT(solution.goodness[0].p_value, 1e-4) << seed;  // 50 seeds: 5e-3
    calibration.add(environment, solution);
  }
  calibration.expect_calibrated();
}

// Truths with one parameter 3 % of its range away from an end, the others anywhere between 20 and 80 %.
std::vector<std::string> near_an_end(std::uint32_t truth) {
  const std::vector<env::Parameter> parameters = proxy1d_workload().make()->parameters();
  std::vector<double> places(parameters.size());
  core::RandomStream(1, "truths near ends").uniform(truth, 0, places);
  std::vector<std::string> overrides;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const bool at_end = i == truth % parameters.size();
    const double place = !at_end ? 0.2 + 0.6 * places[i] : places[i] < 0.5 ? 0.03 : 0.97;
    overrides.push_back(
        core::text("parameters.", parameters[i].name,
                   ".toy=", parameters[i].low + place * (parameters[i].high - parameters[i].low)));
  }
  return overrides;
}

TEST(MomentsOfProxy1d, AnswerNearTheEndsOfTheRanges) {
  at::set_num_threads(1);
  int within = 0;
  for (std::uint32_t truth = 0; truth < SAGIPS_TRUTHS; ++truth) {
    const Toys toys(proxy1d_workload(), 20'000, near_an_end(truth));
    const env::Environment environment = toys.environment(truth);
    const std::string words = core::join(near_an_end(truth), " ");
    optim::FitResult fit;
    ASSERT_NO_THROW(fit = optim::fit_maximum_likelihood(environment, {}, truth)) << words;
    const optim::Solution solution = solve(environment, truth);
    EXPECT_TRUE(fit.open_directions.empty()) << words;
    const double distance = farthest(solution, fit, fit.errors, environment.parameters);
    if (distance < 0.5)
      ++within;
    else
      std::cout << words << ": " << distance << " errors\n";
  }
  EXPECT_GE(within * 16, SAGIPS_TRUTHS * 15);
}

// b_d sits at its end, and along the valley N_d would leave its range far behind it.
TEST(FitOfProxy1d, SettlesAtAnEndBesideALongValley) {
  at::set_num_threads(1);
  const env::Environment environment = Toys(proxy1d_workload(), 1'000).environment(59);
  optim::FitResult fit;
  ASSERT_NO_THROW(fit = optim::fit_maximum_likelihood(environment, {}, 59));
  EXPECT_EQ(fit.starts, 1);
}

// 200 events leave a valley so flat that Newton steps go on for long.
TEST(FitOfProxy1d, SettlesInAFlatValley) {
  at::set_num_threads(1);
  const env::Environment environment = Toys(proxy1d_workload(), 200).environment(30);
  ASSERT_NO_THROW(optim::fit_maximum_likelihood(environment, {}, 30));
}

TEST(MomentsOfResonance, AreTheFit) {
  at::set_num_threads(1);
  const Toys toys(resonance_workload(), 10'000);
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const env::Environment environment = toys.environment(seed);
    const optim::Solution solution = solve(environment, seed);
    const optim::FitResult fit = optim::fit_maximum_likelihood(environment, {}, seed);
    EXPECT_LT(farthest(solution, fit, fit.errors, environment.parameters), 0.5) << seed;
    for (const std::size_t i : environment.parameters.free())
      EXPECT_NEAR(solution.errors[i] / fit.errors[i], 1, 0.2) << seed;
  }
}

TEST(MomentsOfProxy2d, AreWithinAFloorOfTheFit) {
  at::set_num_threads(1);
  const Toys toys(proxy2d_workload(), 100'000);
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    const env::Environment environment = toys.environment(seed);
    const optim::Solution solution = solve(environment, seed);
    const optim::FitResult fit = optim::fit_maximum_likelihood(environment, {}, seed);
    EXPECT_LT(farthest(solution, fit, fit.errors, environment.parameters), 1) << seed;
  }
}

TEST(MomentsOfResonance, AreTheFitOfTheRealEvents) {
  const char* folder = std::getenv("SAGIPS_DATA");
  if (!folder) GTEST_SKIP() << "SAGIPS_DATA is not set: it names the folder of the real events";
  Toys toys(resonance_workload(), 1);
  toys.settings.data.file = std::string(folder) + "/cms_zmumu_2011/Zmumu_Run2011A_masses.csv";
  const env::Environment environment = toys.environment(1);
  const optim::Solution solution = solve(environment, 1);
  const optim::FitResult fit = optim::fit_maximum_likelihood(environment, {}, 1);
  EXPECT_LT(farthest(solution, fit, fit.errors, environment.parameters), 1);
  for (const std::size_t i : environment.parameters.free())
    EXPECT_NEAR(solution.errors[i] / fit.errors[i], 1, 0.2);
}

}  // namespace
}  // namespace sagips::workloads

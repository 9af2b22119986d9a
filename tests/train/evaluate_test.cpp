#include "sagips/train/evaluate.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sagips/core/error.hpp"
#include "sagips/env/compare/distance.hpp"
#include "sagips/train/early_stop.hpp"
#include "tests/core/message_of.hpp"
#include "tests/optim/small_environment.hpp"

namespace sagips::train {
namespace {

using namespace sagips::testing;

/// Proposes the same rows whatever it learns.
class Stubborn final : public optim::Optimizer {
 public:
  explicit Stubborn(torch::Tensor proposals) : proposals_(std::move(proposals)) {}
  std::unique_ptr<optim::Batch> draw(std::uint32_t) const override { return {}; }
  std::vector<optim::UpdateStep>& steps() override { return steps_; }
  std::vector<optim::Pass>& passes() override { return passes_; }
  std::vector<optim::Action> schedule() const override { return {}; }
  torch::Tensor predict(std::int64_t rows) {
    return proposals_.expand({rows, proposals_.size(1)}).clone();
  }
  void state(nn::StateList&) override {}

 private:
  torch::Tensor proposals_;
  std::vector<optim::UpdateStep> steps_;
  std::vector<optim::Pass> passes_;
};

Stubborn at_truth() { return Stubborn(torch::tensor({{1.5F, 0.5F}})); }

double distance_of(const record::Evaluated& evaluated, const std::string& name) {
  for (const auto& distance : evaluated.metrics)
    if (distance.name == name) return distance.value;
  ADD_FAILURE() << "no distance '" << name << "'";
  return std::nan("");
}

std::vector<std::string> names_of(const record::Evaluated& evaluated) {
  std::vector<std::string> names;
  for (const auto& distance : evaluated.metrics) names.push_back(distance.name);
  return names;
}

record::Evaluated seen_by(const Evaluator& evaluator, Stubborn& optimizer) {
  return evaluator.evaluate(optimizer.predict(evaluator.samples()));
}

TEST(Evaluator, GivesMeanSpreadAndResidualOfEachParameter) {
  env::Environment environment = small_environment();
  environment.parameters = env::ParameterSet([&] {
    std::vector<env::Parameter> parameters = environment.parameters.all();
    parameters[1].fixed = 0.5;
    parameters[1].unit = "cm";
    return parameters;
  }());
  Stubborn optimizer(torch::tensor({{1.0F, 0.5F}, {3.0F, 0.5F}}));
  const record::Evaluated seen =
      seen_by(Evaluator({.samples = 2, .events = 5}, environment, 1), optimizer);
  ASSERT_EQ(seen.parameters.size(), 2U);
  EXPECT_EQ(seen.parameters[0].name, "mean");
  EXPECT_DOUBLE_EQ(seen.parameters[0].value, 2);
  EXPECT_DOUBLE_EQ(seen.parameters[0].spread, 1) << "1/n, as in eq. (8)";
  EXPECT_DOUBLE_EQ(*seen.parameters[0].residual, (1.5 - 2) / 1.5);
  EXPECT_TRUE(seen.parameters[1].fixed);
  EXPECT_EQ(seen.parameters[1].unit, "cm");
  EXPECT_FALSE(seen.parameters[1].residual.has_value());
}

TEST(Evaluator, GivesNoResidualWhereTheTruthIsUnknownOrZero) {
  env::Environment environment = small_environment();
  std::vector<env::Parameter> parameters = environment.parameters.all();
  parameters[0].truth = 0.0;  // eq. (6) divides by it
  parameters[1].truth.reset();
  environment.parameters = env::ParameterSet(parameters);
  Stubborn optimizer = at_truth();
  const record::Evaluated seen =
      seen_by(Evaluator({.samples = 2, .events = 5}, environment, 1), optimizer);
  EXPECT_FALSE(seen.parameters[0].residual.has_value());
  EXPECT_FALSE(seen.parameters[1].residual.has_value());
}

// Two samples of 20,000 and 500 events of one distribution; Kolmogorov-Smirnov beyond 2.9 has a
// probability of 1e-7.
TEST(Evaluator, MeasuresDistancesToHeldOutEvents) {
  const env::Environment environment = small_environment();
  Stubborn optimizer = at_truth();
  const Evaluator evaluator({}, environment, 1);
  const record::Evaluated seen = seen_by(evaluator, optimizer);
  EXPECT_EQ(names_of(seen),
            (std::vector<std::string>{"level_residual", "ks_x", "energy", "ks_mean"}));
  EXPECT_NEAR(distance_of(seen, "level_residual"), 0, 1e-6);
  const double ks = distance_of(seen, "ks_x");
  EXPECT_LT(ks * std::sqrt(20'000.0 * 500 / 20'500), 2.9);
  const auto [values, weights] = evaluator.events(0, optimizer.predict(1000));
  EXPECT_EQ(values.sizes(), (std::vector<std::int64_t>{20'000, 1}));
  EXPECT_EQ(ks, env::kolmogorov_smirnov({values.select(1, 0), weights},
                                        {environment.channels[0].held_out.values.select(1, 0)}));
  EXPECT_EQ(distance_of(seen, "ks_mean"), ks);

  Stubborn wrong(torch::tensor({{2.5F, 0.5F}}));
  const record::Evaluated off = seen_by(evaluator, wrong);
  EXPECT_NEAR(distance_of(off, "level_residual"), (2.0 - 3.0) / 2.0, 1e-6);
  EXPECT_GT(distance_of(off, "ks_x"), 0.5);
  EXPECT_GT(distance_of(off, "energy"), 0.5);
}

TEST(Evaluator, UsesTheSameNoiseEveryTime) {
  const env::Environment environment = small_environment(2);
  Stubborn optimizer = at_truth();
  const Evaluator evaluator({.samples = 50, .events = 10}, environment, 1);
  const record::Evaluated once = seen_by(evaluator, optimizer),
                          again = seen_by(evaluator, optimizer);
  ASSERT_EQ(once.metrics.size(), again.metrics.size());
  for (std::size_t i = 0; i < once.metrics.size(); ++i)
    EXPECT_EQ(once.metrics[i].value, again.metrics[i].value) << once.metrics[i].name;
}

TEST(Evaluator, NamesTheChannelWhereThereAreSeveral) {
  const env::Environment environment = small_environment(2);
  Stubborn optimizer = at_truth();
  const record::Evaluated seen = seen_by(Evaluator({}, environment, 1), optimizer);
  EXPECT_EQ(names_of(seen),
            (std::vector<std::string>{"level_residual near", "ks_x near", "energy near",
                                      "level_residual far", "ks_x far", "energy far", "ks_mean"}));
  EXPECT_NEAR(distance_of(seen, "ks_mean"),
              (distance_of(seen, "ks_x near") + distance_of(seen, "ks_x far")) / 2, 1e-12);
}

// A file may be sorted by what it holds; the energy distance looks at a part of both sides.
TEST(Evaluator, TakesItsPartOfTheEventsFromAllOfThem) {
  env::Environment environment = small_environment();
  torch::Tensor& held_out = environment.channels[0].held_out.values;
  held_out = std::get<0>(held_out.sort(0));
  Stubborn optimizer = at_truth();
  const record::Evaluated seen = seen_by(
      Evaluator({.samples = 50, .events = 20, .energy_events = 100}, environment, 1), optimizer);
  // the lower fifth of the events alone lies 1.4 deviations off: a distance above 1
  EXPECT_LT(std::abs(distance_of(seen, "energy")), 0.2);
}

TEST(Evaluator, NeedsNoHeldOutEvents) {
  env::Environment environment = small_environment();
  Stubborn optimizer = at_truth();
  for (const torch::Tensor& none : {torch::Tensor(), torch::zeros({0, 1})}) {
    environment.channels[0].held_out.values = none;
    const record::Evaluated seen = seen_by(Evaluator({}, environment, 1), optimizer);
    EXPECT_EQ(names_of(seen), std::vector<std::string>{"level_residual"});
  }
}

/// Inference keeps no event.
struct Nothing {
  env::Events operator()(env::Events events, env::Noise&) const { return events; }
  env::Events infer(env::Events events, env::Noise&) const {
    events.mask = torch::zeros({events.values.size(0), events.values.size(1)}, torch::kBool);
    return events;
  }
};

TEST(Evaluator, SurvivesASelectionThatNothingPasses) {
  env::Environment environment = small_environment();
  environment.channels[0].pipeline.append(Nothing{});
  Stubborn optimizer = at_truth();
  EXPECT_EQ(names_of(seen_by(Evaluator({}, environment, 1), optimizer)),
            std::vector<std::string>{"level_residual"});
}

record::Evaluated at_distance(double value) {
  record::Evaluated evaluated;
  evaluated.metrics = {{"energy", 0.0}, {"ks_mean", value}};
  return evaluated;
}

/// The evaluation, counted from 1, at which it stops; 0: never.
int stops_at(EarlyStop stop, const std::vector<double>& distances) {
  for (std::size_t i = 0; i < distances.size(); ++i)
    if (!stop(at_distance(distances[i])).empty()) return static_cast<int>(i + 1);
  return 0;
}

TEST(EarlyStop, NeverStopsWithoutPatience) {
  EXPECT_EQ(stops_at(EarlyStop({}), std::vector<double>(100, 1.0)), 0);
}

TEST(EarlyStop, StopsWhenTheDistanceNoLongerFalls) {
  const EarlyStop patient({.patience = 3, .improvement = 0.05});
  EXPECT_EQ(stops_at(patient, {1, 0.9, 0.8, 0.8, 0.8, 0.8}), 6);
  EXPECT_EQ(stops_at(patient, {1, 1, 1, 0.9, 1, 1, 0.8, 1, 1, 1}), 10) << "each fall counts anew";
  EXPECT_EQ(stops_at(patient, {1, 0.96, 0.955, 0.951}), 4) << "less than a twentieth is no fall";
  EXPECT_EQ(stops_at(patient, {1, 0.94, 0.88, 0.83, 0.78}), 0);
}

TEST(EarlyStop, SaysWhatItSaw) {
  EarlyStop stop({.patience = 1});
  stop(at_distance(0.125));
  const std::string reason = stop(at_distance(0.5));
  EXPECT_EQ(reason.find("early stop: "), 0U) << reason;
  EXPECT_NE(reason.find("0.125"), std::string::npos) << reason;
}

// Of an accuracy none could be five hundredths above 0.96.
TEST(EarlyStop, TakesAnyImprovementUnlessToldOtherwise) {
  EXPECT_EQ(stops_at(EarlyStop({.patience = 2}), {0.96, 0.959, 0.958, 0.957, 0.956}), 0);
  const EarlyStop rising({.better = EarlyStopConfig::Better::higher, .patience = 2});
  EXPECT_EQ(stops_at(rising, {0.92, 0.93, 0.933, 0.9331, 0.94}), 0);
}

TEST(EarlyStop, NamesTheThresholdThatWasNotPassed) {
  EarlyStop stop({.better = EarlyStopConfig::Better::higher, .patience = 1, .improvement = 0.05});
  stop(at_distance(0.8));
  const std::string reason = stop(at_distance(0.83));  // above the best, and too little
  EXPECT_NE(reason.find("has not risen above 0.8400 for 1 evaluation"), std::string::npos)
      << reason;
  EXPECT_NE(reason.find("0.8000, and early_stop.improvement=0.05"), std::string::npos) << reason;
}

TEST(EarlyStop, KnowsWhichWayAMetricGetsBetter) {
  for (const char* name : {"accuracy", "top_3_accuracy", "area_under_curve", "recall/top",
                           "precision/0", "area_under_curve/W", "efficiency_at_1_percent/W"})
    EXPECT_TRUE(EarlyStopConfig{.metric = name}.higher_is_better()) << name;
  for (const char* name : {"loss", "ks_mean", "energy", "mean_square_error", "norm_1_residual"})
    EXPECT_FALSE(EarlyStopConfig{.metric = name}.higher_is_better()) << name;
  EarlyStop stop({.metric = "accuracy", .target = 0.97});
  record::Evaluated evaluated;
  evaluated.metrics = {{"accuracy", 0.5}};
  EXPECT_EQ(stop(evaluated), "");
  evaluated.metrics = {{"accuracy", 0.98}};
  EXPECT_NE(stop(evaluated), "");
  const EarlyStopConfig told{.metric = "accuracy", .better = EarlyStopConfig::Better::lower};
  EXPECT_FALSE(told.higher_is_better()) << "what is said counts";
}

TEST(EarlyStop, PassesOverWhatIsNotDefined) {
  const double nan = std::nan("");
  const EarlyStop patient({.patience = 2, .improvement = 0});
  EXPECT_EQ(stops_at(patient, std::vector<double>(20, nan)), 0);
  // 0.5 is the best, whatever comes before it and between
  EXPECT_EQ(stops_at(patient, {nan, 0.5, nan, 0.6, nan, 0.7}), 6);
  EXPECT_EQ(stops_at(EarlyStop({.target = 0.4}), {nan, nan, 0.3}), 3);
}

TEST(EarlyStop, LooksAtNothingButItsMetric) {
  EarlyStop stop({.patience = 1});
  for (int i = 0; i < 5; ++i) EXPECT_EQ(stop(record::Evaluated{}), "") << "nothing is measured";
  record::Evaluated without;
  without.metrics = {{"energy", 1.0}};
  EXPECT_NE(message_of<core::ConfigError>([&] { stop(without); }).find("There are: energy"),
            std::string::npos);
  EarlyStop energy({.metric = "energy", .patience = 1});
  EXPECT_EQ(energy(without), "");
  EXPECT_NE(energy(without), "");
}

TEST(EarlyStop, MayComparePartsOfTheCourse) {
  const EarlyStop means({.patience = 2, .rule = EarlyStopConfig::Rule::means});
  EXPECT_EQ(stops_at(means, {5, 1, 2, 2, 3, 3}), 5) << "2.5 after 1.5; at the fourth 2 after 3";
  EXPECT_EQ(stops_at(means, {4, 3, 2, 1}), 0);
  EXPECT_EQ(stops_at(means, {1, 1, 1, 1, 1}), 0) << "as good is not worse";
}

TEST(EarlyStop, KnowsMetricsThatRise) {
  const EarlyStop rising({.better = EarlyStopConfig::Better::higher, .patience = 2});
  EXPECT_EQ(stops_at(rising, {0.5, 0.7, 0.9, 0.9, 0.9}), 5);
  const EarlyStop means({.better = EarlyStopConfig::Better::higher,
                         .patience = 1,
                         .rule = EarlyStopConfig::Rule::means});
  EXPECT_EQ(stops_at(means, {0.5, 0.7, 0.6}), 3);
}

TEST(EarlyStop, StopsAtItsTarget) {
  EXPECT_EQ(stops_at(EarlyStop({.target = 0.1}), {0.5, 0.11, 0.1, 0.2}), 3);
  EXPECT_EQ(stops_at(EarlyStop({.better = EarlyStopConfig::Better::higher, .target = 0.97}),
                     {0.5, 0.96, 0.98}),
            3);
}

TEST(EarlyStop, GoesOnFromItsState) {
  EarlyStop stop({.patience = 2}), resumed({.patience = 2});
  stop(at_distance(0.5));
  stop(at_distance(0.6));
  nn::take_state(resumed, nn::give_state(stop));
  EXPECT_NE(resumed(at_distance(0.55)), "");
}

}  // namespace
}  // namespace sagips::train

// How the adversarial objective scores synthetic events.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sagips/core/error.hpp"
#include "sagips/env/stages/event_filter.hpp"
#include "sagips/optim/gan/objective.hpp"
#include "tests/core/message_of.hpp"
#include "tests/env/noise_of.hpp"
#include "tests/optim/small_logits.hpp"

namespace sagips::optim {
namespace {

using namespace sagips::testing;
using env::EventFilter;
using env::Events;
using env::Noise;

AdversarialObjective objective_of(AdversarialObjective::Config config,
                                  std::map<std::string, double> reference = {}) {
  return AdversarialObjective(std::move(config), std::move(reference));
}

TEST(LeastSquares, EqualsAHandCalculation) {
  const AdversarialObjective objective = objective_of({});
  const Events events = plain_events(2, 2);
  EXPECT_NEAR(objective.real(logits().flatten()).item<double>(), (0.25 + 0.0625 + 0.64 + 0.01) / 4,
              1e-12);
  EXPECT_NEAR(objective.synthetic(logits(), events).item<double>(),
              (0.25 + 0.5625 + 0.04 + 0.81) / 4, 1e-12);
  EXPECT_NEAR(objective.generator(logits(), events).item<double>(),
              (0.25 + 0.0625 + 0.64 + 0.01) / 4, 1e-12);
}

TEST(CrossEntropy, EqualsAHandCalculationForSoftLabels) {
  AdversarialObjective::Config config;
  config.loss = "cross_entropy";
  config.label_real = 0.9;
  config.label_synthetic = 0.1;
  const AdversarialObjective objective = objective_of(config);
  const auto mean = [](double label) {
    double sum = 0;
    for (const double s : {0.5, 0.75, 0.2, 0.9})
      sum += -label * std::log(s) - (1 - label) * std::log(1 - s);
    return sum / 4;
  };
  EXPECT_NEAR(objective.real(logits().flatten()).item<double>(), mean(0.9), 1e-12);
  EXPECT_NEAR(objective.synthetic(logits(), plain_events(2, 2)).item<double>(), mean(0.1), 1e-12);
  EXPECT_NEAR(objective.generator(logits(), plain_events(2, 2)).item<double>(), mean(1), 1e-12);
}

TEST(CrossEntropy, StaysFiniteForExtremeLogits) {
  AdversarialObjective::Config config;
  config.loss = "cross_entropy";
  const AdversarialObjective objective = objective_of(config);
  const torch::Tensor extreme = torch::tensor({-1000.0F, 1000.0F}).requires_grad_();
  const torch::Tensor loss = objective.real(extreme);
  EXPECT_FLOAT_EQ(loss.item<float>(), 500.0F);
  EXPECT_TRUE(
      torch::equal(torch::autograd::grad({loss}, {extreme})[0], torch::tensor({-0.5F, 0.0F})));
}

TEST(Objective, TakesMeansOverEventsByWeightThenOverSamples) {
  Events events = plain_events(2, 2);
  events.weights = torch::tensor({{1.0, 3.0}, {2.0, 5.0}}, torch::kFloat64);
  const AdversarialObjective objective = objective_of({});
  EXPECT_NEAR(objective.synthetic(logits(), events).item<double>(),
              ((0.25 + 3 * 0.5625) / 4 + (2 * 0.04 + 5 * 0.81) / 7) / 2, 1e-12);
  events.mask = torch::tensor({{true, true}, {true, false}});
  EXPECT_NEAR(objective.synthetic(logits(), events).item<double>(),
              ((0.25 + 3 * 0.5625) / 4 + 0.04) / 2, 1e-6);
}

// the least a generator pays for an event that vanished: the loss at the logit -5
const double lost = std::pow(1 / (1 + std::exp(5.0)) - 1, 2);

TEST(Objective, GivesNoNaNForASampleWithoutEvents) {
  Events events = plain_events(2, 2);
  events.mask = torch::tensor({{true, true}, {false, false}});
  const torch::Tensor values = logits().requires_grad_();
  const torch::Tensor synthetic = objective_of({}).synthetic(values, events);
  EXPECT_NEAR(synthetic.item<double>(), (0.25 + 0.5625) / 4, 1e-12) << "nothing to learn from it";
  EXPECT_EQ(largest(torch::autograd::grad({synthetic}, {values})[0][1]), 0.0);
  const torch::Tensor generator = objective_of({}).generator(values, events);
  EXPECT_NEAR(generator.item<double>(), ((0.25 + 0.0625) / 2 + lost) / 2, 1e-12);
  EXPECT_EQ(largest(torch::autograd::grad({generator}, {values})[0][1]), 0.0);
}

// The generator's score of one sample whose two events weigh as given, and its slope by a weight.
std::pair<double, double> score_and_slope(AdversarialObjective::Config config, double weight,
                                          const torch::Tensor& logit) {
  Events events = plain_events(1, 2);
  const torch::Tensor weights = torch::full({1, 2}, weight, torch::kFloat64).requires_grad_();
  events.weights = weights;
  const torch::Tensor score = objective_of(std::move(config)).generator(logit, events);
  return {score.item<double>(), torch::autograd::grad({score}, {weights})[0][0][0].item<double>()};
}

TEST(Objective, NeverRewardsEventsThatVanish) {
  const auto losses = adversarial_losses();
  for (const std::string& loss : losses.names())
    for (const double label : {1.0, 0.5, 0.0})
      for (const double logit : {-9.0, -1.0, 0.0, 3.0, 9.0}) {
        if (label != 1 && losses.get(loss, "").labels != AdversarialLoss::Labels::of_all) continue;
        AdversarialObjective::Config config;
        config.loss = loss;
        config.label_generator = label;
        const torch::Tensor logits = torch::full({1, 2}, logit, torch::kFloat64);
        const double there = score_and_slope(config, 1, logits).first;
        EXPECT_NEAR(score_and_slope(config, 0.6e-12, logits).first, there, 1e-12);
        double last = there;
        for (const double weight : {0.4e-12, 1e-13, 1e-20, 0.0}) {
          const auto [score, slope] = score_and_slope(config, weight, logits);
          EXPECT_GE(score, last - 1e-12) << loss << " " << label << " " << logit << " " << weight;
          EXPECT_LE(slope, 1e-12) << "less weight must not score better";
          last = score;
        }
      }
}

TEST(Objective, LeadsVanishingEventsBackIntoASoftFilter) {
  EventFilter::Config box;
  box.low = {0};
  box.high = {1};
  Noise noise = noise_of(1, 1, 2);
  const torch::Tensor values = torch::tensor({{{1.7F}, {1.8F}}}).requires_grad_();
  Events events;
  events.values = values;
  const Events seen = EventFilter(box, 1)(events, noise);
  ASSERT_LT(seen.weights->sum().item<double>(), 1e-12);
  const torch::Tensor score = objective_of({}).generator(torch::full({1, 2}, 2.0F), seen);
  EXPECT_GT(score.item<double>(), 0.9);
  EXPECT_GT(torch::autograd::grad({score}, {values})[0].min().item<float>(), 0.0F);
}

Events with_norms() {
  Events events = plain_events(2, 1);
  events.numbers["norm_1"] = doubles({1, 4});
  events.numbers["norm_2"] = doubles({0, 1});
  events.numbers["other"] = doubles({100, 100});
  return events;
}

const std::map<std::string, double> known_norms = {{"norm_1", 2.0}, {"norm_2", 0.0}, {"absent", 9}};

TEST(ReferenceTerms, EqualAHandCalculation) {
  AdversarialObjective::Config config;
  config.reference_weight = 3;
  // ((1-2)^2 + (4-2)^2) / 2 + (0 + 1) / 2
  EXPECT_NEAR(objective_of(config, known_norms).reference(with_norms()).item<double>(), 3 * 3.0,
              1e-12);
  config.reference_terms = ReferenceTerms::batch_mean;
  // (2.5-2)^2 + (0.5-0)^2
  EXPECT_NEAR(objective_of(config, known_norms).reference(with_norms()).item<double>(), 3 * 0.5,
              1e-12);
  config.reference_terms = ReferenceTerms::none;
  EXPECT_FALSE(objective_of(config, known_norms).reference(with_norms()).defined());
  EXPECT_FALSE(objective_of({}).reference(with_norms()).defined()) << "no number is known";
}

TEST(ReferenceTerms, AreSeparableUnlessTheyTakeTheBatchsMean) {
  AdversarialObjective::Config config;
  EXPECT_TRUE(objective_of(config).separable());
  config.reference_terms = ReferenceTerms::batch_mean;
  EXPECT_FALSE(objective_of(config).separable());
}

// the label of Pearson's divergence: nothing at logit 0, so printed losses are not divided by it
TEST(Objective, DividesNoPrintedLossByZero) {
  const auto of_the_generator = [](double label) {
    AdversarialObjective::Config config;
    config.label_generator = label;
    return objective_of(config).equilibrium(Side::generator);
  };
  EXPECT_EQ(of_the_generator(0.5), 1);
  EXPECT_EQ(of_the_generator(0.51), 1);
  EXPECT_NEAR(of_the_generator(0.9), 0.16, 1e-12);
}

TEST(Objective, RefusesLabelsThatItsLossDoesNotKnow) {
  AdversarialObjective::Config config;
  config.loss = "hinge";
  config.label_real = 0.9;
  EXPECT_EQ(message_of<core::ConfigError>([&] { objective_of(config); }),
            "objective: loss=hinge knows no labels (what is set would change nothing). Leave it "
            "alone, or use cross_entropy.");
  config.loss = "logit";
  EXPECT_NO_THROW(objective_of(config));
  config.label_generator = 0.9;
  EXPECT_NE(message_of<core::ConfigError>([&] {
              objective_of(config);
            }).find("knows no label of the generator"),
            std::string::npos);
}

TEST(Objective, RefusesOneLabelForMeasuredAndSyntheticEvents) {
  AdversarialObjective::Config config;
  config.label_real = config.label_synthetic = 0.5;
  EXPECT_EQ(message_of<core::ConfigError>([&] { objective_of(config); }),
            "objective: label_real and label_synthetic are both 0.5 (the discriminator would learn "
            "to tell nothing). Set them apart, such as 1 and 0.");
}

TEST(Objective, RefusesAnUnknownLoss) {
  AdversarialObjective::Config config;
  config.loss = "cross_entrpy";
  EXPECT_NE(message_of<core::ConfigError>([&] {
              objective_of(config);
            }).find("did you mean 'cross_entropy'?"),
            std::string::npos);
}

TEST(AdversarialObjective, SharesOutTheMeanOfWeightedEvents) {
  const AdversarialObjective objective({}, {});
  Events events;
  events.values = torch::zeros({2, 3, 1});
  EXPECT_FALSE(objective.event_shares(events).defined()) << "all alike";
  events.weights = torch::tensor({{1.0F, 0.0F, 3.0F}, {0.0F, 0.0F, 0.0F}});
  const torch::Tensor shares = objective.event_shares(events);
  EXPECT_TRUE(torch::allclose(shares[0], torch::tensor({0.125F, 0.0F, 0.375F})));
  EXPECT_EQ(shares[1].abs().sum().item<float>(), 0.0F) << "nothing is learnt from nothing";
}

}  // namespace
}  // namespace sagips::optim

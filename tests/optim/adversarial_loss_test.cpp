#include "sagips/optim/gan/adversarial_loss.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>

#include "sagips/optim/gan/objective.hpp"
#include "tests/optim/small_logits.hpp"

namespace sagips::optim {
namespace {

using namespace sagips::testing;

using env::Events;

// The table above `adversarial_losses`, term by term.
TEST(AdversarialLosses, EqualTheirFormulas) {
  const auto s = [](double z) { return 1 / (1 + std::exp(-z)); };
  const auto soft = [](double z) { return std::log1p(std::exp(z)); };
  const auto positive = [](double z) { return std::max(z, 0.0); };
  struct Formulas {
    std::function<double(double)> real, synthetic, generator;
  };
  const auto real_entropy = [&](double x) { return soft(-x); };
  const auto synthetic_entropy = [&](double y) { return soft(y); };
  const auto minus = [](double y) { return -y; };
  const std::map<std::string, Formulas> known = {
      {"least_squares",
       {[&](double x) { return std::pow(s(x) - 1, 2); },
        [&](double y) { return std::pow(s(y), 2); },
        [&](double y) { return std::pow(s(y) - 1, 2); }}},
      {"cross_entropy", {real_entropy, synthetic_entropy, real_entropy}},
      {"minimax", {real_entropy, synthetic_entropy, [&](double y) { return -soft(y); }}},
      {"non_saturating", {real_entropy, synthetic_entropy, real_entropy}},
      {"logit", {real_entropy, synthetic_entropy, minus}},
      {"hinge",
       {[&](double x) { return positive(1 - x); }, [&](double y) { return positive(1 + y); },
        minus}},
      {"wasserstein", {minus, [](double y) { return y; }, minus}},
  };
  for (const auto& [name, formulas] : known) {
    const AdversarialObjective objective({.loss = name}, {});
    for (const double logit : {-3.0, -0.7, 0.0, 1.2, 4.0}) {
      const torch::Tensor one = torch::full({1, 1}, logit, torch::kFloat64);
      const Events events = plain_events(1, 1);
      EXPECT_NEAR(objective.real(one).item<double>(), formulas.real(logit), 1e-12) << name;
      EXPECT_NEAR(objective.synthetic(one, events).item<double>(), formulas.synthetic(logit), 1e-12)
          << name;
      EXPECT_NEAR(objective.generator(one, events).item<double>(), formulas.generator(logit), 1e-12)
          << name;
    }
  }
}

// Discriminator S(-(x - y)), generator S(-(y - x)), pair by pair, by the weight of y.
TEST(Relativistic, ComparesPairsOfEvents) {
  const AdversarialObjective objective({.loss = "relativistic"}, {});
  ASSERT_TRUE(objective.compares_pairs());
  const torch::Tensor real = logits(),
                      synthetic = torch::linspace(-1, 2, 4, torch::kFloat64).view({2, 2});
  const torch::Tensor off = real - synthetic;
  Events events = plain_events(2, 2);
  EXPECT_NEAR(objective.pairs(real, synthetic, events).item<double>(),
              torch::softplus(-off).mean().item<double>(), 1e-12);
  EXPECT_NEAR(objective.generator(synthetic - real, events).item<double>(),
              torch::softplus(off).mean().item<double>(), 1e-12);
  events.weights = torch::tensor({{1.0, 3.0}, {2.0, 6.0}}, torch::kFloat64);
  const torch::Tensor share = torch::tensor({{1.0, 3.0}, {1.0, 3.0}}, torch::kFloat64) / 8;
  EXPECT_NEAR(objective.pairs(real, synthetic, events).item<double>(),
              (torch::softplus(-off) * share).sum().item<double>(), 1e-12);
}

TEST(Relativistic, GivesBothEndsOfAPairTheirSlopes) {
  const AdversarialObjective objective({.loss = "relativistic"}, {});
  const std::vector<float> real = {-2, 0.5, 3}, synthetic = {1, 0.4F, -2};
  const torch::Tensor x = torch::tensor({{-2.0, 0.5, 3.0}}, torch::kFloat64).requires_grad_();
  const torch::Tensor y =
      torch::tensor({{1.0, static_cast<double>(0.4F), -2.0}}, torch::kFloat64).requires_grad_();
  const torch::Tensor loss = objective.pairs(x, y, plain_events(1, 3)) * 3;
  const auto exact = torch::autograd::grad({loss}, {x, y});
  std::vector<float> values(3), slopes(3), others(3);
  objective.evaluate(Side::real, real, synthetic, values, slopes);
  std::vector<float> same(3);
  objective.evaluate(Side::synthetic, synthetic, real, same, others);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto k = static_cast<std::int64_t>(i);
    EXPECT_NEAR(slopes[i], exact[0][0][k].item<float>(), 1e-6);
    EXPECT_NEAR(others[i], exact[1][0][k].item<float>(), 1e-6);
  }
  EXPECT_NEAR(values[0] + values[1] + values[2], loss.item<double>(), 1e-6);
}

// sizes at logit 0, where S(0) = ln 2; 1 where nothing is left to divide by
TEST(AdversarialLosses, KnowTheLossOfADiscriminatorThatCannotTell) {
  const double ln2 = std::log(2);
  const std::map<std::string, std::array<double, 3>> known = {{"least_squares", {0.25, 0.25, 0.25}},
                                                              {"cross_entropy", {ln2, ln2, ln2}},
                                                              {"minimax", {ln2, ln2, ln2}},
                                                              {"non_saturating", {ln2, ln2, ln2}},
                                                              {"logit", {ln2, ln2, 1}},
                                                              {"hinge", {1, 1, 1}},
                                                              {"wasserstein", {1, 1, 1}},
                                                              {"relativistic", {ln2, ln2, ln2}}};
  for (const std::string& loss : adversarial_losses().names()) {
    const AdversarialObjective objective({.loss = loss}, {});
    for (const Side side : {Side::real, Side::synthetic, Side::generator})
      EXPECT_DOUBLE_EQ(objective.equilibrium(side), known.at(loss)[static_cast<std::size_t>(side)])
          << loss;
  }
}

// What the engine asks for by the thousand: values and slopes of single events.
void expect_value_and_slope(const LossTerm& term, double label) {
  const torch::Tensor logits =
      torch::cat({torch::linspace(-30, 30, 601), torch::tensor({-100.0F, 0.0F, 100.0F})});
  const torch::Tensor leaf = logits.to(torch::kFloat64).requires_grad_();
  const torch::Tensor value = term.value(leaf, label);
  const torch::Tensor slope = torch::autograd::grad({value.sum()}, {leaf})[0];
  const auto size = static_cast<std::size_t>(logits.numel());
  std::vector<float> values(size), slopes(size);
  term.many({logits.data_ptr<float>(), size}, label, values, slopes);
  for (std::size_t i = 0; i < size; ++i) {
    const auto k = static_cast<std::int64_t>(i);
    const double x = logits[k].item<double>();
    // some roundings of numbers up to 1 + |x|
    EXPECT_NEAR(static_cast<double>(values[i]), value[k].item<double>(), 4e-7 * (1 + std::abs(x)))
        << x;
    EXPECT_NEAR(static_cast<double>(slopes[i]), slope[k].item<double>(), 4e-7) << x;
  }
}

TEST(AdversarialLosses, GiveValuesAndSlopesOfManyEvents) {
  const auto losses = adversarial_losses();
  for (const std::string& name : losses.names())
    for (const Side side : {Side::real, Side::synthetic, Side::generator})
      for (const double label : {0.0, 0.3, 1.0}) {
        const AdversarialLoss& loss = losses.get(name, "");
        if (loss.compares_pairs && side == Side::synthetic) continue;
        SCOPED_TRACE(name);
        expect_value_and_slope(loss.term(side), label);
      }
}

TEST(AdversarialObjective, EvaluatesEventsOfAnyLoss) {
  for (const std::string& loss : adversarial_losses().names()) {
    const AdversarialObjective objective({.loss = loss}, {});
    if (objective.compares_pairs()) continue;
    const std::vector<float> logits = {-2, 0, 1.5};
    std::vector<float> values(3), slopes(3);
    objective.evaluate(Side::real, logits, {}, values, slopes);
    const torch::Tensor leaf = torch::tensor({-2.0F, 0.0F, 1.5F}).requires_grad_();
    const torch::Tensor mean = objective.real(leaf);
    mean.backward();
    EXPECT_NEAR((values[0] + values[1] + values[2]) / 3, mean.item<float>(), 1e-6) << loss;
    for (std::size_t i = 0; i < 3; ++i)
      EXPECT_NEAR(slopes[i] / 3, leaf.grad()[static_cast<std::int64_t>(i)].item<float>(), 1e-6)
          << loss;
  }
}

}  // namespace
}  // namespace sagips::optim

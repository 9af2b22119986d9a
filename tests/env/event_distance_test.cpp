// Distances between synthetic and measured events: against sums over pairs and differences, and
// what their mean is when both have one origin.
#include <gtest/gtest.h>

#include "sagips/core/error.hpp"
#include "sagips/env/compare/distances/distances.hpp"
#include "sagips/env/densities/tabulated_density.hpp"
#include "tests/core/message_of.hpp"
#include "tests/env/noise_of.hpp"

namespace sagips::env {
namespace {

using namespace sagips::testing;

using Maker = std::function<EventDistance(const EventRows&)>;

core::RandomStream stream() { return {7, "distance"}; }

EventDistance::Config quick_config() {
  EventDistance::Config config;
  config.projections = 7;
  config.bandwidths = {0.5, 2};
  config.classifier = {.width = 8, .layers = 1, .steps = 60, .learning_rate = 3e-2};
  return config;
}

template <class Make>
Maker maker(Make make) {
  return [make](const EventRows& rows) { return make(quick_config(), rows, stream()); };
}

const std::map<std::string, Maker> by_pairs = {{"energy", maker(distances::energy)},
                                               {"mmd", maker(distances::mmd)}};
const std::map<std::string, Maker> of_events = {
    {"energy", maker(distances::energy)},
    {"mmd", maker(distances::mmd)},
    {"sliced_wasserstein", maker(distances::sliced_wasserstein)}};

torch::Tensor normal(std::uint64_t seed, std::int64_t rows, std::int64_t columns) {
  return noise_of(seed, rows, columns, 0, torch::kFloat64).normal();
}

Events events_of(torch::Tensor values, torch::Tensor weights = {}) {
  Events events;
  events.values = std::move(values);
  if (weights.defined()) events.weights = std::move(weights);
  return events;
}

torch::Tensor score_of(const EventDistance& distance, const Events& events) {
  return distance.score(torch::zeros({events.samples(), 1}), events);
}

// mean of f over pairs of different events, plain loops
double mean_pairs(const torch::Tensor& x, const torch::Tensor& wx, const torch::Tensor& y,
                  const torch::Tensor& wy, bool same, const std::function<double(double)>& f) {
  double sum = 0, norm = 0;
  for (std::int64_t i = 0; i < x.size(0); ++i)
    for (std::int64_t j = 0; j < y.size(0); ++j) {
      if (same && i == j) continue;
      const double weight = wx[i].item<double>() * wy[j].item<double>();
      sum += weight * f((x[i] - y[j]).norm().item<double>());
      norm += weight;
    }
  return sum / norm;
}

struct Sample {
  torch::Tensor x, wx, y, wy;
};

Sample small_sample(std::int64_t observables) {
  return {normal(1, 13, observables), noise_of(2, 1, 13, 0, torch::kFloat64).uniform()[0],
          normal(3, 9, observables) * 1.5 + 0.5,
          noise_of(4, 1, 9, 0, torch::kFloat64).uniform()[0]};
}

torch::Tensor standardised(const Sample& sample, const torch::Tensor& values) {
  const torch::Tensor share = (sample.wx / sample.wx.sum()).unsqueeze(1);
  const torch::Tensor mean = (sample.x * share).sum(0);
  return (values - mean) / ((sample.x - mean).square() * share).sum(0).sqrt();
}

TEST(EnergyDistance, EqualsASumOverPairs) {
  for (const std::int64_t observables : {1, 2, 3}) {
    const Sample s = small_sample(observables);
    const torch::Tensor x = standardised(s, s.x), y = standardised(s, s.y);
    const auto distance = [](double r) { return r; };
    const double expected = 2 * mean_pairs(x, s.wx, y, s.wy, false, distance) -
                            mean_pairs(x, s.wx, x, s.wx, true, distance) -
                            mean_pairs(y, s.wy, y, s.wy, true, distance);
    const EventDistance energy = distances::energy(quick_config(), {s.x, s.wx}, stream());
    const Events events = events_of(s.y.unsqueeze(0), s.wy.unsqueeze(0));
    EXPECT_NEAR(score_of(energy, events).item<double>(), expected, 1e-12) << observables;
  }
}

TEST(Mmd, EqualsASumOverPairs) {
  for (const std::int64_t observables : {1, 2}) {
    const Sample s = small_sample(observables);
    const torch::Tensor x = standardised(s, s.x), y = standardised(s, s.y);
    const double median = torch::pdist(x).median().item<double>();
    const auto kernel = [&](double r) {
      const double q = r * r / (median * median);
      return 0.5 * (std::exp(-0.5 * q / 0.25) + std::exp(-0.5 * q / 4));
    };
    const double expected = mean_pairs(x, s.wx, x, s.wx, true, kernel) +
                            mean_pairs(y, s.wy, y, s.wy, true, kernel) -
                            2 * mean_pairs(x, s.wx, y, s.wy, false, kernel);
    const EventDistance mmd = distances::mmd(quick_config(), {s.x, s.wx}, stream());
    const Events events = events_of(s.y.unsqueeze(0), s.wy.unsqueeze(0));
    EXPECT_NEAR(score_of(mmd, events).item<double>(), expected, 1e-12) << observables;
  }
}

TEST(SlicedWasserstein, EqualsTheMeanDifferenceOfSortedEvents) {
  const torch::Tensor x = normal(1, 50, 1), y = normal(2, 50, 1) * 2;
  const torch::Tensor shares = torch::full({50}, 0.02, torch::kFloat64);
  const torch::Tensor mean = x.mean(), deviation = x.std(0, false);
  for (const double power : {1.0, 2.0}) {
    EventDistance::Config config = quick_config();
    config.power = power;
    const torch::Tensor difference = (std::get<0>(x.sort(0)) - std::get<0>(y.sort(0))) / deviation;
    const EventDistance sliced = distances::sliced_wasserstein(config, {x}, stream());
    EXPECT_NEAR(score_of(sliced, events_of(y.unsqueeze(0))).item<double>(),
                difference.abs().pow(power).mean().item<double>(), 1e-12);
  }
}

// A shift by t changes the projection on u by u . t, so W_2^2 by the mean of (u . t)^2 = t^2 / d.
TEST(SlicedWasserstein, MeasuresAShiftInAllDirections) {
  EventDistance::Config config = quick_config();
  config.projections = 4000;
  const torch::Tensor x = normal(1, 100, 3);
  const EventDistance sliced = distances::sliced_wasserstein(config, {x}, stream());
  const torch::Tensor shifted = x + 2 * x.std(0, false);
  EXPECT_NEAR(score_of(sliced, events_of(shifted.unsqueeze(0))).item<double>(), 4, 0.3);
  EXPECT_NEAR(score_of(sliced, events_of(x.unsqueeze(0))).item<double>(), 0, 1e-12);
}

// Central differences of the score by values and by weights.
void expect_gradients(const EventDistance& distance, const torch::Tensor& values,
                      const torch::Tensor& weights) {
  const torch::Tensor y = values.clone().requires_grad_(), w = weights.clone().requires_grad_();
  const torch::Tensor factor = torch::arange(1.0, values.size(0) + 1, torch::kFloat64);
  const auto total = [&](const torch::Tensor& v, const torch::Tensor& weight) {
    return (score_of(distance, events_of(v, weight)) * factor).sum();
  };
  const auto slopes = torch::autograd::grad({total(y, w)}, {y, w});
  const double h = 1e-6;
  const auto differences = [&](const torch::Tensor& at, const auto& score) {
    torch::Tensor found = torch::zeros_like(at);
    for (std::int64_t i = 0; i < at.numel(); ++i) {
      torch::Tensor step = torch::zeros_like(at);
      step.view(-1)[i] = h;
      found.view(-1)[i] = (score(at + step) - score(at - step)) / (2 * h);
    }
    return found;
  };
  const torch::Tensor by_values =
      differences(values, [&](const torch::Tensor& v) { return total(v, weights); });
  const torch::Tensor by_weights =
      differences(weights, [&](const torch::Tensor& v) { return total(values, v); });
  EXPECT_LT(largest(slopes[0] - by_values), 1e-7);
  EXPECT_LT(largest(slopes[1] - by_weights), 1e-7);
}

TEST(EventDistances, HaveTheGradientsOfTheirValues) {
  for (const auto& [name, make] : of_events)
    for (const std::int64_t observables : {1, 2}) {
      SCOPED_TRACE(name);
      const auto distance = make({normal(1, 40, observables)});
      const torch::Tensor values = normal(2, 3, 11 * observables).view({3, 11, observables});
      const torch::Tensor weights = noise_of(3, 3, 11, 0, torch::kFloat64).uniform() + 0.1;
      expect_gradients(distance, values, weights);
    }
}

// The mean over 400 samples of 50 events lies within 5 of its errors: by chance 6e-7 each.
TEST(EventDistances, VanishInTheMeanForEventsOfOneOrigin) {
  for (const auto& [name, make] : by_pairs)
    for (const std::int64_t observables : {1, 2}) {
      torch::Tensor all = torch::zeros({400}, torch::kFloat64);
      for (std::int64_t i = 0; i < 400; ++i) {
        const auto seed = static_cast<std::uint64_t>(i);
        const auto distance = make({normal(1000 + seed, 50, observables)});
        all[i] =
            score_of(distance, events_of(normal(5000 + seed, 50, observables).unsqueeze(0)))[0];
      }
      const double error = all.std().item<double>() / 20;
      // the standardisation by 50 events scales the score by some percent, not its zero
      EXPECT_LT(std::abs(all.mean().item<double>()), 5 * error) << name;
    }
}

TEST(EventDistances, GrowWithAShift) {
  const EventRows measured{normal(1, 2000, 2)};
  for (const auto& [name, make] : of_events) {
    const auto distance = make(measured);
    double last = 0;
    for (const double shift : {0.2, 0.5, 1.0, 2.0}) {
      const double score =
          score_of(distance, events_of((normal(2, 2000, 2) + shift).unsqueeze(0))).item<double>();
      EXPECT_GT(score, last) << name;
      last = score;
    }
  }
}

TEST(EventDistances, TakeAWeightOfTwoForTwoEvents) {
  const torch::Tensor once = normal(2, 6, 2);
  const torch::Tensor weights = doubles({1, 2, 1, 2, 1, 1});
  const torch::Tensor twice = torch::cat({once, once[1].unsqueeze(0), once[3].unsqueeze(0)});
  const EventDistance sliced =
      distances::sliced_wasserstein(quick_config(), {normal(1, 4000, 2)}, stream());
  EXPECT_NEAR(score_of(sliced, events_of(once.unsqueeze(0), weights.unsqueeze(0))).item<double>(),
              score_of(sliced, events_of(twice.unsqueeze(0))).item<double>(), 0.1)
      << "one quantile serves an event, whatever it weighs";
  // of measured events exactly
  for (const auto& [name, make] : by_pairs) {
    const torch::Tensor y = normal(3, 20, 2).unsqueeze(0);
    const auto weighted = make({normal(1, 30, 2), torch::ones({30})});
    const auto plain = make({normal(1, 30, 2)});
    EXPECT_NEAR(score_of(weighted, events_of(y)).item<double>(),
                score_of(plain, events_of(y)).item<double>(), 1e-12)
        << name;
  }
}

TEST(EventDistances, LeaveOutMaskedEvents) {
  for (const auto& [name, make] : of_events) {
    const auto distance = make({normal(1, 40, 1)});
    Events events = events_of(normal(2, 2, 12).unsqueeze(2));
    const torch::Tensor kept = events.values[1].narrow(0, 0, 7).unsqueeze(0).clone();
    events.values[1].narrow(0, 7, 5).fill_(std::nan(""));
    events.mask = torch::ones({2, 12}, torch::kBool);
    events.mask->select(0, 1).narrow(0, 7, 5).fill_(false);
    EXPECT_NEAR(score_of(distance, events)[1].item<double>(),
                score_of(distance, events_of(kept)).item<double>(), 1e-12)
        << name;
    events.mask->select(0, 1).fill_(false);
    EXPECT_EQ(score_of(distance, events)[1].item<double>(), score_of_no_events) << name;
  }
}

TEST(EventDistances, NeverRewardEventsThatVanish) {
  for (const auto& [name, make] : of_events) {
    const auto distance = make({normal(1, 40, 1)});
    double last = 0;
    for (const double weight : {1.0, 1e-14, 1e-16, 0.0}) {
      const torch::Tensor weights = torch::full({1, 12}, weight, torch::kFloat64).requires_grad_();
      const torch::Tensor score =
          score_of(distance, events_of(normal(2, 1, 12).unsqueeze(2) + 1, weights));
      const torch::Tensor slope = torch::autograd::grad({score.sum()}, {weights})[0];
      EXPECT_GT(score.item<double>(), last) << name;
      EXPECT_LE(slope.sum().item<double>(), 1e-9) << "less weight must not score better";
      EXPECT_TRUE(torch::isfinite(slope).all().item<bool>());
      last = score.item<double>();
    }
    EXPECT_EQ(last, score_of_no_events);
  }
}

// For a shift t of one of two normal distributions of width 1 the divergence is that of a sigmoid:
// integrated numerically.
double divergence_of_shift(double t) {
  const torch::Tensor x = torch::linspace(-12, 12, 20001, torch::kFloat64);
  const torch::Tensor p = torch::exp(-0.5 * x.square()) / std::sqrt(2 * M_PI);
  const torch::Tensor q = torch::exp(-0.5 * (x - t).square()) / std::sqrt(2 * M_PI);
  const torch::Tensor m = 0.5 * (p + q) + 1e-300;
  const torch::Tensor sum = 0.5 * (p * torch::log(p / m + 1e-300) + q * torch::log(q / m + 1e-300));
  return torch::trapezoid(sum, x).item<double>();
}

TEST(ClassifierDistance, EstimatesTheJensenShannonDivergence) {
  const EventDistance classifier =
      distances::classifier(quick_config(), {normal(1, 20000, 1)}, stream());
  for (const double shift : {0.0, 1.0, 2.0}) {
    const Events events = events_of((normal(2, 20000, 1) + shift).unsqueeze(0));
    EXPECT_NEAR(score_of(classifier, events).item<double>(), divergence_of_shift(shift), 0.012)
        << shift;
  }
}

// Moving all events by dt changes the divergence by its slope. The best classifier is linear here.
TEST(ClassifierDistance, HasTheGradientOfTheDivergence) {
  EventDistance::Config config = quick_config();
  config.classifier = {.layers = 0, .steps = 400, .learning_rate = 3e-2, .weight_decay = 0};
  const EventDistance classifier = distances::classifier(config, {normal(1, 20000, 1)}, stream());
  const torch::Tensor shift = torch::ones({}, torch::kFloat64).requires_grad_();
  const torch::Tensor score =
      score_of(classifier, events_of(normal(2, 20000, 1).unsqueeze(0) + shift));
  const double slope = torch::autograd::grad({score.sum()}, {shift})[0].item<double>();
  EXPECT_NEAR(slope, (divergence_of_shift(1.01) - divergence_of_shift(0.99)) / 0.02, 0.02);
}

Channel small_channel(std::int64_t events) {
  data::Dataset data;
  data.values = normal(1, events, 1).to(torch::kFloat32);
  data.origin = "test";
  return {"peak", {}, data, data, std::nullopt};
}

TEST(EventDistances, AreMadeByName) {
  EventDistance::Config config = quick_config();
  const Channel channel = small_channel(300);
  config.measured_events = 50;
  for (const std::string& name : event_distances().names()) {
    config.kind = name;
    if (name == "likelihood") continue;
    const auto distance = make_event_distance(config, channel, stream());
    EXPECT_TRUE(distance.uses_events);
    const torch::Tensor score = score_of(distance, events_of(normal(2, 100, 1).unsqueeze(0)));
    EXPECT_TRUE(torch::isfinite(score).all().item<bool>()) << name;
  }
  config.kind = "likelihood";
  EXPECT_EQ(message_of<core::ConfigError>([&] { make_event_distance(config, channel, stream()); }),
            "distance.kind: the likelihood of 'peak' is not known (its pipeline offers no density, "
            "or a stage behind the sampler changes events). Use another kind, such as energy.");
}

// Density proportional to exp(-s x) on 0 .. 1 in fine cells.
TEST(LikelihoodDistance, IsTheMeanNegativeLogLikelihood) {
  const Grid grid{.low = 0, .high = 1, .points = 2001, .rule = CellRule::trapezoid};
  const torch::Tensor x = grid.positions(torch::kFloat64);
  Channel channel = small_channel(10);
  channel.density =
      TabulatedDensity([x](const torch::Tensor& p) { return torch::exp(-p.unsqueeze(2) * x); },
                       grid, std::vector<std::string>{"norm"});
  channel.training.values = torch::tensor({{0.25F}, {0.5F}, {0.875F}});
  const EventDistance likelihood = distances::likelihood(channel);
  EXPECT_FALSE(likelihood.uses_events);
  EXPECT_EQ(likelihood.weight, 3);
  const torch::Tensor slopes = doubles({1, 2}).unsqueeze(1).requires_grad_();
  const torch::Tensor scores = likelihood.score(slopes, {});
  for (const std::int64_t i : {0, 1}) {
    const double s = static_cast<double>(i + 1);
    EXPECT_NEAR(scores[i].item<double>(),
                s * (0.25 + 0.5 + 0.875) / 3 + std::log((1 - std::exp(-s)) / s), 1e-6);
  }
  EXPECT_GT(largest(torch::autograd::grad({scores.sum()}, {slopes})[0]), 0.01);
}

}  // namespace
}  // namespace sagips::env

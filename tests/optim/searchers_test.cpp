// What every searcher promises, and that each finds what it is made for.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "sagips/core/error.hpp"
#include "sagips/optim/search/searchers.hpp"

namespace sagips::optim {
namespace {

using Score = std::function<double(const Point&)>;

// An ellipsoid around (0.3, 0.6, 0.3, ...), its axes turned.
double ellipsoid(const Point& x) {
  double sum = 0, turned = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double d = x[i] - (i % 2 == 0 ? 0.3 : 0.6);
    turned += d;
    sum += d * d;
  }
  return sum + 3 * turned * turned;
}

// Rosenbrock's valley over -2 .. 2 in both coordinates; 0 at (0.75, 0.75).
double rosenbrock(const Point& point) {
  const double x = 4 * point[0] - 2, y = 4 * point[1] - 2;
  return 100 * (y - x * x) * (y - x * x) + (1 - x) * (1 - x);
}

// Many local minima (Rastrigin over -3 .. 3), the best one, 0, at (0.6, 0.6).
double rastrigin(const Point& point) {
  double sum = 0;
  for (const double one : point) {
    const double x = 6 * one - 3.6;
    sum += x * x + 3 * (1 - std::cos(2 * M_PI * x));
  }
  return sum;
}

// Four numbers, of which a category says which ones count: a step of three (0 is best), and for the
// other value one of a whole number that is best at 7 of 10; the first value is 0.3 better.
SearchSpace mixed_space() {
  return SearchSpace({{.values = 2, .ordered = false},
                      {.parent = 0, .counts_at = {0}},
                      {.values = 3, .ordered = false, .parent = 0, .counts_at = {0}},
                      {.values = 10, .parent = 0, .counts_at = {1}}});
}
double mixed(const Point& x) {
  const SearchSpace space = mixed_space();
  if (space.value(x, 0) == 1)
    return 0.3 + 0.02 * std::pow(static_cast<double>(space.value(x, 3)) - 7, 2);
  return 4 * std::pow(x[1] - 0.8, 2) + 0.4 * static_cast<double>(space.value(x, 2));
}

struct Trace {
  std::vector<Trial> trials;
  const Trial& best_trial() const {
    const auto score = [](const Trial& one) { return std::isnan(*one.score) ? 1e300 : *one.score; };
    return *std::min_element(trials.begin(), trials.end(),
                             [&](const Trial& a, const Trial& b) { return score(a) < score(b); });
  }
  double best() const { return *best_trial().score; }
  const Point& best_point() const { return best_trial().point; }
  std::vector<Point> points() const {
    std::vector<Point> all;
    for (const Trial& trial : trials) all.push_back(trial.point);
    return all;
  }
};

Trace search(Searcher& searcher, const Score& score, std::size_t evaluations,
             std::size_t most = 4) {
  Trace trace;
  evaluations = std::min(evaluations, searcher.size());
  while (trace.trials.size() < evaluations) {
    const std::vector<Point> points =
        searcher.ask(trace.trials, std::min(most, evaluations - trace.trials.size()));
    EXPECT_GE(points.size(), 1U);
    EXPECT_LE(points.size(), most);
    for (const Point& point : points) trace.trials.push_back({point, score(point)});
  }
  return trace;
}

SearchStart start_in(std::size_t dimensions, std::uint64_t seed, std::optional<Point> start = {}) {
  return {.space = SearchSpace(dimensions), .seed = seed, .start = std::move(start), .trials = 600};
}

bool has_evolution() {
  try {
    const searchers::Evolution evolution({}, start_in(2, 1));
    return true;
  } catch (const core::ConfigError&) {
    return false;
  }
}

class Searchers : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam() == "evolution" && !has_evolution()) GTEST_SKIP() << "built without pagmo";
  }
  static std::unique_ptr<Searcher> make(const SearchStart& start) {
    const auto known = all_searchers();
    return known.at(GetParam())(start);
  }
  // what knows nothing of scores
  static bool is_blind() {
    return GetParam() == "random" || GetParam() == "sobol" || GetParam() == "grid";
  }
  // evaluations that tell a searcher from random ones
  static std::size_t budget() { return GetParam() == "bayesian" ? 32 : 600; }

 public:
  static std::map<std::string, SearcherMaker> all_searchers() {
    std::map<std::string, SearcherMaker> all;
    const auto parameters = searchers_of({});
    const auto settings = setting_searchers_of({});
    for (const std::string& name : parameters.names()) all[name] = parameters.get(name, "test");
    for (const std::string& name : settings.names()) all[name] = settings.get(name, "test");
    return all;
  }
  static std::vector<std::string> names() {
    std::vector<std::string> all;
    for (const auto& [name, maker] : all_searchers()) all.push_back(name);
    return all;
  }
};

TEST_P(Searchers, StayInsideTheUnitCube) {
  const auto searcher = make(start_in(3, 1));
  // the lowest score lies in a corner
  const Trace trace = search(
      *searcher, [](const Point& x) { return x[0] + x[1] - x[2]; }, 25);
  for (const Point& point : trace.points()) {
    ASSERT_EQ(point.size(), 3U);
    for (const double one : point) {
      EXPECT_GE(one, 0);
      EXPECT_LE(one, 1);
    }
  }
}

TEST_P(Searchers, RepeatThemselvesForTheSameSeed) {
  const auto points = [&](std::uint64_t seed) {
    const auto searcher = make(start_in(2, seed));
    return search(*searcher, ellipsoid, 20).points();
  };
  EXPECT_EQ(points(3), points(3));
  if (GetParam() != "grid") {
    EXPECT_NE(points(3), points(4));
  }
}

// A study that is gone on with has new searchers, and so has each of its workers.
TEST_P(Searchers, GoOnWhereAnotherOneWas) {
  const auto before = make(start_in(2, 3));
  const Trace trace = search(*before, ellipsoid, 24, 1);
  const auto after = make(start_in(2, 3));
  EXPECT_EQ(after->ask(trace.trials, 1), before->ask(trace.trials, 1));
}

// Whoever is asked while others are at work names other points, or waits.
TEST_P(Searchers, HeedWhatIsAtWork) {
  const auto searcher = make(start_in(2, 3));
  Trace trace = search(*searcher, ellipsoid, 24, 1);
  std::vector<Trial> trials = trace.trials;
  for (int worker = 0; worker < 3; ++worker)
    for (Point& point : searcher->ask(trials, 1)) trials.push_back({std::move(point)});
  ASSERT_GE(trials.size(), 25U);
  for (std::size_t i = 24; i < trials.size(); ++i)
    for (std::size_t j = 24; j < i; ++j) EXPECT_NE(trials[i].point, trials[j].point);
}

// The middle of values, and 0.5 where nothing counts.
TEST_P(Searchers, PutPointsWhereSettingsAre) {
  if (GetParam() == "policy_gradient" || GetParam() == "evolution") return;  // of numbers alone
  const SearchSpace space = mixed_space();
  const auto searcher = make({.space = space, .seed = 1, .trials = 60});
  const Trace trace = search(*searcher, mixed, 60, 1);
  std::set<std::int64_t> values;
  for (const Point& point : trace.points()) {
    EXPECT_EQ(point, space.placed(point));
    values.insert(space.value(point, 0));
  }
  EXPECT_EQ(values.size(), 2U);
  if (!is_blind()) {
    EXPECT_LT(trace.best(), 0.02);
  }
}

TEST_P(Searchers, BeginWhereTheyAreTold) {
  const Point start = {0.125, 0.75};
  if (GetParam() == "grid") return;
  const auto searcher = make(start_in(2, 1, start));
  const Point first = searcher->ask({}, 1).at(0);
  EXPECT_NEAR(first[0], start[0], 1e-12);
  EXPECT_NEAR(first[1], start[1], 1e-12);
}

// half of the cube cannot be scored
TEST_P(Searchers, GoOnAfterPointsThatCannotBeScored) {
  const auto searcher = make(start_in(2, 2));
  int failed = 0;
  const Trace trace = search(
      *searcher,
      [&](const Point& x) {
        if (x[0] < 0.25)
          return failed++ % 2 ? std::nan("") : std::numeric_limits<double>::infinity();
        return ellipsoid(x);
      },
      GetParam() == "bayesian" ? 30 : 400);
  EXPECT_LT(trace.best(), is_blind() ? 0.05 : 0.01);
}

TEST_P(Searchers, BeatRandomPoints) {
  if (is_blind()) return;
  const std::uint64_t seeds = GetParam() == "bayesian" ? 1 : 5;  // that one takes its time
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const SearchStart start = start_in(3, seed);
    const auto searcher = make(start);
    const auto random = searchers_of({}).get("random", "test")(start);
    EXPECT_LT(search(*searcher, ellipsoid, budget()).best(),
              0.3 * search(*random, ellipsoid, budget()).best())
        << seed;
  }
}

// Nothing lasts in a searcher that is given up in the middle.
TEST_P(Searchers, CanBeLeftAtAnyTime) {
  const auto searcher = make(start_in(2, 1));
  searcher->ask({}, 1);
}

INSTANTIATE_TEST_SUITE_P(All, Searchers, ::testing::ValuesIn(Searchers::names()),
                         [](const auto& one) { return one.param; });

TEST(Bayesian, FindsAMinimumWithFewEvaluations) {
  searchers::Bayesian searcher({}, start_in(2, 1));
  EXPECT_LT(search(searcher, rosenbrock, 60, 1).best(), 0.05);
}

TEST(Bayesian, AsksForSeveralDifferentPointsAtATime) {
  searchers::Bayesian searcher({.initial = 10, .batch = 4}, start_in(2, 1));
  const Trace trace = search(searcher, ellipsoid, 10, 4);
  EXPECT_EQ(trace.trials.size(), 10U);
  const std::vector<Point> batch = searcher.ask(trace.trials, 10);
  ASSERT_EQ(batch.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < i; ++j)
      EXPECT_GT(std::hypot(batch[i][0] - batch[j][0], batch[i][1] - batch[j][1]), 1e-3);
}

// The best lies in a corner, where all that climbs ends.
TEST(Bayesian, AsksForNoPointTwiceWhileOthersArePending) {
  searchers::Bayesian searcher({.initial = 6}, start_in(2, 1));
  std::vector<Trial> trials;
  std::set<Point> seen;
  for (std::size_t number = 0; number < 30; ++number) {
    const Point next = searcher.ask(trials, 1).front();
    EXPECT_TRUE(seen.insert(next).second) << number << ": " << next[0] << ", " << next[1];
    trials.push_back({next});
    if (number >= 2) {
      Trial& ended = trials[number - 2];
      ended.score = -ended.point[0] - ended.point[1];
    }
  }
}

TEST(Bayesian, FindsAMinimumByEachGain) {
  using Gain = searchers::Bayesian::Gain;
  for (const Gain gain : {Gain::lower_bound, Gain::probability, Gain::hedge}) {
    searchers::Bayesian searcher({.gain = gain}, start_in(2, 1));
    EXPECT_LT(search(searcher, ellipsoid, 30, 1).best(), 0.02) << static_cast<int>(gain);
  }
}

TEST(Grid, TakesEverySettingOnce) {
  searchers::Grid searcher({.steps = 4}, {.space = mixed_space()});
  EXPECT_EQ(searcher.size(), 4U * 3U + 10U);
  const Trace trace = search(searcher, mixed, searcher.size());
  const std::vector<Point> points = trace.points();
  EXPECT_EQ(std::set<Point>(points.begin(), points.end()).size(), searcher.size());
}

TEST(Grid, RefusesMoreThanAMillionPoints) {
  EXPECT_THROW(searchers::Grid({.steps = 11}, start_in(6, 1)), core::ConfigError);
}

TEST(PolicyGradient, WalksAlongACurvedValley) {
  searchers::PolicyGradient searcher({.batch = 20}, start_in(2, 1));
  const Trace trace = search(searcher, rosenbrock, 6000, 20);
  EXPECT_LT(trace.best(), 1e-4);
  EXPECT_NEAR(trace.best_point()[0], 0.75, 0.01);
}

TEST(PolicyGradient, LearnsFromScoresAgainstTheBatchsMean) {
  searchers::PolicyGradient searcher({.batch = 20, .shaping = searchers::Shaping::standardised},
                                     start_in(2, 1));
  EXPECT_LT(search(searcher, ellipsoid, 2000, 20).best(), 1e-6);
}

// The score's gradient plays no part: only how wide the policy is.
TEST(PolicyGradient, NarrowsUnderAPenalty) {
  const auto scatter = [](double penalty) {
    searchers::PolicyGradient searcher({.batch = 50, .width_penalty = penalty}, start_in(1, 1));
    const Trace trace = search(
        searcher, [](const Point&) { return 0.0; }, 500, 50);
    double square = 0, sum = 0;
    for (std::size_t i = 450; i < 500; ++i) {
      sum += trace.trials[i].point[0] / 50;
      square += trace.trials[i].point[0] * trace.trials[i].point[0] / 50;
    }
    return square - sum * sum;
  };
  EXPECT_LT(scatter(0.3), 0.3 * scatter(0));
}

// The score's noise is as large as the whole ellipsoid two deviations around its minimum.
TEST(PolicyGradient, CopesWithNoise) {
  searchers::PolicyGradient searcher({.batch = 60, .learning_rate = 0.05}, start_in(2, 1));
  const core::RandomStream stream(5, "noise");
  std::uint32_t call = 0;
  const Trace trace = search(
      searcher,
      [&](const Point& x) {
        double u[1];
        stream.uniform(call++, 0, std::span<double>(u));
        return ellipsoid(x) + 0.05 * (u[0] - 0.5);
      },
      6000, 60);
  double mean = 0;
  for (std::size_t i = 5400; i < 6000; ++i) mean += trace.trials[i].point[0] / 600;
  EXPECT_NEAR(mean, 0.3, 0.03);
}

TEST(Evolution, LeavesLocalMinima) {
  if (!has_evolution()) GTEST_SKIP() << "built without pagmo";
  for (const std::string algorithm : {"cmaes", "sade", "de1220"}) {
    searchers::Evolution searcher({.algorithm = algorithm}, start_in(2, 1));
    const Trace trace = search(searcher, rastrigin, 3000);
    EXPECT_LT(trace.best(), 1e-3) << algorithm;
    EXPECT_NEAR(trace.best_point()[0], 0.6, 1e-2) << algorithm;
  }
}

// Whoever scores a whole generation side by side gets the points of who scores one after the other.
TEST(Evolution, AsksForAGenerationAtATime) {
  if (!has_evolution()) GTEST_SKIP() << "built without pagmo";
  searchers::Evolution one({.population = 8}, start_in(3, 1)),
      many({.population = 8}, start_in(3, 1));
  const Trace single = search(one, ellipsoid, 64, 1), together = search(many, ellipsoid, 64, 8);
  EXPECT_EQ(single.points(), together.points());
  std::vector<Trial> trials = together.trials;
  for (const Point& point : many.ask(trials, 100)) trials.push_back({point});
  EXPECT_EQ(trials.size(), 72U);
  EXPECT_TRUE(many.ask(trials, 100).empty());  // before its scores are there
  trials[66].score = 0.1;
  EXPECT_TRUE(many.ask(trials, 100).empty());
}

TEST(Evolution, WalksAlongACurvedValley) {
  if (!has_evolution()) GTEST_SKIP() << "built without pagmo";
  searchers::Evolution searcher({}, start_in(2, 1));
  EXPECT_LT(search(searcher, rosenbrock, 1000).best(), 1e-6);
}

}  // namespace
}  // namespace sagips::optim

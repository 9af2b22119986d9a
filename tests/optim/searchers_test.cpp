// What every searcher promises, and that each finds what it is made for.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

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

struct Trace {
  std::vector<Point> points;
  std::vector<double> scores;
  double best() const { return *std::min_element(scores.begin(), scores.end()); }
  const Point& best_point() const {
    return points[static_cast<std::size_t>(std::min_element(scores.begin(), scores.end()) -
                                           scores.begin())];
  }
};

Trace search(Searcher& searcher, const Score& score, std::size_t evaluations,
             std::size_t most = 4) {
  Trace trace;
  while (trace.points.size() < evaluations) {
    const std::vector<Point> points =
        searcher.ask(std::min(most, evaluations - trace.points.size()));
    EXPECT_GE(points.size(), 1U);
    EXPECT_LE(points.size(), most);
    std::vector<double> scores;
    for (const Point& point : points) scores.push_back(score(point));
    searcher.tell(scores);
    trace.points.insert(trace.points.end(), points.begin(), points.end());
    trace.scores.insert(trace.scores.end(), scores.begin(), scores.end());
  }
  return trace;
}

bool has_evolution() {
  try {
    const searchers::Evolution evolution({}, {});
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
    return searchers_of({}).get(GetParam(), "test")(start);
  }
  // evaluations that tell a searcher from random ones
  static std::size_t budget() { return GetParam() == "bayesian" ? 32 : 600; }
};

TEST_P(Searchers, StayInsideTheUnitCube) {
  const auto searcher = make({.dimensions = 3, .seed = 1});
  // the lowest score lies in a corner
  const Trace trace = search(
      *searcher, [](const Point& x) { return x[0] + x[1] - x[2]; }, 25);
  for (const Point& point : trace.points) {
    ASSERT_EQ(point.size(), 3U);
    for (const double one : point) {
      EXPECT_GE(one, 0);
      EXPECT_LE(one, 1);
    }
  }
}

TEST_P(Searchers, RepeatThemselvesForTheSameSeed) {
  const auto points = [&](std::uint64_t seed) {
    const auto searcher = make({.dimensions = 2, .seed = seed});
    return search(*searcher, ellipsoid, 20).points;
  };
  EXPECT_EQ(points(3), points(3));
  EXPECT_NE(points(3), points(4));
}

TEST_P(Searchers, BeginWhereTheyAreTold) {
  const Point start = {0.125, 0.75};
  const auto searcher = make({.dimensions = 2, .seed = 1, .start = start});
  const Point first = searcher->ask(1).at(0);
  EXPECT_NEAR(first[0], start[0], 1e-12);
  EXPECT_NEAR(first[1], start[1], 1e-12);
}

// half of the cube cannot be scored
TEST_P(Searchers, GoOnAfterPointsThatCannotBeScored) {
  const auto searcher = make({.dimensions = 2, .seed = 2});
  int failed = 0;
  const Trace trace = search(
      *searcher,
      [&](const Point& x) {
        if (x[0] < 0.25)
          return failed++ % 2 ? std::nan("") : std::numeric_limits<double>::infinity();
        return ellipsoid(x);
      },
      GetParam() == "bayesian" ? 30 : 400);
  double best = 1e9;
  for (const double score : trace.scores)
    if (std::isfinite(score)) best = std::min(best, score);
  EXPECT_LT(best, GetParam() == "random" ? 0.05 : 0.01);
}

TEST_P(Searchers, BeatRandomPoints) {
  if (GetParam() == "random") return;
  const std::uint64_t seeds = GetParam() == "bayesian" ? 1 : 5;  // that one takes its time
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const SearchStart start{.dimensions = 3, .seed = seed};
    const auto searcher = make(start);
    const auto random = searchers_of({}).get("random", "test")(start);
    EXPECT_LT(search(*searcher, ellipsoid, budget()).best(),
              0.3 * search(*random, ellipsoid, budget()).best())
        << seed;
  }
}

// Nothing lasts in a searcher that is given up in the middle.
TEST_P(Searchers, CanBeLeftAtAnyTime) {
  const auto searcher = make({.dimensions = 2, .seed = 1});
  searcher->ask(1);
}

INSTANTIATE_TEST_SUITE_P(All, Searchers, ::testing::ValuesIn(searchers_of({}).names()),
                         [](const auto& one) { return one.param; });

TEST(Bayesian, FindsAMinimumWithFewEvaluations) {
  searchers::Bayesian searcher({}, {.dimensions = 2, .seed = 1});
  EXPECT_LT(search(searcher, rosenbrock, 60, 1).best(), 0.05);
}

TEST(Bayesian, AsksForSeveralDifferentPointsAtATime) {
  searchers::Bayesian searcher({.initial = 10, .batch = 4}, {.dimensions = 2, .seed = 1});
  const Trace trace = search(searcher, ellipsoid, 10, 4);
  EXPECT_EQ(trace.points.size(), 10U);
  const std::vector<Point> batch = searcher.ask(10);
  ASSERT_EQ(batch.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < i; ++j)
      EXPECT_GT(std::hypot(batch[i][0] - batch[j][0], batch[i][1] - batch[j][1]), 1e-3);
}

TEST(PolicyGradient, WalksAlongACurvedValley) {
  searchers::PolicyGradient searcher({.batch = 20}, {.dimensions = 2, .seed = 1});
  const Trace trace = search(searcher, rosenbrock, 6000, 20);
  EXPECT_LT(trace.best(), 1e-4);
  EXPECT_NEAR(trace.best_point()[0], 0.75, 0.01);
}

TEST(PolicyGradient, LearnsFromScoresAgainstTheBatchsMean) {
  searchers::PolicyGradient searcher({.batch = 20, .shaping = searchers::Shaping::standardised},
                                     {.dimensions = 2, .seed = 1});
  EXPECT_LT(search(searcher, ellipsoid, 2000, 20).best(), 1e-6);
}

// The score's gradient plays no part: only how wide the policy is.
TEST(PolicyGradient, NarrowsUnderAPenalty) {
  const auto scatter = [](double penalty) {
    searchers::PolicyGradient searcher({.batch = 50, .width_penalty = penalty},
                                       {.dimensions = 1, .seed = 1});
    const Trace trace = search(
        searcher, [](const Point&) { return 0.0; }, 500, 50);
    double square = 0, sum = 0;
    for (std::size_t i = 450; i < 500; ++i) {
      sum += trace.points[i][0] / 50;
      square += trace.points[i][0] * trace.points[i][0] / 50;
    }
    return square - sum * sum;
  };
  EXPECT_LT(scatter(0.3), 0.3 * scatter(0));
}

// The score's noise is as large as the whole ellipsoid two deviations around its minimum.
TEST(PolicyGradient, CopesWithNoise) {
  searchers::PolicyGradient searcher({.batch = 60, .learning_rate = 0.05},
                                     {.dimensions = 2, .seed = 1});
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
  for (std::size_t i = 5400; i < 6000; ++i) mean += trace.points[i][0] / 600;
  EXPECT_NEAR(mean, 0.3, 0.03);
}

TEST(Evolution, LeavesLocalMinima) {
  if (!has_evolution()) GTEST_SKIP() << "built without pagmo";
  for (const std::string algorithm : {"cmaes", "sade", "de1220"}) {
    searchers::Evolution searcher({.algorithm = algorithm}, {.dimensions = 2, .seed = 1});
    const Trace trace = search(searcher, rastrigin, 3000);
    EXPECT_LT(trace.best(), 1e-3) << algorithm;
    EXPECT_NEAR(trace.best_point()[0], 0.6, 1e-2) << algorithm;
  }
}

TEST(Evolution, WalksAlongACurvedValley) {
  if (!has_evolution()) GTEST_SKIP() << "built without pagmo";
  searchers::Evolution searcher({}, {.dimensions = 2, .seed = 1});
  EXPECT_LT(search(searcher, rosenbrock, 1000).best(), 1e-6);
}

}  // namespace
}  // namespace sagips::optim

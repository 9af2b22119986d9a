#include "sagips/optim/moments/event_features.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sagips/core/error.hpp"

namespace sagips::optim {
namespace {

torch::Tensor normal_numbers(std::int64_t count) {
  const torch::Tensor u =
      (torch::arange(count, torch::kFloat64) + 0.5) / static_cast<double>(count);
  return torch::special_ndtri(u).to(torch::kFloat32);
}

TEST(ObservableScale, RisesFromMinusOneToOneOverTheData) {
  const torch::Tensor data = normal_numbers(10'000);
  const ObservableScale scale(data, {});
  const torch::Tensor x = torch::linspace(-6, 6, 2001);
  const torch::Tensor t = scale(x);
  EXPECT_GE((t.narrow(0, 1, 2000) - t.narrow(0, 0, 2000)).min().item<float>(), 0);
  EXPECT_FLOAT_EQ(t[0].item<float>(), -1);
  EXPECT_FLOAT_EQ(t[2000].item<float>(), 1);
  EXPECT_NEAR(scale(data).mean().item<double>(), 0, 5e-3);  // a knot is 1/64 of the events
}

TEST(ObservableScale, IsHalfRankAndHalfPosition) {
  const torch::Tensor data = torch::linspace(0, 1, 10'001).square();  // rank = sqrt(x)
  const ObservableScale scale(data, {});
  for (const double x : {0.04, 0.25, 0.64})
    EXPECT_NEAR(scale(torch::tensor({x}, torch::kFloat32)).item<double>(), std::sqrt(x) + x - 1,
                4e-3)
        << x;
}

TEST(ObservableScale, SeesTheBulkOfDataWithHeavyTails) {
  const torch::Tensor u = (torch::arange(100'000, torch::kFloat64) + 0.5) / 100'000;
  const torch::Tensor cauchy = torch::tan((u - 0.5) * M_PI).to(torch::kFloat32);
  const ObservableScale scale(cauchy, {});
  const torch::Tensor t = scale(torch::tensor({-1.0, -0.1, 0.1, 1.0}, torch::kFloat32));
  EXPECT_GT((t[3] - t[0]).item<double>(), 0.5);   // half of the events lie between
  EXPECT_GT((t[2] - t[1]).item<double>(), 0.05);  // 6 % of them
}

TEST(ObservableScale, CountsEventsByTheirWeights) {
  const torch::Tensor values = torch::tensor({0.0F, 1.0F, 2.0F, 3.0F});
  const torch::Tensor twice = torch::cat({values, values.narrow(0, 2, 2)});
  const ObservableScale weighted(values, torch::tensor({1.0, 1.0, 2.0, 2.0}, torch::kFloat64));
  EXPECT_EQ(weighted.numbers(), ObservableScale(twice, {}).numbers());
}

// Against sorted copies, of both signs, many sizes and ties.
TEST(ObservableScale, FindsTheQuantilesOfSortedEvents) {
  const torch::Tensor spread = normal_numbers(30'000) * 1e3F;
  const torch::Tensor values =
      torch::cat({spread.exp2().clamp_max(1e30F), spread, spread.round() * 1e-20F, spread / 7});
  const torch::Tensor many = values.index_select(0, torch::randperm(values.size(0)));
  const torch::Tensor counts = (torch::arange(many.size(0)) % 5).to(torch::kFloat32);
  for (const torch::Tensor& weights : {torch::Tensor(), counts}) {
    const std::vector<double> found = ObservableScale(many, weights).numbers();
    const auto [sorted, order] = many.sort();
    const torch::Tensor below =
        (weights.defined() ? weights.index_select(0, order) : torch::ones_like(many))
            .to(torch::kFloat64)
            .cumsum(0);
    for (std::int64_t i = 0; i <= ObservableScale::knots; ++i) {
      const double wanted = below[-1].item<double>() * static_cast<double>(i) / 64 - 1e-6;
      const std::int64_t row = torch::searchsorted(below, wanted).item<std::int64_t>();
      EXPECT_EQ(found[static_cast<std::size_t>(i)], sorted[row].item<double>()) << i;
    }
  }
  const torch::Tensor columns = torch::stack({many, -many}, 1);
  EXPECT_EQ(ObservableScale(columns.select(1, 0), {}).numbers(),
            ObservableScale(many, {}).numbers());
}

TEST(ObservableScale, TakesDataOfOneValue) {
  const ObservableScale scale(torch::full({100}, 2.5F), {});
  const torch::Tensor t = scale(torch::tensor({2.0F, 2.5F, 3.0F}));
  EXPECT_TRUE(torch::isfinite(t).all().item<bool>());
}

TEST(EventFeatures, AreLegendrePolynomialsAndTheirProducts) {
  const torch::Tensor grid =
      torch::linspace(0, 1, 20'001);  // its scale is 2 x - 1 but for the tails
  EventFeaturesConfig config;
  config.degree = 4;
  config.cross_degree = 3;
  const EventFeatures features(config, {ObservableScale(grid, {}), ObservableScale(grid, {})}, {});
  const double x = 0.35, y = 0.8, s = 2 * x - 1, t = 2 * y - 1;
  const auto p = [](int k, double z) {
    return std::vector<double>{1, z, (3 * z * z - 1) / 2, (5 * z * z * z - 3 * z) / 2,
                               (35 * z * z * z * z - 30 * z * z + 3) / 8}[static_cast<size_t>(k)];
  };
  const std::vector<double> expected = {
      p(1, s), p(2, s), p(3, s),           p(4, s),           p(1, t),          p(2, t),
      p(3, t), p(4, t), p(1, s) * p(1, t), p(1, s) * p(2, t), p(2, s) * p(1, t)};
  std::vector<double> found;
  features.each(torch::tensor({{x, y}}, torch::kFloat32),
                [&](const torch::Tensor& feature) { found.push_back(feature[0].item<double>()); });
  ASSERT_EQ(found.size(), expected.size());
  EXPECT_EQ(features.size(), static_cast<std::int64_t>(expected.size()));
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_NEAR(found[i], expected[i], 4e-3) << features.names()[i];
}

// Three blocks and a part against all at once; a block alone bit for bit.
TEST(EventFeatures, AddUpBlocksOfEventsAsAllAtOnce) {
  const std::int64_t events = 3 * EventFeatures::events_at_once + 17;
  const torch::Tensor x = normal_numbers(events);
  const torch::Tensor values = torch::stack({x.flip(0), x.square()}, 1);
  const ObservableScale first(values.select(1, 0), {}), second(values.select(1, 1), {});
  const EventFeatures features({.degree = 6, .cross_degree = 3}, {first, second}, {});
  const auto at_once = [&](const torch::Tensor& some, const torch::Tensor& weights) {
    std::vector<torch::Tensor> rows = {torch::ones({some.size(0)}, torch::kFloat64)};
    features.each(some, [&](const torch::Tensor& row) { rows.push_back(row.to(torch::kFloat64)); });
    const torch::Tensor all = torch::stack(rows);
    return torch::matmul(weights.defined() ? all * weights.to(torch::kFloat64) : all, all.t());
  };
  const torch::Tensor counts = (torch::arange(events) % 3).to(torch::kFloat32);
  for (const torch::Tensor& weights : {torch::Tensor(), counts}) {
    const torch::Tensor whole = at_once(values, weights);
    // products of different signs cancel: rounding is of the diagonal's size
    const torch::Tensor size = whole.diagonal().sqrt();
    EXPECT_LT(((features.sums(values, weights) - whole) / size / size.unsqueeze(1))
                  .abs()
                  .max()
                  .item<double>(),
              1e-12);
  }
  const torch::Tensor block = values.narrow(0, 100, EventFeatures::events_at_once);
  EXPECT_TRUE(torch::equal(features.sums(block, {}), at_once(block, {})));
  EXPECT_EQ(features.sums(values.narrow(0, 0, 0), {}).sum().item<double>(), 0) << "no event";
}

TEST(EventFeatures, AskForEachCategory) {
  const torch::Tensor values = torch::tensor({3.0F, -1.0F, 7.0F, 7.0F}).repeat({20});
  const Categories categories = categories_of(category_counts(values));
  EXPECT_EQ(categories_of(category_counts(torch::tensor({3.0F, -1.0F, 3.0F, 7.0F}).repeat({20}))),
            (Categories{{-1, -1}, {7, 7}, {3, 3}}))
      << "the most frequent is last";
  EXPECT_EQ(categories, (Categories{{-1, -1}, {3, 3}, {7, 7}}));
  EXPECT_TRUE(categories_of(category_counts(torch::tensor({1.0F, 2.5F}))).empty()) << "no integer";
  EXPECT_TRUE(categories_of(category_counts(torch::tensor({1.0F, 1.0F}))).empty()) << "one alone";
  EXPECT_EQ(categories_of(category_counts(torch::tensor({1.0F, 1.0F})), false),
            (Categories{{1, 1}}));
  EXPECT_TRUE(categories_of(category_counts(torch::tensor({1.0F, 100.0F}))).empty()) << "far away";
  EXPECT_TRUE(categories_of(category_counts(torch::arange(17))).empty()) << "too many";
  const torch::Tensor grid = torch::linspace(0, 1, 1001);
  const EventFeatures features({.degree = 2, .cross_degree = 3},
                               {ObservableScale(values, {}), ObservableScale(grid, {})}, {},
                               {categories, {}});
  EXPECT_EQ(features.names(),
            (std::vector<std::string>{"(0=-1)", "(0=3)", "(0=7)", "P1(1)", "P2(1)", "(0=-1) P1(1)",
                                      "(0=3) P1(1)", "(0=-1) P2(1)", "(0=3) P2(1)"}));
  std::vector<double> found;
  features.each(torch::tensor({{3.0F, 0.75F}}),
                [&](const torch::Tensor& feature) { found.push_back(feature[0].item<double>()); });
  EXPECT_EQ(std::vector<double>(found.begin(), found.begin() + 3), (std::vector<double>{0, 1, 0}));
  EXPECT_EQ(found[5], 0);
  EXPECT_EQ(found[6], found[3]);
  EXPECT_EQ(found[8], found[4]);
}

// Cells of two counts are mostly empty, and of a rest polynomials would tell apart single events.
TEST(EventFeatures, TakeManyCategoriesAsNumbersInProducts) {
  const torch::Tensor counts = (torch::arange(200) % 8).to(torch::kFloat32);
  const torch::Tensor rare = torch::cat({counts, torch::full({19}, 9.0F)});
  const Categories categories = categories_of(category_counts(rare));
  constexpr double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(
      categories,
      (Categories{{-infinity, 0}, {1, 1}, {2, 2}, {3, 3}, {4, 4}, {5, 5}, {6, 6}, {7, infinity}}))
      << "too few have 9";
  const Categories few = categories_of(category_counts(torch::arange(60) % 6));
  EXPECT_EQ(few, (Categories{{-infinity, 1}, {2, 3}, {4, infinity}}));
  EXPECT_TRUE(categories_of(category_counts(torch::arange(60) % 6), false).empty()) << "a number";
  EXPECT_TRUE(categories_of(category_counts(torch::arange(30) % 6)).empty()) << "a number";
  const EventFeatures features({.degree = 2, .cross_degree = 2},
                               {ObservableScale(rare, {}), ObservableScale(rare, {})}, {},
                               {categories, categories});
  ASSERT_EQ(features.size(), 2 * 8 + 1);
  EXPECT_EQ(features.names().back(), "P1(0) P1(1)");
  EXPECT_EQ(features.names()[0], "(0<=0)");
  EXPECT_GT(features.need(15).events, 0);
  EXPECT_EQ(features.need(16).events, 0);
  std::int64_t found = 0;
  features.each(rare.unsqueeze(1).repeat({1, 2}), [&](const torch::Tensor&) { ++found; });
  EXPECT_EQ(found, features.size());
}

TEST(EventFeatures, GrowByAHalf) {
  EventFeaturesConfig config;
  EXPECT_EQ(config.degree_for(1), 14);
  EXPECT_EQ(config.degree_for(2), 6);
  config.growth = 2;
  EXPECT_EQ(config.degree_for(2), 14);
  EXPECT_EQ(config.cross_degree_grown(), 7);
  config.growth = 9;
  EXPECT_EQ(config.degree_for(2), 64);
  config.cross_degree = 0;
  EXPECT_EQ(config.cross_degree_grown(), 0) << "none, where none is wanted";
}

TEST(EventFeatures, TakesWhatTheUserAdds) {
  const torch::Tensor grid = torch::linspace(0, 1, 1001);
  const auto scale = [&] { return ObservableScale(grid, {}); };
  const env::Feature product{
      "product", [](const torch::Tensor& x) { return x.select(-1, 0) * x.select(-1, 1); }};
  const EventFeatures features({.degree = 1, .cross_degree = 0}, {scale(), scale()}, {product});
  torch::Tensor last;
  features.each(torch::tensor({{{0.5F, 0.25F}}}), [&](const torch::Tensor& feature) {
    EXPECT_EQ(feature.sizes(), (std::vector<std::int64_t>{1, 1}));
    last = feature;
  });
  EXPECT_FLOAT_EQ(last.item<float>(), 0.125F);
  const env::Feature broken{"broken", [](const torch::Tensor& x) { return x; }};
  const EventFeatures refused({.degree = 1, .cross_degree = 0}, {scale(), scale()}, {broken});
  EXPECT_THROW(refused.each(torch::zeros({3, 2}), [](const torch::Tensor&) {}), core::ShapeError);
}

}  // namespace
}  // namespace sagips::optim

#include "sagips/optim/learn/weight_average.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace sagips::optim {
namespace {

nn::Replica replica_of(std::int64_t weights) {
  return nn::Replica({{"weights", {weights}, 1, false}}, nn::SharedPart::all, torch::kCPU);
}

void set(nn::Replica& replica, double first, double second) {
  torch::NoGradGuard no_grad;
  replica.weights().copy_(torch::tensor({first, second}));
}

// the mean of weights t steps old by their share b^t, shares added up to 1
TEST(WeightAverage, IsTheMeanOfWeightsByTheirAge) {
  nn::Replica replica = replica_of(2);
  WeightAverage average(replica, 0.8);
  const std::vector<std::pair<double, double>> path = {{1, -2}, {0.5, 3}, {4, 4}, {-1, 0.25}};
  for (std::size_t t = 1; t <= path.size(); ++t) {
    set(replica, path[t - 1].first, path[t - 1].second);
    average.add();
    double first = 0, second = 0, shares = 0;
    for (std::size_t k = 0; k < t; ++k) {
      const double share = std::pow(0.8, static_cast<double>(t - 1 - k));
      first += share * path[k].first;
      second += share * path[k].second;
      shares += share;
    }
    EXPECT_NEAR(average.weights()[0].item<double>(), first / shares, 1e-6) << t;
    EXPECT_NEAR(average.leaves().tensors[0][1].item<double>(), second / shares, 1e-6) << t;
  }
}

TEST(WeightAverage, IsTheWeightsThemselvesBeforeAnyUpdate) {
  nn::Replica replica = replica_of(2);
  const WeightAverage average(replica, 0.99);
  set(replica, 7, 8);
  EXPECT_EQ(average.weights()[1].item<float>(), 8.0F);
  EXPECT_EQ(average.leaves().tensors[0][0].item<float>(), 7.0F);
}

TEST(WeightAverage, GoesOnFromItsState) {
  nn::Replica replica = replica_of(2);
  WeightAverage average(replica, 0.9), other(replica, 0.9);
  set(replica, 1, 2);
  average.add();
  nn::take_state(other, nn::give_state(average));
  set(replica, -3, 5);
  average.add();
  other.add();
  EXPECT_TRUE(torch::equal(average.weights(), other.weights()));
}

}  // namespace
}  // namespace sagips::optim

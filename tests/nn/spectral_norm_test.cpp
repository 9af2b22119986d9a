#include "sagips/nn/spectral_norm.hpp"

#include <gtest/gtest.h>

#include "sagips/nn/initialise.hpp"
#include "sagips/nn/mlp.hpp"

namespace sagips::nn {
namespace {

const std::shared_ptr<const Network> network = MlpConfig{.width = 16, .layers = 3}.network(2, 1);

Replica random_replica(std::uint64_t seed) {
  Replica replica(network, SharedPart::all, torch::kCPU);
  initialise_kaiming_normal(replica, 0.2, core::RandomStream(seed, "weights"));
  return replica;
}

/// Largest singular value of each weight matrix, in double precision.
std::vector<double> largest_values(const Replica& replica) {
  std::vector<double> found;
  for (std::size_t i = 0; i < replica.parameters().size(); ++i)
    if (!replica.parameters()[i].is_bias)
      found.push_back(
          torch::linalg_svdvals(replica.view(replica.weights(), i).detach().to(torch::kFloat64))[0]
              .item<double>());
  return found;
}

TEST(SpectralNorm, DividesEachMatrixByItsLargestSingularValue) {
  Replica replica = random_replica(1);
  const Replica before = random_replica(1);
  const SpectralNorm norm(replica, core::RandomStream(1, "vectors"));
  const std::vector<double> sigma = largest_values(before);
  std::size_t matrix = 0;
  for (std::size_t i = 0; i < replica.parameters().size(); ++i) {
    const torch::Tensor weight = replica.view(replica.weights(), i);
    const torch::Tensor was = before.view(before.weights(), i);
    if (replica.parameters()[i].is_bias) {
      EXPECT_TRUE(torch::equal(weight, was));
      continue;
    }
    // power iterations stop when sigma settles: some 1e-5 from the value
    EXPECT_LT((weight * sigma[matrix] - was).abs().max().item<double>(), 1e-4 * sigma[matrix]) << i;
    ++matrix;
  }
  EXPECT_EQ(matrix, 4U);
}

TEST(SpectralNorm, FollowsWeightsThatMoveALittleEachTime) {
  Replica replica = random_replica(2);
  SpectralNorm norm(replica, core::RandomStream(1, "vectors"));
  const Replica drift = random_replica(3);
  for (int step = 0; step < 50; ++step) {
    replica.weights().add_(drift.weights(), 0.01);
    norm.normalise();
    for (const double sigma : largest_values(replica)) EXPECT_NEAR(sigma, 1, 0.01) << step;
  }
}

TEST(SpectralNorm, BoundsTheSlopeOfTheNetwork) {
  Replica replica = random_replica(4);
  const SpectralNorm norm(replica, core::RandomStream(1, "vectors"));
  torch::manual_seed(1);
  const torch::Tensor input = torch::randn({200, 2}).requires_grad_();
  const torch::Tensor slope =
      torch::autograd::grad({(*network)(replica.leaves(), input, {}).sum()}, {input})[0];
  EXPECT_LE(slope.norm(2, 1).max().item<double>(), 1.001);
}

TEST(SpectralNorm, GoesOnFromItsState) {
  Replica one = random_replica(5), other = random_replica(6);
  SpectralNorm norm(one, core::RandomStream(1, "vectors"));
  SpectralNorm again(other, core::RandomStream(2, "vectors"));
  take_state(other, give_state(one));
  take_state(again, give_state(norm));
  for (Replica* replica : {&one, &other}) {
    torch::NoGradGuard no_grad;
    replica->weights().add_(0.01);
  }
  norm.normalise();
  again.normalise();
  EXPECT_TRUE(torch::equal(one.weights(), other.weights()));
}

}  // namespace
}  // namespace sagips::nn

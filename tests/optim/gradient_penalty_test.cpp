#include "sagips/optim/gan/gradient_penalty.hpp"

#include <gtest/gtest.h>

#include "sagips/nn/initialise.hpp"

namespace sagips::optim {
namespace {

using Kind = GradientPenaltyConfig::Kind;

const std::shared_ptr<const nn::Network> network =
    nn::MlpConfig{.width = 5, .layers = 2}.network(2, 1);

nn::Replica random_replica() {
  nn::Replica replica(network, nn::SharedPart::all, torch::kCPU);
  nn::initialise_kaiming_normal(replica, 0.2, core::RandomStream(3, "weights"));
  replica.weights().add_(0.05);  // biases, too
  return replica;
}

PenaltyRows some_rows(bool weighted) {
  torch::manual_seed(5);
  PenaltyRows rows;
  rows.real = torch::randn({7, 2});
  rows.synthetic = torch::randn({7, 2}) + 1;
  rows.places = torch::rand({7, 1});
  if (weighted) rows.shares = torch::softmax(torch::randn({7}), 0);
  return rows;
}

/// The formula, event by event, in double precision. Weights with a graph give it one.
torch::Tensor textbook(Kind kind, const PenaltyRows& rows,
                       const std::vector<torch::Tensor>& weights) {
  const auto slope = [&](torch::Tensor event) {
    event = event.to(torch::kFloat64).detach().requires_grad_();
    const torch::Tensor output =
        (*network)({.tensors = weights, .gradients = {}}, event.unsqueeze(0), {}).squeeze();
    return torch::autograd::grad({output}, {event}, {}, true, true)[0];
  };
  torch::Tensor sum = torch::zeros({}, torch::kFloat64);
  for (std::int64_t i = 0; i < 7; ++i) {
    const double share = rows.shares.defined() ? rows.shares[i].item<double>() : 1.0 / 7;
    if (kind == Kind::wasserstein) {
      const torch::Tensor e = rows.places[i].to(torch::kFloat64);
      const torch::Tensor between =
          e * rows.real[i].to(torch::kFloat64) + (1 - e) * rows.synthetic[i].to(torch::kFloat64);
      sum = sum + share * (slope(between).norm() - 1).square();
    }
    if (kind == Kind::r1 || kind == Kind::r1_r2)
      sum = sum + slope(rows.real[i]).square().sum() / 7 / 2;
    if (kind == Kind::r2 || kind == Kind::r1_r2)
      sum = sum + share * slope(rows.synthetic[i]).square().sum() / 2;
  }
  return sum;
}

std::vector<torch::Tensor> in_double(const nn::Replica& replica) {
  std::vector<torch::Tensor> weights;
  for (const torch::Tensor& leaf : replica.leaves().tensors)
    weights.push_back(leaf.detach().to(torch::kFloat64).requires_grad_());
  return weights;
}

TEST(GradientPenalty, EqualsItsFormulaAndSoDoItsGradients) {
  for (const Kind kind : {Kind::r1, Kind::r2, Kind::r1_r2, Kind::wasserstein})
    for (const bool weighted : {false, true}) {
      SCOPED_TRACE(static_cast<int>(kind));
      nn::Replica replica = random_replica();
      const PenaltyRows rows = some_rows(weighted);
      replica.gradients().fill_(0.25F);  // what is there stays
      const double value =
          add_gradient_penalty(kind, 3, *network, rows, 0.5, replica.leaves()).item<double>();
      replica.check_views();

      const auto weights = in_double(replica);
      const torch::Tensor exact = textbook(kind, rows, weights) * 3;
      EXPECT_NEAR(value, exact.item<double>(), 1e-5 * exact.item<double>());
      const auto gradients = torch::autograd::grad({exact}, weights, {}, false, false, true);
      for (std::size_t i = 0; i < gradients.size(); ++i) {
        const torch::Tensor added = (replica.leaves().tensors[i].grad() - 0.25).to(torch::kFloat64);
        const torch::Tensor expected =
            gradients[i].defined() ? gradients[i] * 0.5 : torch::zeros_like(added);
        // some roundings of what is added to
        const double bound = 1e-6 * (1 + expected.abs().max().item<double>() * 2);
        EXPECT_LT((added - expected).abs().max().item<double>(), bound) << "tensor " << i;
      }
    }
}

// The gradients above come from the same double backward; these do not.
TEST(GradientPenalty, HasTheGradientsOfFiniteDifferences) {
  for (const Kind kind : {Kind::r1_r2, Kind::wasserstein}) {
    nn::Replica replica = random_replica();
    const PenaltyRows rows = some_rows(true);
    add_gradient_penalty(kind, 1, *network, rows, 1, replica.leaves());
    for (const std::size_t tensor : {0, 2, 4}) {
      const auto value_at = [&](double step) {
        auto weights = in_double(replica);
        weights[tensor] = weights[tensor].detach().clone();
        weights[tensor][0][1] += step;
        return textbook(kind, rows, weights).item<double>();
      };
      const double slope = (value_at(1e-6) - value_at(-1e-6)) / 2e-6;
      EXPECT_NEAR(replica.leaves().tensors[tensor].grad()[0][1].item<double>(), slope, 1e-5);
      EXPECT_GT(std::abs(slope), 1e-4) << "there is something to compare";
    }
  }
}

TEST(GradientPenalty, CountsTheEpochsThatItSkips) {
  GradientPenaltyConfig config{.kind = Kind::r1, .factor = 2, .every = 4};
  for (const auto& [epoch, factor] :
       std::vector<std::pair<std::uint32_t, double>>{{1, 0}, {3, 0}, {4, 8}, {5, 0}, {8, 8}})
    EXPECT_EQ(config.factor_in(epoch), factor) << epoch;
  config.kind = Kind::none;
  EXPECT_EQ(config.factor_in(4), 0);
}

}  // namespace
}  // namespace sagips::optim

#include "sagips/nn/layers/norm_over_ranks.hpp"

#include <gtest/gtest.h>
#include <torch/autograd.h>

#include <array>
#include <barrier>
#include <functional>
#include <thread>

namespace sagips::nn {
namespace {

constexpr std::int64_t channels = 3;

/// What a batch norm makes of rows, of a loss, and of its running statistics.
struct Made {
  torch::Tensor output, slope, weight_slope, bias_slope, mean, variance;
};

using Norm = std::function<torch::Tensor(const torch::Tensor& input, const LayerTensors& tensors)>;

// The loss is any function of the outputs.
Made made(torch::Tensor input, const torch::Tensor& towards, const Norm& norm) {
  input = input.clone().requires_grad_();
  const std::array<torch::Tensor, 2> weights{torch::linspace(0.5, 2, channels).requires_grad_(),
                                             torch::linspace(-1, 1, channels).requires_grad_()};
  std::array<torch::Tensor, 2> buffers{torch::zeros({channels}), torch::ones({channels})};
  const torch::Tensor output = norm(input, {.weights = weights, .buffers = buffers});
  const auto slopes =
      torch::autograd::grad({((output - towards).pow(3)).sum()}, {input, weights[0], weights[1]});
  return {output.detach(), slopes[0], slopes[1], slopes[2], buffers[0], buffers[1]};
}

/// Each thread is a rank that has so many of the rows.
std::vector<Made> over_ranks(const torch::Tensor& input, const torch::Tensor& towards,
                             const std::vector<std::int64_t>& rows) {
  std::vector<Made> all(rows.size());
  std::vector<std::vector<double>> told(rows.size());
  std::barrier meeting(static_cast<std::ptrdiff_t>(rows.size()));
  std::vector<std::thread> ranks;
  for (std::size_t rank = 0, first = 0; rank < rows.size();
       first += static_cast<std::size_t>(rows[rank++]))
    ranks.emplace_back([&, rank, first] {
      const AddUp add_up = [&](std::span<double> numbers) {
        told[rank].assign(numbers.begin(), numbers.end());
        meeting.arrive_and_wait();
        for (std::size_t k = 0; k < numbers.size(); ++k) {
          numbers[k] = 0;
          for (const auto& of_rank : told) numbers[k] += of_rank[k];
        }
        meeting.arrive_and_wait();
      };
      const auto own = [&](const torch::Tensor& whole) {
        return whole.narrow(0, static_cast<std::int64_t>(first), rows[rank]);
      };
      all[rank] = made(own(input), own(towards), [&](const auto& values, const auto& tensors) {
        return batch_norm_over_ranks(values, tensors, 0.1, 1e-5, add_up);
      });
    });
  for (std::thread& rank : ranks) rank.join();
  return all;
}

void expect_near(const torch::Tensor& found, const torch::Tensor& wanted, const std::string& what) {
  EXPECT_LT((found - wanted).norm().item<double>(), 1e-5 * wanted.norm().item<double>()) << what;
}

// Flat rows and images, of a mean far from 0, shared out unevenly.
TEST(NormOverRanks, IsTheNormOfAllRows) {
  torch::manual_seed(4);
  for (const std::vector<std::int64_t>& shape :
       {std::vector<std::int64_t>{13, channels}, {13, channels, 4, 5}, {13, channels, 2, 3, 2}})
    for (const double middle : {0.0, 20.0})
      for (const std::vector<std::int64_t>& rows :
           {std::vector<std::int64_t>{13}, {6, 7}, {2, 8, 3}}) {
        const torch::Tensor input = torch::randn(shape) * 2 + middle, towards = torch::randn(shape);
        const Made one = made(input, towards, [](const auto& values, const auto& tensors) {
          return torch::batch_norm(values, tensors.weights[0], tensors.weights[1],
                                   tensors.buffers[0], tensors.buffers[1], true, 0.1, 1e-5, false);
        });
        const std::vector<Made> all = over_ranks(input, towards, rows);
        std::vector<torch::Tensor> outputs, slopes;
        torch::Tensor weight_slope = torch::zeros({channels}), bias_slope = weight_slope.clone();
        for (const Made& rank : all) {
          outputs.push_back(rank.output);
          slopes.push_back(rank.slope);
          weight_slope += rank.weight_slope;
          bias_slope += rank.bias_slope;
          EXPECT_TRUE(torch::equal(rank.mean, all[0].mean));
          expect_near(rank.mean, one.mean, "running mean");
          expect_near(rank.variance, one.variance, "running variance");
        }
        expect_near(torch::cat(outputs), one.output, "output");
        expect_near(torch::cat(slopes), one.slope, "slope of the input");
        expect_near(weight_slope, one.weight_slope, "slope of the weights");
        expect_near(bias_slope, one.bias_slope, "slope of the biases");
      }
}

// Of a constant the sum of squares less the square of the mean is 0 but for float64's last digits, of either sign:
// of large ones these are more than epsilon.
TEST(NormOverRanks, HasNoVarianceBelowNothing) {
  torch::manual_seed(5);
  for (int draw = 0; draw < 200; ++draw) {
    const torch::Tensor value = torch::rand({1, channels}) * 8e5 + 2e5;
    const torch::Tensor input = value.repeat({33, 1}), towards = torch::randn({33, channels});
    for (const Made& rank : over_ranks(input, towards, {12, 21})) {
      ASSERT_TRUE(torch::isfinite(rank.output).all().item<bool>()) << value;
      ASSERT_TRUE(torch::isfinite(rank.slope).all().item<bool>()) << value;
      ASSERT_GE(rank.variance.min().item<double>(), 0.9F) << "nine tenths of what it was";
    }
  }
}

// The first layer of a network sees rows that nobody differentiates, and a constant network weights of that kind.
TEST(NormOverRanks, NeedsNoSlopes) {
  const AddUp alone = [](std::span<double>) {};
  const torch::Tensor rows = torch::arange(12.0).view({4, channels});
  std::array<torch::Tensor, 2> weights{torch::ones({channels}), torch::zeros({channels})},
      buffers{torch::zeros({channels}), torch::ones({channels})};
  const torch::Tensor output = batch_norm_over_ranks(
      rows.to(torch::kFloat32), {.weights = weights, .buffers = buffers}, 1, 1e-5, alone);
  EXPECT_FALSE(output.requires_grad());
  EXPECT_TRUE(torch::allclose(buffers[0], rows.to(torch::kFloat32).mean(0)));
  EXPECT_TRUE(torch::allclose(buffers[1], rows.to(torch::kFloat32).var(0)));
}

}  // namespace
}  // namespace sagips::nn

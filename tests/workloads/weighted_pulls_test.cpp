// Errors of weighted events mean what they say, in likelihood and moments: pulls have width one, and 68 % of
// the intervals hold the truth.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <iostream>

#include "sagips/core/text.hpp"
#include "sagips/optim/likelihood/maximum_likelihood.hpp"
#include "sagips/optim/moments/moments.hpp"
#include "sagips/problem/loaded_data.hpp"
#include "workloads/resonance/resonance.hpp"

namespace sagips::workloads {
namespace {

using Weigh = std::function<void(data::Dataset&, const core::RandomStream&)>;

torch::Tensor uniform(std::int64_t count, const core::RandomStream& stream,
                      std::uint32_t dimension) {
  torch::Tensor numbers = torch::empty({count}, torch::kFloat64);
  stream.uniform(0, dimension, std::span(numbers.data_ptr<double>(), std::size_t(count)));
  return numbers;
}

void one_or_three(data::Dataset& data, const core::RandomStream& stream) {
  data.weights = torch::where(uniform(data.size(), stream, 0) < 0.5, 1.0, 3.0).to(torch::kFloat32);
}

void a_tenth_negative(data::Dataset& data, const core::RandomStream& stream) {
  data.weights = torch::where(uniform(data.size(), stream, 0) < 0.1, -1.0, 1.0).to(torch::kFloat32);
}

// A flat background that is in the data, and as much of it with weights -1/2 from a larger sample.
void subtracted(data::Dataset& data, const core::RandomStream& stream) {
  const double low = data.values.min().item<double>(), high = data.values.max().item<double>();
  const torch::Tensor flat =
      (low + (high - low) * uniform(data.size() / 2, stream, 1)).unsqueeze(1).to(torch::kFloat32);
  const std::int64_t added = flat.size(0) / 3, events = data.size();
  data.values = torch::cat({data.values, flat});
  data.weights = torch::ones({data.size()});
  data.weights->slice(0, events + added).fill_(-0.5);
}

struct Counted {
  double sum = 0, squares = 0, inside = 0;
};

void expect_errors_that_cover(const Weigh& weigh) {
  at::set_num_threads(1);
  const auto workload = resonance_workload().make();
  problem::DataSettings settings;
  settings.toy_events = 3000;
  std::vector<std::vector<Counted>> counted(2);
  std::vector<std::string> names;
  const double toys = SAGIPS_TOYS;
  for (std::uint64_t toy = 0; toy < SAGIPS_TOYS; ++toy) {
    const std::uint64_t seed = 4000 + toy;
    env::Environment environment = problem::load_data(*workload, settings, seed).all();
    weigh(environment.channels[0].training, core::RandomStream(seed, "weights"));
    optim::SolveContext context;
    context.seed = seed;
    const std::vector<optim::Estimate> found = {
        optim::fit_maximum_likelihood(environment, {}, seed),
        optim::MomentSolver({}).solve(environment, context)};
    const env::ParameterSet& parameters = environment.parameters;
    for (std::size_t method = 0; method < found.size(); ++method) {
      counted[method].resize(parameters.free().size());
      for (std::size_t i = 0; i < parameters.free().size(); ++i) {
        const std::size_t index = parameters.free()[i];
        const double truth = *parameters.all()[index].truth;
        const double pull = (found[method].values[index] - truth) / found[method].errors[index];
        Counted& one = counted[method][i];
        one.sum += pull;
        one.squares += pull * pull;
        one.inside += std::abs(found[method].values[index] - truth) <
                      found[method].error_towards(index, truth);
        if (toy == 0 && method == 0) names.push_back(parameters.names()[index]);
      }
    }
  }
  for (std::size_t method = 0; method < 2; ++method)
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto& [sum, squares, inside] = counted[method][i];
      const double mean = sum / toys, width = std::sqrt((squares - sum * mean) / (toys - 1));
      const double share = inside / toys, chance = std::sqrt(0.683 * 0.317 / toys);
      const std::string what = core::text(method == 0 ? "fit " : "moments ", names[i]);
      EXPECT_LT(std::abs(width - 1), 3.5 / std::sqrt(2 * toys)) << "width of " << what;
      EXPECT_LT(std::abs(mean), 3.5 / std::sqrt(toys)) << "mean pull of " << what;
      EXPECT_LT(std::abs(share - 0.683), 3.5 * chance) << "coverage of " << what;
      std::cout << what << ": pull " << core::fixed(mean, 3) << ", width " << core::fixed(width, 3)
                << ", 68 % intervals hold the truth in " << core::fixed(100 * share, 1) << " %\n";
    }
}

// Each number lies beyond 3.5 of its errors with probability 5e-4: 24 of them a test, false alarm 1.2e-2.
TEST(SAGIPS_SUITE, WithWeightsOneOrThree) { expect_errors_that_cover(one_or_three); }
TEST(SAGIPS_SUITE, WithATenthNegative) { expect_errors_that_cover(a_tenth_negative); }
TEST(SAGIPS_SUITE, WithASubtractedBackground) { expect_errors_that_cover(subtracted); }

}  // namespace
}  // namespace sagips::workloads

#include "sagips/optim/goodness.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "sagips/core/random.hpp"
#include "sagips/core/text.hpp"
#include "sagips/env/compare/two_sample.hpp"

namespace sagips::optim {

double chi_square_tail(double value, double degrees_of_freedom) {
  if (!(degrees_of_freedom > 0)) return 1;
  return torch::special_gammaincc(torch::tensor(degrees_of_freedom / 2, torch::kFloat64),
                                  torch::tensor(value / 2, torch::kFloat64))
      .item<double>();
}

namespace {

/// A weighted mean and its squared error.
struct MeanOfEvents {
  double value = 0, variance = 0;

  MeanOfEvents(const torch::Tensor& values, const std::optional<torch::Tensor>& weights) {
    const torch::Tensor shares =
        weights ? weights->to(torch::kFloat64) / weights->to(torch::kFloat64).sum()
                : torch::full({values.size(0)}, 1. / static_cast<double>(values.size(0)),
                              torch::kFloat64);
    value = shares.dot(values).item<double>();
    variance = shares.square().dot((values - value).square()).item<double>();
  }
};

}  // namespace

GoodnessOfFit mean_test(const env::Environment& environment, const torch::Tensor& physical,
                        const std::string& name, std::uint64_t seed) {
  constexpr std::int64_t synthetic_for_one = 10;
  torch::NoGradGuard no_grad;
  double chi2 = 0;
  for (const env::Channel& channel : environment.channels) {
    const data::Dataset made = env::toy_data(
        channel.pipeline, physical, synthetic_for_one * channel.training.size(),
        channel.training.observables, core::RandomStream(seed, "mean test " + channel.name));
    const auto mean_over = [&](const data::Dataset& events) {
      return MeanOfEvents(channel.features[0].of(events.values).to(torch::kFloat64),
                          events.weights);
    };
    const MeanOfEvents data = mean_over(channel.training), simulation = mean_over(made);
    chi2 += std::pow(data.value - simulation.value, 2) / (data.variance + simulation.variance);
  }
  const auto degrees = static_cast<double>(environment.channels.size());
  return {name, chi2, degrees, chi_square_tail(chi2, degrees)};
}

std::vector<GoodnessOfFit> event_tests(const env::Environment& environment,
                                       const std::vector<double>& values, EventTest test,
                                       std::int64_t events, std::int64_t permutations,
                                       std::uint64_t seed) {
  std::vector<GoodnessOfFit> found;
  for (const env::Channel& channel : environment.channels) {
    const core::RandomStream stream(seed, "event test " + channel.name);
    const env::EventRows measured =
        env::EventRows::of(channel.training).at_most(events, stream.at_step(1));
    const data::Dataset made =
        env::toy_data(channel.pipeline, torch::tensor(values, torch::kFloat64), measured.size(),
                      channel.training.observables, stream.at_step(2));
    const env::EventRows synthetic = env::EventRows::of(made);
    const env::TestResult result =
        test == EventTest::energy
            ? env::energy_test(measured, synthetic, permutations, stream.at_step(3))
            : env::classifier_test(measured, synthetic, {}, stream.at_step(3));
    const std::string name = test == EventTest::energy ? "energy distance" : "classifier accuracy";
    found.push_back(
        {environment.channels.size() > 1 ? core::text(name, " of '", channel.name, "'") : name,
         result.statistic, 0, result.p_value});
  }
  return found;
}

}  // namespace sagips::optim

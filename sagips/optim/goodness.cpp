#include "sagips/optim/goodness.hpp"

#include <algorithm>

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

// The fit's errors mean what they say: (fit - truth) / error over many toys has mean 0 and width 1.
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>

#include "sagips/core/text.hpp"
#include "sagips/optim/likelihood/maximum_likelihood.hpp"
#include "sagips/problem/loaded_data.hpp"
#include "workloads/proxy1d/proxy1d.hpp"
#include "workloads/proxy2d/proxy2d.hpp"
#include "workloads/resonance/resonance.hpp"

namespace sagips::workloads {
namespace {

struct Pulls {
  std::vector<std::string> names;
  std::vector<std::vector<double>> values;  ///< [free parameters][toys]
};

Pulls pulls_of(const problem::WorkloadEntry& entry, std::int64_t events, std::uint64_t toys) {
  at::set_num_threads(1);  // tensors of a fit are too small for threads to pay
  Pulls pulls;
  const auto workload = entry.make();
  problem::DataSettings settings;
  settings.toy_events = events;
  for (std::uint64_t toy = 0; toy < toys; ++toy) {
    const std::uint64_t seed = 1000 + toy;
    const env::Environment environment = problem::load_data(*workload, settings, seed).all();
    const optim::FitResult fit = optim::fit_maximum_likelihood(environment, {}, seed);
    const env::ParameterSet& parameters = environment.parameters;
    pulls.values.resize(parameters.free().size());
    for (std::size_t i = 0; i < parameters.free().size(); ++i) {
      const std::size_t index = parameters.free()[i];
      if (toy == 0) pulls.names.push_back(parameters.names()[index]);
      pulls.values[i].push_back((fit.values[index] - *parameters.all()[index].truth) /
                                fit.errors[index]);
    }
  }
  return pulls;
}

void expect_standard_normal(const Pulls& pulls) {
  for (std::size_t i = 0; i < pulls.names.size(); ++i) {
    const auto toys = static_cast<double>(pulls.values[i].size());
    double mean = 0, square = 0;
    for (const double pull : pulls.values[i]) mean += pull / toys;
    for (const double pull : pulls.values[i]) square += (pull - mean) * (pull - mean) / (toys - 1);
    const double width = std::sqrt(square);
    EXPECT_LT(std::abs(mean), 3.5 / std::sqrt(toys)) << "mean pull of " << pulls.names[i];
    EXPECT_LT(std::abs(width - 1), 3.5 / std::sqrt(2 * toys)) << "width of " << pulls.names[i];
    std::cout << "pull of " << pulls.names[i] << ": mean " << core::fixed(mean, 3) << " +- "
              << core::fixed(1 / std::sqrt(toys), 3) << ", width " << core::fixed(width, 3)
              << " +- " << core::fixed(1 / std::sqrt(2 * toys), 3) << '\n';
  }
}

// SAGIPS_SUITE and SAGIPS_TOYS come from CMakeLists.txt: one source, a short and a long test.
//
// A mean lies beyond 3.5 errors with probability 4.7e-4, a width with 5.9e-4 (4.8e-4 with 200
// toys): false alarm at most 6.3e-3 for the proxy's six parameters, of which the norms tie two to
// the others, 5.3e-3 for the 2D proxy's five and 4.2e-3 for the resonance's four.
TEST(SAGIPS_SUITE, ProxyPullsHaveMeanZeroAndWidthOne) {
  expect_standard_normal(pulls_of(proxy1d_workload(), 100'000, SAGIPS_TOYS));
}

TEST(SAGIPS_SUITE, Proxy2dPullsHaveMeanZeroAndWidthOne) {
  expect_standard_normal(pulls_of(proxy2d_workload(), 100'000, SAGIPS_TOYS));
}

TEST(SAGIPS_SUITE, ResonancePullsHaveMeanZeroAndWidthOne) {
  expect_standard_normal(pulls_of(resonance_workload(), 10'000, SAGIPS_TOYS));
}

}  // namespace
}  // namespace sagips::workloads

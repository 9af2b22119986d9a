#include "sagips/optim/resampling.hpp"

#include <functional>

#include "sagips/core/error.hpp"
#include "sagips/core/exception_watch.hpp"
#include "sagips/core/random.hpp"
#include "sagips/core/text.hpp"

namespace sagips::optim {

namespace {

using Once = std::function<Solution(std::int64_t repetition)>;

// parameters: values of periodic ones may lie on both sides of where the range ends
Resampled scatter(std::int64_t repetitions, const SolveContext& context,
                  const env::ParameterSet& parameters, const Once& once) {
  Resampled found;
  std::vector<torch::Tensor> values;
  for (std::int64_t i = 1; i <= repetitions; ++i) {
    if (context.interrupted && context.interrupted()) break;
    try {
      Solution solution = once(i);
      for (std::size_t k = 0; k < solution.values.size() && !values.empty(); ++k)
        solution.values[k] = parameters.all()[k].nearest(
            solution.values[k], values[0][static_cast<std::int64_t>(k)].item<double>());
      if (solution.converged)
        values.push_back(torch::tensor(solution.values, torch::kFloat64));
      else if (context.interrupted && context.interrupted())
        break;
      else
        ++found.failures;
    } catch (const core::Error&) {  // this data set has no answer; it is counted
      core::pass_on_raised();
      ++found.failures;
    }
  }
  found.solutions = static_cast<std::int64_t>(values.size());
  if (values.size() < 2) return found;
  found.errors = numbers_of(torch::stack(values).std(0));
  return found;
}

}  // namespace

Resampled over_bootstraps(const Solver& solver, const env::Environment& environment,
                          const SolveContext& context, const Solution& solution,
                          std::int64_t repetitions) {
  SolveContext again = context;
  again.observe = nullptr;
  again.intervals = false;
  again.start = torch::tensor(solution.values, torch::kFloat64);
  return scatter(repetitions, context, environment.parameters, [&](std::int64_t i) {
    env::Environment drawn = environment;
    for (env::Channel& channel : drawn.channels)
      channel.training = data::bootstrap(
          channel.training, core::RandomStream(context.seed,
                                               core::text("bootstrap of a solution ", channel.name,
                                                          " rank ", context.place.rank),
                                               static_cast<std::uint32_t>(i)));
    return solver.solve(drawn, again);
  });
}

Resampled over_seeds(const Solver& solver, const env::Environment& environment,
                     const SolveContext& context, std::int64_t repetitions) {
  SolveContext again = context;
  again.observe = nullptr;
  again.intervals = false;
  return scatter(repetitions, context, environment.parameters, [&](std::int64_t i) {
    again.seed = context.seed + static_cast<std::uint64_t>(i) * 1'000'003;
    return solver.solve(environment, again);
  });
}

}  // namespace sagips::optim

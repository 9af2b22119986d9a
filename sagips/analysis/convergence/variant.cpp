#include "sagips/analysis/convergence/variant.hpp"

#include "sagips/analysis/statistics.hpp"

namespace sagips::analysis {

Measured measured(std::span<const double> numbers) {
  if (numbers.empty()) return {};
  return {mean(numbers), numbers.size() < 2 ? 0 : standard_deviation(numbers)};
}

}  // namespace sagips::analysis

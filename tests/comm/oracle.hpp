#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sagips/comm/exchanges.hpp"

namespace sagips::comm::testing {

using Doubles = std::vector<double>;

/// What all ranks hold, computed one after another in double precision.
struct Replicas {
  std::vector<Doubles> weights, gradients;  ///< by rank
};

/// The gradient that a rank brings to an epoch: uniform in (-1, 1).
std::vector<float> gradient_of(int rank, std::int64_t epoch, std::size_t floats);

/// One epoch as the documentation of each exchange says it, for exchanges that wait. `apply` is the
/// update between gradients and weights: weights -= 0.1 * gradients.
void serial_epoch(const std::string& name, const ExchangesConfig& config,
                  const std::vector<int>& nodes, std::uint64_t seed, std::int64_t epoch,
                  Replicas& replicas);

}  // namespace sagips::comm::testing

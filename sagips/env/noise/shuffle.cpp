#include "sagips/env/noise/shuffle.hpp"

#include "sagips/env/noise/noise.hpp"

namespace sagips::env {

torch::Tensor shuffled(std::int64_t size, std::int64_t orders, const core::RandomStream& stream,
                       std::int64_t first) {
  // 52 random bits a number: equal ones are as good as absent
  return PhiloxNoise(stream)
      .uniform(first, orders, size, 0, torch::kFloat64)
      .argsort(/*dim=*/int64_t{1}, /*descending=*/false);
}

}  // namespace sagips::env

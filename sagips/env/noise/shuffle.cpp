#include "sagips/env/noise/shuffle.hpp"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "sagips/env/noise/noise.hpp"

namespace sagips::env {

torch::Tensor shuffled(std::int64_t size, std::int64_t orders, const core::RandomStream& stream,
                       std::int64_t first) {
  // 52 random bits a number: equal ones are as good as absent
  return PhiloxNoise(stream)
      .uniform(first, orders, size, 0, torch::kFloat64)
      .argsort(/*dim=*/int64_t{1}, /*descending=*/false);
}

torch::Tensor first_shuffled(std::int64_t size, std::int64_t count,
                             const core::RandomStream& stream) {
  constexpr std::int64_t at_once = 4096;
  std::vector<std::pair<double, std::int64_t>> smallest;  // a heap, the largest of them in front
  std::vector<double> numbers;
  for (std::int64_t first = 0; first < size; first += at_once) {
    numbers.resize(static_cast<std::size_t>(std::min(at_once, size - first)));
    stream.uniform(0, 0, std::span<double>(numbers), static_cast<std::uint32_t>(first));
    std::int64_t row = first;
    for (const double number : numbers) {
      const std::pair<double, std::int64_t> one(number, row++);
      if (static_cast<std::int64_t>(smallest.size()) >= count) {
        if (smallest.empty() || smallest.front() < one) continue;
        std::pop_heap(smallest.begin(), smallest.end());
        smallest.pop_back();
      }
      smallest.push_back(one);
      std::push_heap(smallest.begin(), smallest.end());
    }
  }
  std::sort_heap(smallest.begin(), smallest.end());
  torch::Tensor rows = torch::empty({static_cast<std::int64_t>(smallest.size())}, torch::kInt64);
  std::transform(smallest.begin(), smallest.end(), rows.data_ptr<std::int64_t>(),
                 [](const auto& one) { return one.second; });
  return rows;
}

}  // namespace sagips::env

#include "sagips/simulate/oracle.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace sagips::simulate {

namespace {

// A mixing step that a compiler vectorises; statistics do not matter here, differences do.
float number(std::uint32_t key) {
  key = (key ^ (key >> 16)) * 0x45d9f3bU;
  key = (key ^ (key >> 16)) * 0x45d9f3bU;
  return static_cast<float>(static_cast<std::int32_t>(key >> 22) - 512) * 0x1p-10F;
}

std::uint32_t key_of(int rank, std::int64_t epoch) {
  return static_cast<std::uint32_t>(rank) * 2654435761U +
         static_cast<std::uint32_t>(epoch) * 40503U;
}

}  // namespace

void fill_gradients(std::span<float> gradients, int rank, std::int64_t epoch) {
  const std::uint32_t key = key_of(rank, epoch);
  for (std::size_t i = 0; i < gradients.size(); ++i)
    gradients[i] = number(key + static_cast<std::uint32_t>(i) * 97U);
}

void MeanCheck::look(Cluster& cluster, std::span<const float> result, int rank, int ranks,
                     std::span<const std::int64_t> epochs) {
  if (rank == 0) compare_with_mean(result, ranks, epochs);
  cluster.align();
  compare_with_first(result);
  cluster.align();
}

void MeanCheck::compare_with_mean(std::span<const float> result, int ranks,
                                  std::span<const std::int64_t> epochs) {
  first_.assign(result.begin(), result.end());
  looked_ = true;
  std::vector<double> sum(first_.size(), 0.0);
  std::vector<float> one(first_.size());
  for (const std::int64_t epoch : epochs)
    for (int rank = 0; rank < ranks; ++rank) {
      fill_gradients(one, rank, epoch);
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += static_cast<double>(one[i]);
    }
  const double count = static_cast<double>(ranks) * static_cast<double>(epochs.size());
  for (std::size_t i = 0; i < sum.size(); ++i) {
    const double error = std::abs(static_cast<double>(first_[i]) - sum[i] / count);
    largest_error_ = std::isfinite(error) ? std::max(largest_error_, error)
                                          : std::numeric_limits<double>::infinity();
  }
}

void MeanCheck::compare_with_first(std::span<const float> result) {
  if (first_.size() != result.size() ||
      std::memcmp(first_.data(), result.data(), result.size_bytes()) != 0)
    equal_ = false;
}

}  // namespace sagips::simulate

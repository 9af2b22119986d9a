#include "sagips/simulate/oracle.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace sagips::simulate {

namespace {

// A mixing step that a compiler vectorises; statistics do not matter here, differences do.
float uniform(std::uint32_t key) {
  key = (key ^ (key >> 16)) * 0x45d9f3bU;
  key = (key ^ (key >> 16)) * 0x45d9f3bU;
  key ^= key >> 16;
  return (static_cast<float>(key >> 8) + 0.5F) * 0x1p-24F - 0.5F;
}

std::uint32_t key_of(int rank, std::int64_t epoch) {
  return static_cast<std::uint32_t>(rank) * 2654435761U +
         static_cast<std::uint32_t>(epoch) * 40503U;
}

}  // namespace

void fill_gradients(std::span<float> gradients, int rank, std::int64_t epoch) {
  const std::uint32_t key = key_of(rank, epoch);
  for (std::size_t i = 0; i < gradients.size(); ++i)
    gradients[i] = uniform(key + static_cast<std::uint32_t>(i) * 97U);
}

void MeanCheck::look(Cluster& cluster, std::span<const float> result, int rank, int ranks,
                     std::int64_t epoch) {
  if (rank == 0) {
    first_.assign(result.begin(), result.end());
    looked_ = true;
    compare_with_mean(ranks, epoch);
  }
  cluster.align();
  if (std::memcmp(first_.data(), result.data(), result.size_bytes()) != 0) equal_ = false;
  cluster.align();
}

void MeanCheck::compare_with_mean(int ranks, std::int64_t epoch) {
  std::vector<double> sum(first_.size(), 0.0);
  std::vector<float> one(first_.size());
  for (int rank = 0; rank < ranks; ++rank) {
    fill_gradients(one, rank, epoch);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += static_cast<double>(one[i]);
  }
  bound_ = 0.5 * ranks * 0x1p-24;
  for (std::size_t i = 0; i < sum.size(); ++i) {
    const double error = std::abs(static_cast<double>(first_[i]) - sum[i] / ranks);
    if (!(error <= largest_error_)) largest_error_ = error;  // NaN, too
  }
}

}  // namespace sagips::simulate

#include "sagips/comm/exchanges/adasum.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "tests/comm/hand_driven.hpp"
#include "tests/comm/oracle.hpp"

namespace sagips::comm::testing {
namespace {

constexpr std::array<std::size_t, 3> tensors{5, 1, 94};
constexpr std::size_t length = 100;

// The formula, by itself.
Doubles adasum_of(const Doubles& a, const Doubles& b) {
  double both = 0, of_a = 0, of_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    both += a[i] * b[i];
    of_a += a[i] * a[i];
    of_b += b[i] * b[i];
  }
  if (of_a == 0) return b;
  if (of_b == 0) return a;
  Doubles sum(a.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    sum[i] = (1 - both / (2 * of_a)) * a[i] + (1 - both / (2 * of_b)) * b[i];
  return sum;
}

Doubles all_of(std::vector<Doubles> changes) {
  if (changes.size() == 1) return changes[0];
  const auto middle = changes.begin() + static_cast<std::ptrdiff_t>(changes.size() / 2);
  return adasum_of(all_of({changes.begin(), middle}), all_of({middle, changes.end()}));
}

/// Weights begin at 0 and each rank moves them by `changes`; what they are after the exchange.
std::vector<float> combined(Kit& kit, const std::vector<float>& change, bool by_tensors) {
  Site site = kit.site(length);
  if (by_tensors) site.tensors.assign(tensors.begin(), tensors.end());
  Adasum adasum(site, site.all_ranks());
  std::vector<float> weights(length, 0), gradients(length, 0);
  Flow flow(adasum.gradients({weights, gradients}, {1}));
  EXPECT_TRUE(flow.over());
  weights = change;
  flow.begin(adasum.mix_weights({weights, gradients}, {1}));
  site.timeout->wait(flow, {});
  return weights;
}

TEST(Adasum, IsTheFormulaOfEachTensorInPairs) {
  for (const int ranks : {1, 2, 4, 8})
    on_threads({.ranks = ranks}, [&](Kit& kit) {
      for (const bool by_tensors : {true, false}) {
        const std::vector<float> found =
            combined(kit, gradient_of(kit.communicator.rank(), 1, length), by_tensors);
        std::size_t first = 0;
        for (const std::size_t size : by_tensors
                                          ? std::vector<std::size_t>(tensors.begin(), tensors.end())
                                          : std::vector<std::size_t>{length}) {
          std::vector<Doubles> changes;
          for (int rank = 0; rank < ranks; ++rank) {
            const std::vector<float> own = gradient_of(rank, 1, length);
            changes.emplace_back(own.begin() + static_cast<std::ptrdiff_t>(first),
                                 own.begin() + static_cast<std::ptrdiff_t>(first + size));
          }
          const Doubles wanted = all_of(changes);
          for (std::size_t i = 0; i < size; ++i)
            EXPECT_NEAR(found[first + i], wanted[i], 1e-6) << ranks << " ranks, " << first + i;
          first += size;
        }
      }
    });
}

TEST(Adasum, AddsWhatIsOrthogonalAndAveragesWhatIsParallel) {
  on_threads({.ranks = 4}, [&](Kit& kit) {
    std::vector<float> change(length, 0);
    change[static_cast<std::size_t>(kit.communicator.rank())] = 3;
    const std::vector<float> sum = combined(kit, change, false);
    for (std::size_t i = 0; i < length; ++i) EXPECT_EQ(sum[i], i < 4 ? 3 : 0);
    EXPECT_EQ(combined(kit, std::vector<float>(length, 0.5F), false),
              std::vector<float>(length, 0.5F));
  });
}

TEST(Adasum, OfZerosIsWhatTheOthersHave) {
  on_threads({.ranks = 4}, [&](Kit& kit) {
    EXPECT_EQ(combined(kit, std::vector<float>(length, 0), true), std::vector<float>(length, 0));
    const float own = kit.communicator.rank() == 2 ? 0.25F : 0;
    EXPECT_EQ(combined(kit, std::vector<float>(length, own), true),
              std::vector<float>(length, 0.25F));
  });
}

}  // namespace
}  // namespace sagips::comm::testing

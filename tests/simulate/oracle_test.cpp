// The check of a mean that an exchange has promised must see what can be wrong with it.
#include "sagips/simulate/oracle.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace sagips::simulate {
namespace {

constexpr std::size_t floats = 1000;
constexpr int many = 4000;

// left_out: of so many ranks at the end; divisor: what the sum is divided by
std::vector<float> mean_of_ranks(int ranks, const std::vector<std::int64_t>& epochs, int left_out,
                                 double divisor) {
  std::vector<float> sum(floats, 0), one(floats);
  for (const std::int64_t epoch : epochs)
    for (int rank = 0; rank < ranks - left_out; ++rank) {
      fill_gradients(one, rank, epoch);
      for (std::size_t i = 0; i < floats; ++i) sum[i] += one[i];
    }
  for (float& value : sum) value *= static_cast<float>(1 / divisor);
  return sum;
}

MeanCheck check_of(const std::vector<float>& result, const std::vector<std::int64_t>& epochs) {
  MeanCheck check;
  check.compare_with_mean(result, many, epochs);
  check.compare_with_first(result);
  return check;
}

TEST(MeanCheck, TakesAMeanInAnyOrderAndScaledByAReciprocal) {
  EXPECT_TRUE(check_of(mean_of_ranks(many, {7}, 0, many), {7}).passed());
  EXPECT_TRUE(check_of(mean_of_ranks(many, {7, 8}, 0, 2 * many), {7, 8}).passed());
}

TEST(MeanCheck, SeesOneRankOfThousandsThatIsMissingOrCountedTwice) {
  EXPECT_FALSE(check_of(mean_of_ranks(many, {7}, 1, many), {7}).passed());
  EXPECT_FALSE(check_of(mean_of_ranks(many, {7}, 0, many - 1), {7}).passed());
  EXPECT_FALSE(check_of(mean_of_ranks(many + 1, {7}, 0, many), {7}).passed());
}

TEST(MeanCheck, SeesTheGradientsOfAnotherEpoch) {
  EXPECT_FALSE(check_of(mean_of_ranks(many, {6}, 0, many), {7}).passed());
}

TEST(MeanCheck, SeesANumberThatIsNone) {
  std::vector<float> result = mean_of_ranks(many, {7}, 0, many);
  result[3] = std::numeric_limits<float>::quiet_NaN();
  const MeanCheck check = check_of(result, {7});
  EXPECT_FALSE(check.passed());
  EXPECT_TRUE(std::isinf(check.largest_error()));
}

TEST(MeanCheck, SeesOneBitThatDiffersBetweenRanks) {
  const std::vector<float> result = mean_of_ranks(many, {7}, 0, many);
  MeanCheck check = check_of(result, {7});
  std::vector<float> other = result;
  other.back() = std::nextafter(other.back(), 1.0F);
  check.compare_with_first(other);
  EXPECT_FALSE(check.passed());
}

TEST(MeanCheck, HasNotPassedBeforeItLooked) { EXPECT_FALSE(MeanCheck().passed()); }

}  // namespace
}  // namespace sagips::simulate

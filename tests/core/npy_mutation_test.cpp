#include <gtest/gtest.h>

#include "sagips/core/error.hpp"
#include "sagips/core/npy.hpp"
#include "tests/core/mutator.hpp"
#include "tests/core/npy_bytes.hpp"

namespace sagips::core {
namespace {

using sagips::testing::Mutator;
using sagips::testing::npy_bytes;
using sagips::testing::npy_dictionary;
using sagips::testing::raw;

std::size_t product(const std::vector<std::size_t>& shape) {
  std::size_t count = 1;
  for (const std::size_t size : shape) count *= size;
  return count;
}

TEST(NpyMutations, GiveAnArrayOrADataErrorAndNothingElse) {
  const std::string originals[] = {
      npy_bytes(npy_dictionary("<f4", "(2, 3)"), raw<float>({1, 2, 3, 4, 5, 6})),
      npy_bytes(npy_dictionary(">i2", "(2, 1, 2)", "True"), "12345678"),
      npy_bytes(npy_dictionary("|b1", "()"), "\x01", 2),
      npy_bytes(npy_dictionary("<f8", "(1,)"), raw<double>({1}), 3)};
  Mutator mutate(1, "(){}[],:'\"<>=|0123456789LfiubcOSUVTrueFalse \n\x93");
  std::size_t arrays = 0, refusals = 0;
  for (int i = 0; i < 40'000; ++i) {
    // A heap copy of exactly these bytes, so that the address sanitizer sees each byte too far.
    const std::string mutated = mutate(originals[i % 4]);
    const std::vector<char> bytes(mutated.begin(), mutated.end());
    try {
      const NpyArray array = parse_npy({bytes.data(), bytes.size()}, "a.npy");
      ASSERT_EQ(array.values.size(), product(array.shape));
      ++arrays;
    } catch (const DataError& failure) {
      ASSERT_EQ(std::string(failure.what()).find('\n'), std::string::npos);
      ++refusals;
    }
  }
  // Both outcomes must have been met, or the mutations would prove nothing.
  EXPECT_GT(arrays, 100u);
  EXPECT_GT(refusals, 1000u);
}

}  // namespace
}  // namespace sagips::core

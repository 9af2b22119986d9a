#include "sagips/core/random.hpp"

#include <Random123/philox.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "sagips/core/error.hpp"

namespace sagips::core {
namespace {

std::vector<float> floats(const RandomStream& stream, std::size_t count, std::uint32_t sample = 0,
                          std::uint32_t dimension = 0, std::uint32_t first = 0) {
  std::vector<float> events(count);
  stream.uniform(sample, dimension, std::span<float>(events), first);
  return events;
}

std::vector<double> doubles(const RandomStream& stream, std::size_t count, std::uint32_t sample = 0,
                            std::uint32_t dimension = 0, std::uint32_t first = 0) {
  std::vector<double> events(count);
  stream.uniform(sample, dimension, std::span<double>(events), first);
  return events;
}

template <class Number>
double correlation(const std::vector<Number>& left, const std::vector<Number>& right) {
  double sum = 0.0;
  for (std::size_t i = 0; i < left.size(); ++i)
    sum += (static_cast<double>(left[i]) - 0.5) * (static_cast<double>(right[i]) - 0.5);
  return 12.0 * sum / static_cast<double>(left.size());  // variance of a uniform number: 1/12
}

template <class Number>
double largest_distance_from_uniform(std::vector<Number> numbers) {
  std::sort(numbers.begin(), numbers.end());
  const auto count = static_cast<double>(numbers.size());
  double largest = 0.0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto value = static_cast<double>(numbers[i]);
    const auto below = static_cast<double>(i);
    largest = std::max({largest, value - below / count, (below + 1.0) / count - value});
  }
  return largest;
}

double chi_square(const std::vector<std::size_t>& counts, double expected) {
  double sum = 0.0;
  for (const std::size_t count : counts) {
    const double difference = static_cast<double>(count) - expected;
    sum += difference * difference / expected;
  }
  return sum;
}

// source: Random123's kat_vectors, philox4x32 with 10 rounds: counter, key, answer
TEST(Philox, GivesThePublishedAnswers) {
  struct Known {
    std::array<std::uint32_t, 4> counter;
    std::array<std::uint32_t, 2> key;
    std::array<std::uint32_t, 4> answer;
  };
  constexpr std::uint32_t ones = 0xffffffff;
  const Known vectors[] = {
      {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {{ones, ones, ones, ones}, {ones, ones}, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
      {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
       {0xa4093822, 0x299f31d0},
       {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}};
  for (const Known& known : vectors) {
    philox4x32_ctr_t counter{};
    philox4x32_key_t key{};
    std::copy(known.counter.begin(), known.counter.end(), counter.v);
    std::copy(known.key.begin(), known.key.end(), key.v);
    const philox4x32_ctr_t block = philox4x32_R(10, counter, key);
    EXPECT_TRUE(std::equal(known.answer.begin(), known.answer.end(), block.v));
  }
}

// The definition written out again: key from FNV-1a and SplitMix64, counter (event / 4, dimension,
// sample, step), 23 leading bits and a half.
TEST(RandomStream, IsPhiloxOfTheDocumentedKeyAndCounter) {
  const auto split_mix = [](std::uint64_t x) {
    x += 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
  };
  EXPECT_EQ(split_mix(0), 0xe220a8397b1dcdafULL);  // first output of SplitMix64 seeded with 0
  std::uint64_t purpose = 0xcbf29ce484222325ULL;
  for (const char letter : std::string("noise"))
    purpose = (purpose ^ static_cast<unsigned char>(letter)) * 0x100000001b3ULL;
  const std::uint64_t hash = split_mix(split_mix(42) ^ purpose);
  const philox4x32_key_t key{
      {static_cast<std::uint32_t>(hash), static_cast<std::uint32_t>(hash >> 32)}};
  const std::vector<float> events = floats(RandomStream(42, "noise", 7), 10, 5, 3);
  for (std::uint32_t event = 0; event < events.size(); ++event) {
    const philox4x32_ctr_t block = philox4x32_R(10, {{event / 4, 3, 5, 7}}, key);
    const double expected = (std::floor(block.v[event % 4] / 512.0) + 0.5) / 8388608.0;
    EXPECT_EQ(static_cast<double>(events[event]), expected) << event;
  }
}

// Every stored result depends on these; they may change only together with the golden files.
TEST(RandomStream, KeepsItsNumbersForEver) {
  std::vector<std::int64_t> rows(3);
  const RandomStream stream(1, "data");
  stream.integers(0, 0, 1'000'000, rows);
  EXPECT_EQ(floats(stream, 2), (std::vector<float>{0.619590223F, 0.760457814F}));
  EXPECT_EQ(doubles(stream, 2), (std::vector<double>{0.39070794615960514, 0.69069826673569923}));
  EXPECT_EQ(rows, (std::vector<std::int64_t>{106772, 414822, 985852}));
}

TEST(RandomStream, DoesNotDependOnHowEventsAreCut) {
  const RandomStream stream(3, "noise", 9);
  constexpr std::uint32_t count = 67;
  const std::vector<float> whole = floats(stream, count, 2, 1);
  const std::vector<double> whole_twice = doubles(stream, count, 2, 1);
  for (std::uint32_t cut = 0; cut <= count; ++cut) {
    std::vector<float> parts = floats(stream, cut, 2, 1);
    const std::vector<float> rest = floats(stream, count - cut, 2, 1, cut);
    parts.insert(parts.end(), rest.begin(), rest.end());
    EXPECT_EQ(parts, whole) << cut;
    std::vector<double> twice = doubles(stream, cut, 2, 1);
    const std::vector<double> twice_rest = doubles(stream, count - cut, 2, 1, cut);
    twice.insert(twice.end(), twice_rest.begin(), twice_rest.end());
    EXPECT_EQ(twice, whole_twice) << cut;
  }
}

// Blocks are computed several at once; first and last ones in part.
TEST(RandomStream, GivesSpansOfAnyLengthAndBeginningAsItGivesNumbersOneByOne) {
  const RandomStream stream(3, "noise", 9);
  constexpr std::uint64_t bound = 1'000'003;
  std::vector<float> single;
  std::vector<double> twice;
  std::vector<std::int64_t> whole;
  for (std::uint32_t event = 0; event < 320; ++event) {
    single.push_back(floats(stream, 1, 2, 1, event)[0]);
    twice.push_back(doubles(stream, 1, 2, 1, event)[0]);
    std::int64_t row = 0;
    stream.integers(2, 1, bound, std::span<std::int64_t>(&row, 1), event);
    whole.push_back(row);
  }
  std::vector<std::size_t> lengths{127, 128, 129, 255, 256, 257, 310};  // around a chunk of blocks
  for (std::size_t length = 0; length <= 70; ++length) lengths.push_back(length);
  for (const std::size_t length : lengths)
    for (std::uint32_t first = 0; first < 10; ++first) {
      SCOPED_TRACE(std::to_string(length) + " from " + std::to_string(first));
      const auto part = [&](const auto& all) {
        return std::decay_t<decltype(all)>(
            all.begin() + first, all.begin() + first + static_cast<std::ptrdiff_t>(length));
      };
      std::vector<std::int64_t> rows(length);
      stream.integers(2, 1, bound, rows, first);
      ASSERT_EQ(floats(stream, length, 2, 1, first), part(single));
      ASSERT_EQ(doubles(stream, length, 2, 1, first), part(twice));
      ASSERT_EQ(rows, part(whole));
    }
}

TEST(RandomStream, StaysInsideTheOpenIntervalOnItsGrid) {
  const RandomStream stream(11, "noise");
  for (const float value : floats(stream, 1 << 20)) {
    ASSERT_GT(value, 0.0F);
    ASSERT_LT(value, 1.0F);
    const float steps = value * 0x1p24F;
    ASSERT_EQ(steps, std::floor(steps));
  }
  for (const double value : doubles(stream, 1 << 18)) {
    ASSERT_GT(value, 0.0);
    ASSERT_LT(value, 1.0);
  }
}

// False alarm 1e-6 each: Kolmogorov-Smirnov distance above sqrt(ln(2e6) / 2 / n) = 2.694 / sqrt(n).
TEST(RandomStream, IsUniformByKolmogorovSmirnov) {
  constexpr std::size_t count = 1 << 20;
  const double critical = 2.694 / std::sqrt(static_cast<double>(count));
  EXPECT_LT(largest_distance_from_uniform(floats(RandomStream(5, "noise"), count)), critical);
  EXPECT_LT(largest_distance_from_uniform(doubles(RandomStream(5, "noise"), count)), critical);
}

// False alarm 1e-6: chi-square with 255 degrees of freedom above 377.3 (Wilson-Hilferty).
TEST(RandomStream, FillsBinsEvenly) {
  constexpr std::size_t count = 1 << 20, bins = 256;
  std::vector<std::size_t> counts(bins);
  for (const float value : floats(RandomStream(6, "noise"), count))
    ++counts[static_cast<std::size_t>(value * bins)];
  EXPECT_LT(chi_square(counts, static_cast<double>(count) / bins), 377.3);
}

// False alarm 1e-6 each: a correlation of n independent pairs beyond 4.9 / sqrt(n).
TEST(RandomStream, GivesUnrelatedNumbersForEveryPartOfTheName) {
  constexpr std::size_t count = 1 << 18;
  const double critical = 4.9 / std::sqrt(static_cast<double>(count));
  const RandomStream stream(7, "noise", 1);
  const std::vector<float> base = floats(stream, count);
  const std::vector<std::vector<float>> others = {floats(RandomStream(8, "noise", 1), count),
                                                  floats(RandomStream(7, "noisf", 1), count),
                                                  floats(stream.at_step(2), count),
                                                  floats(stream, count, 1, 0),
                                                  floats(stream, count, 0, 1),
                                                  floats(stream, count, 0, 0, 1),
                                                  floats(stream, count, 0, 0, 4)};
  for (std::size_t i = 0; i < others.size(); ++i)
    EXPECT_LT(std::abs(correlation(base, others[i])), critical) << "part " << i;
}

TEST(RandomStream, GivesUnrelatedNumbersForFloatsAndDoubles) {
  constexpr std::size_t count = 1 << 18;
  const RandomStream stream(7, "noise", 1);
  const std::vector<float> single = floats(stream, count);
  const std::vector<double> twice = doubles(stream, count);
  const std::vector<double> widened(single.begin(), single.end());
  // False alarm 1e-6, as above.
  EXPECT_LT(std::abs(correlation(widened, twice)), 4.9 / std::sqrt(static_cast<double>(count)));
}

TEST(RandomStream, MovesToAStepAsIfBuiltThere) {
  EXPECT_EQ(floats(RandomStream(7, "noise", 1).at_step(5), 9),
            floats(RandomStream(7, "noise", 5), 9));
}

// False alarm 1e-6: chi-square with 9 degrees of freedom above 44.8.
TEST(RandomStream, DrawsWholeNumbersEvenly) {
  std::vector<std::int64_t> rows(100'000);
  RandomStream(9, "rows").integers(0, 0, 10, rows);
  std::vector<std::size_t> counts(10);
  for (const std::int64_t row : rows) {
    ASSERT_GE(row, 0);
    ASSERT_LT(row, 10);
    ++counts[static_cast<std::size_t>(row)];
  }
  EXPECT_LT(chi_square(counts, 10'000.0), 44.8);
}

TEST(RandomStream, ReachesBothHalvesOfTheLargestBound) {
  std::vector<std::int64_t> rows(1000);
  constexpr std::int64_t bound = 0xffffffff;
  RandomStream(9, "rows").integers(0, 0, bound, rows);
  // False alarm: 1000 numbers on one side of the middle, 2^-999.
  EXPECT_LT(*std::min_element(rows.begin(), rows.end()), bound / 2);
  EXPECT_GT(*std::max_element(rows.begin(), rows.end()), bound / 2);
  EXPECT_LT(*std::max_element(rows.begin(), rows.end()), bound);
  std::vector<std::int64_t> ones(10, -1);
  RandomStream(9, "rows").integers(0, 0, 1, ones);
  EXPECT_EQ(ones, std::vector<std::int64_t>(10, 0));
}

TEST(RandomStream, RefusesWhatItsCounterCannotHold) {
  std::vector<std::int64_t> rows(1);
  EXPECT_THROW(RandomStream(9, "rows").integers(0, 0, 0, rows), Error);
  EXPECT_THROW(RandomStream(9, "rows").integers(0, 0, std::uint64_t{1} << 32, rows), Error);
  std::vector<float> events(2);
  const RandomStream stream(9, "noise");
  EXPECT_NO_THROW(stream.uniform(0, 0, std::span<float>(events), 0xfffffffe));
  EXPECT_THROW(stream.uniform(0, 0, std::span<float>(events), 0xffffffff), Error);
}

}  // namespace
}  // namespace sagips::core

#include "tests/cuda/shim.hpp"

#include "sagips/cuda/philox.cu"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <random>
#include <span>
#include <vector>

#include "sagips/core/hash.hpp"
#include "sagips/core/random.hpp"

namespace {

using sagips::core::RandomStream;

constexpr std::uint64_t seed = 20261127;

/// The key as core::RandomStream documents it.
sagips_cuda_stream_name named(const char* purpose, const std::uint32_t* step,
                              std::uint32_t step_offset) {
  const auto split_mix = [](std::uint64_t state) {
    state += 0x9e3779b97f4a7c15;
    state = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9;
    state = (state ^ (state >> 27)) * 0x94d049bb133111eb;
    return state ^ (state >> 31);
  };
  const std::uint64_t key = split_mix(split_mix(seed) ^ sagips::core::fnv1a(purpose));
  return {
      {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32)}, step, step_offset};
}

constexpr std::uint32_t step = 7;
constexpr float untouched = -100;

struct Size {
  std::uint32_t first_sample, first_dimension;
  std::int64_t samples, dimensions, events;

  std::size_t count() const { return static_cast<std::size_t>(samples * dimensions * events); }
};

// Rows of whole and of broken blocks, and more numbers than one block of threads makes.
constexpr Size sizes[] = {{0, 0, 1, 1, 1},  {5, 3, 3, 2, 6},     {0, 1, 2, 3, 100},
                          {9, 0, 40, 2, 8}, {1, 0, 1, 1, 50001}, {0, 0, 1, 1, 0}};

/// The CPU's numbers. shape: [samples, dimensions, events]
std::vector<float> reference(const Size& size) {
  const RandomStream stream(seed, "events", step + 2);
  std::vector<float> numbers(size.count());
  std::span<float> rest(numbers);
  for (std::uint32_t s = 0; s < size.samples; ++s)
    for (std::uint32_t d = 0; d < size.dimensions; ++d) {
      const auto row = static_cast<std::size_t>(size.events);
      stream.uniform(size.first_sample + s, size.first_dimension + d, rest.first(row));
      rest = rest.subspan(row);
    }
  return numbers;
}

TEST(CudaPhilox, HasTheUniformNumbersOfTheCpu) {
  for (const Size& size : sizes) {
    for (const bool is_aligned : {true, false}) {
      alignas(16) static float memory[60000];
      float* const out = memory + (is_aligned ? 0 : 1);
      std::fill(std::begin(memory), std::end(memory), untouched);
      ASSERT_EQ(sagips_cuda_uniform(named("events", &step, 2), size.first_sample, size.samples,
                                    size.first_dimension, size.dimensions, size.events, 0.9999F,
                                    out, nullptr),
                0);
      const std::vector<float> expected = reference(size);
      for (std::size_t i = 0; i < expected.size(); ++i)
        ASSERT_EQ(out[i], expected[i] * 0.9999F) << i;
      EXPECT_EQ(out[expected.size()], untouched);
    }
  }
}

TEST(CudaPhilox, TakesTheOffsetAsTheStepWhereThereIsNoCounter) {
  std::vector<float> out(12), expected(12);
  sagips_cuda_uniform(named("events", nullptr, 3), 0, 1, 0, 1, 12, 1, out.data(), nullptr);
  RandomStream(seed, "events", 3).uniform(0, 0, std::span(expected));
  EXPECT_EQ(out, expected);
}

TEST(CudaPhilox, DrawsTheRowsOfTheCpu) {
  const RandomStream stream(seed, "rows", step);
  for (const std::int64_t rows : {1, 2, 3, 1000, 65537}) {
    for (const std::int64_t columns : {1, 2, 3}) {
      std::vector<float> table(static_cast<std::size_t>(rows * columns));
      for (std::size_t i = 0; i < table.size(); ++i) table[i] = static_cast<float>(i);
      for (const std::uint32_t first : {0U, 1U, 100U}) {
        constexpr std::int64_t samples = 3, events = 301;
        std::vector<float> out(static_cast<std::size_t>(samples * events * columns), untouched);
        ASSERT_EQ(sagips_cuda_draw_rows(named("rows", &step, 0), 8, samples, 1, first, events,
                                        table.data(), rows, columns, out.data(), nullptr),
                  0);
        std::size_t at = 0;
        for (std::uint32_t s = 0; s < samples; ++s) {
          std::vector<std::int64_t> chosen(events);
          stream.integers(8 + s, 1, static_cast<std::uint64_t>(rows), chosen, first);
          for (const std::int64_t row : chosen)
            for (std::int64_t c = 0; c < columns; ++c)
              ASSERT_EQ(out[at++], static_cast<float>(row * columns + c));
        }
      }
    }
  }
}

// In draws the carry from the lower word is seen once in 2^32 / bound.
TEST(CudaPhilox, CarriesFromTheLowerWordOfAProduct) {
  __extension__ using Wide = unsigned __int128;
  std::mt19937_64 engine(1);
  for (const std::uint32_t bound : {1U, 3U, 0x80000001U, 0xffffffffU})
    for (int i = 0; i < 1000; ++i) {
      const std::uint64_t bits = i == 0 ? ~std::uint64_t{0} : engine();
      ASSERT_EQ(sagips::cuda::philox::scaled(bits >> 32, bits & 0xffffffff, bound),
                static_cast<std::uint64_t>(static_cast<Wide>(bits) * bound >> 64));
    }
}

TEST(CudaPhilox, RefusesWhatAStreamCannotName) {
  float number = 0;
  const sagips_cuda_stream_name name = named("events", nullptr, 0);
  EXPECT_NE(sagips_cuda_uniform(name, 0, -1, 0, 1, 1, 1, &number, nullptr), 0);
  EXPECT_NE(sagips_cuda_uniform(name, 0, 1 << 20, 0, 1 << 20, 4, 1, &number, nullptr), 0);
  EXPECT_NE(sagips_cuda_draw_rows(name, 0, 1, 0, 0, 1, &number, 0, 1, &number, nullptr), 0);
  EXPECT_NE(sagips_cuda_draw_rows(name, 0, 1, 0, 5, std::int64_t{1} << 32, &number, 1, 1, &number,
                                  nullptr),
            0);
}

}  // namespace

// Tiles of images against plain loops in double, for every set of instructions.
#include "sagips/kernels/image_tiles.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sagips/core/error.hpp"
#include "sagips/kernels/convolution.hpp"
#include "tests/core/message_of.hpp"
#include "tests/kernels/numbers.hpp"

namespace sagips::kernels {
namespace {

using testing::numbers;

const ImageConvolutionShape padded{18, 21, 9, 6, 3, 1, 2, 0, 1},
    wide{16, 16, 10, 13, 5, 4, 0, 2, 3}, small{17, 16, 4, 4, 2, 0, 0, 0, 0};

class Tiles : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Of, Tiles, ::testing::ValuesIn(convolution_instructions()),
                         [](const auto& one) { return one.param; });

/// The products of one image's tiles with a kernel's numbers, at each point.
std::vector<float> products_of(const ImageTiles& tiles, const ImageConvolutionShape& shape,
                               const std::vector<float>& spread,
                               const std::vector<float>& weights) {
  const auto ins = shape.in_channels, outs = shape.out_channels, taps = shape.kernel * shape.kernel;
  const std::vector<float> at_points = tiles.taps_at_points();
  std::vector<float> sums(static_cast<std::size_t>(tiles.points() * tiles.tiles() * outs));
  for (std::int64_t p = 0; p < tiles.points(); ++p)
    for (std::int64_t o = 0; o < outs; ++o)
      for (std::int64_t i = 0; i < ins; ++i) {
        double weight = 0;
        for (std::int64_t tap = 0; tap < taps; ++tap)
          weight += static_cast<double>(at_points[static_cast<std::size_t>(p * taps + tap)]) *
                    weights[static_cast<std::size_t>((o * ins + i) * taps + tap)];
        for (std::int64_t t = 0; t < tiles.tiles(); ++t)
          sums[static_cast<std::size_t>((p * tiles.tiles() + t) * outs + o)] += static_cast<float>(
              weight * spread[static_cast<std::size_t>((p * tiles.tiles() + t) * ins + i)]);
      }
  return sums;
}

TEST_P(Tiles, GiveWhatSumsOfProductsGive) {
  for (const ImageConvolutionShape& shape : {padded, wide, small}) {
    SCOPED_TRACE(shape.kernel);
    const auto image = numbers(shape.input_numbers(), 1),
               weights =
                   numbers(shape.out_channels * shape.in_channels * shape.kernel * shape.kernel, 2),
               bias = numbers(shape.out_channels, 3);
    const ImageTiles tiles(shape, GetParam());
    const std::int64_t far = tiles.tiles() * shape.in_channels;
    std::vector<float> spread(static_cast<std::size_t>(tiles.points() * far)),
        found(static_cast<std::size_t>(shape.output_numbers()));
    tiles.spread_input(image.data(), {spread.data(), far});
    const auto sums = products_of(tiles, shape, spread, weights);
    tiles.finish(sums.data(), tiles.tiles() * shape.out_channels, bias.data(), 0.2F, found.data());
    double difference = 0, norm = 0;
    std::size_t out = 0;
    for (std::int64_t y = 0; y < shape.output_rows(); ++y)
      for (std::int64_t x = 0; x < shape.output_columns(); ++x)
        for (std::int64_t o = 0; o < shape.out_channels; ++o, ++out) {
          double sum = bias[static_cast<std::size_t>(o)];
          for (std::int64_t a = 0; a < shape.kernel; ++a)
            for (std::int64_t b = 0; b < shape.kernel; ++b) {
              const std::int64_t v = y + a - shape.above, w = x + b - shape.left;
              if (v < 0 || w < 0 || v >= shape.rows || w >= shape.columns) continue;
              for (std::int64_t i = 0; i < shape.in_channels; ++i)
                sum += static_cast<double>(image[static_cast<std::size_t>(
                           (v * shape.columns + w) * shape.in_channels + i)]) *
                       weights[static_cast<std::size_t>(
                           ((o * shape.in_channels + i) * shape.kernel + a) * shape.kernel + b)];
            }
          if (sum < 0) sum *= 0.2F;
          difference += std::pow(found[out] - sum, 2);
          norm += sum * sum;
        }
    EXPECT_LT(std::sqrt(difference / norm), 4e-6);
  }
}

// The products of tiles are bilinear: <gradient, output> is the same sum in numbers and at points.
TEST_P(Tiles, SpreadGradientsSoThatProductsAreKept) {
  for (ImageConvolutionShape shape : {padded, wide, small}) {
    SCOPED_TRACE(shape.kernel);
    const ImageTiles tiles(shape, GetParam());
    const std::int64_t far = tiles.tiles() * shape.out_channels;
    const auto gradient = numbers(shape.output_numbers(), 4),
               sums = numbers(tiles.points() * far, 5);
    std::vector<float> spread(static_cast<std::size_t>(tiles.points() * far)),
        output(static_cast<std::size_t>(shape.output_numbers()));
    tiles.spread_gradient(gradient.data(), {spread.data(), far});
    tiles.finish(sums.data(), far, nullptr, 1, output.data());
    double in_numbers = 0, at_points = 0, norm = 0;
    for (std::size_t i = 0; i < output.size(); ++i)
      in_numbers += static_cast<double>(output[i]) * gradient[i];
    for (std::size_t i = 0; i < spread.size(); ++i) {
      at_points += static_cast<double>(spread[i]) * sums[i];
      norm += std::pow(static_cast<double>(spread[i]) * sums[i], 2);
    }
    EXPECT_LT(std::abs(in_numbers - at_points), 1e-5 * std::sqrt(norm));
  }
}

TEST(ImageTiles, PayWhereTheySaveAndLanesAreFull) {
  EXPECT_TRUE(ImageTiles::pay({32, 64, 24, 24, 3, 1, 1, 1, 1}));
  EXPECT_FALSE(ImageTiles::pay({3, 64, 24, 24, 3, 1, 1, 1, 1}));
  EXPECT_FALSE(ImageTiles::pay({32, 64, 24, 24, 1, 0, 0, 0, 0}));
  EXPECT_FALSE(ImageTiles::pay({32, 64, 24, 24, 7, 3, 3, 3, 3}));
  EXPECT_FALSE(ImageTiles::pay({32, 64, 3, 3, 3, 0, 0, 0, 0}));  // of a tile one number is of use
  EXPECT_EQ(testing::message_of<core::Error>([] { ImageTiles(padded, "abacus"); }),
            "this processor has no 'abacus' for convolutions.");
}

}  // namespace
}  // namespace sagips::kernels

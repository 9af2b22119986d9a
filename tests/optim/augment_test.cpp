#include "sagips/optim/learn/augment.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

#include "sagips/core/error.hpp"

namespace sagips::optim {
namespace {

const core::RandomStream of_epoch(1, "augmentation", 3);

torch::Tensor drawn(const std::vector<std::int64_t>& shape) {
  torch::manual_seed(4);
  return torch::rand(shape);
}

bool is_close(const torch::Tensor& one, const torch::Tensor& other) {
  return (one - other).abs().max().item<double>() < 1e-4;
}

// One image moved by so many pixels down and to the right, zeros behind it.
torch::Tensor moved_by(const torch::Tensor& image, std::int64_t down, std::int64_t right) {
  return torch::constant_pad_nd(image, {right, -right, down, -down});
}

TEST(Augment, ShiftsByWholePixelsEquallyOften) {
  const torch::Tensor images = drawn({2000, 2, 5, 7});
  const torch::Tensor found = augmented(images, {.shift = 1}, of_epoch, 0);
  std::vector<int> counts(9, 0);
  for (std::int64_t i = 0; i < images.size(0); ++i)
    for (std::int64_t down = -1; down <= 1; ++down)
      for (std::int64_t right = -1; right <= 1; ++right)
        if (is_close(found[i], moved_by(images[i], down, right)))
          ++counts[static_cast<std::size_t>(3 * (down + 1) + right + 1)];
  int sum = 0;
  double chi_square = 0;  // of 8 degrees of freedom; above 32 in one of 10,000
  for (const int count : counts) {
    sum += count;
    chi_square += std::pow(count - 2000.0 / 9, 2) / (2000.0 / 9);
  }
  EXPECT_EQ(sum, 2000);
  EXPECT_LT(chi_square, 32);
}

TEST(Augment, MirrorsHalfOfThem) {
  for (const auto& [shape, direction, dimension] :
       {std::tuple(std::vector<std::int64_t>{400, 1, 6}, "horizontal", 2),
        std::tuple(std::vector<std::int64_t>{400, 1, 4, 6}, "vertical", 2),
        std::tuple(std::vector<std::int64_t>{400, 1, 4, 6}, "horizontal", 3),
        std::tuple(std::vector<std::int64_t>{400, 2, 3, 4, 5}, "depth", 2)}) {
    const torch::Tensor images = drawn(shape), mirrored = images.flip(dimension);
    const torch::Tensor found = augmented(images, {.flip = {direction}}, of_epoch, 0);
    int mirrors = 0;
    for (std::int64_t i = 0; i < images.size(0); ++i) {
      const bool is_mirrored = is_close(found[i], mirrored[i]);
      EXPECT_TRUE(is_mirrored || is_close(found[i], images[i])) << direction;
      mirrors += is_mirrored ? 1 : 0;
    }
    EXPECT_NEAR(mirrors, 200, 40) << "4 deviations: one of 16,000";
  }
}

// A slope stays one: what is cut out runs over the same numbers, at a scale from the crop to 1.
TEST(Augment, EnlargesWhatIsCutOut) {
  const torch::Tensor slope = torch::arange(40, torch::kFloat32).expand({300, 1, 40, 40});
  const torch::Tensor found = augmented(slope, {.crop = 0.5}, of_epoch, 0);
  const torch::Tensor steps = (found.select(3, 21) - found.select(3, 20)).select(2, 20).flatten();
  EXPECT_GT(steps.min().item<double>(), 0.5 - 1e-3);
  EXPECT_LT(steps.max().item<double>(), 1 + 1e-3);
  EXPECT_LT(steps.min().item<double>(), 0.53) << "300 scales";
  EXPECT_GT(steps.max().item<double>(), 0.97);
  const torch::Tensor middle = found.select(3, 20).select(2, 20).flatten();
  EXPECT_LT(middle.min().item<double>(), 14) << "cut out on either side";
  EXPECT_GT(middle.max().item<double>(), 26);
}

TEST(Augment, AddsNoiseOfThatDeviation) {
  const torch::Tensor found = augmented(torch::zeros({1000, 30}), {.noise = 0.2}, of_epoch, 0);
  EXPECT_NEAR(found.std().item<double>(), 0.2, 0.2 * 4 / std::sqrt(2 * 30000.0));
  EXPECT_NEAR(found.mean().item<double>(), 0, 0.2 * 4 / std::sqrt(30000.0));
}

TEST(Augment, DependsOnTheRowsPlaceAlone) {
  const AugmentConfig all{
      .flip = {"horizontal", "vertical"}, .shift = 2, .crop = 0.7, .noise = 0.1};
  const torch::Tensor images = drawn({20, 1, 8, 8});
  const torch::Tensor whole = augmented(images, all, of_epoch, 0);
  EXPECT_TRUE(is_close(augmented(images.slice(0, 5, 12), all, of_epoch, 5), whole.slice(0, 5, 12)));
  EXPECT_FALSE(is_close(augmented(images, all, of_epoch.at_step(4), 0), whole));
  EXPECT_TRUE(torch::equal(augmented(images, {}, of_epoch, 0), images));
}

}  // namespace
}  // namespace sagips::optim

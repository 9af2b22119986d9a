#include <gtest/gtest.h>

#include "tests/train/small_learner.hpp"

namespace sagips::train {
namespace {

using namespace sagips::testing;
using data::Examples;

// Two ranks of half the rows each; what float16 and error feedback leave is small beside a training's steps.
TEST(Compressed, LearnsWhatExactMeansLearn) {
  const Examples examples = three_classes(60);
  const torch::Tensor exact =
      learned(2, plain_steps(15), dense_layers, examples, 10, "ring").weights;
  const torch::Tensor halves =
      learned(2, plain_steps(15), dense_layers, examples, 10, "compressed").weights;
  expect_alike(halves, exact, 1e-3, "weights");
  EXPECT_FALSE(torch::equal(halves, exact));
}

}  // namespace
}  // namespace sagips::train
